"""What users' tests and our own need to make time and the outside world obey.

- ``virtual_time``: an event loop on which hours pass in milliseconds, and its clock
- ``manual_clock``: a clock that a test turns by hand, without an event loop
- ``scripted_source``: lists and watches as a script says, for whatever mirrors
- ``pytest_plugin``: fixtures for any project's tests: a Kubernetes API that starts in a moment

Fakes that behave, not mocks that know somebody's internals.  Nothing in the programs imports this
package, and only ``pytest_plugin`` knows pytest.
"""
