"""What every long-running part of Reflet stands on: time, patience, ownership, measurement.

- ``clock``    what time it is and how to wait: the only door to time
- ``backoff``  how long to wait after a failure
- ``latch``    something that happens once and that many wait for
- ``threads``  work that blocks, beside the loop
- ``tasks``    who owns a task, and what becomes of it
- ``metrics``  what mechanisms report, and to whom

Owns no knowledge of Kubernetes: nothing here knows what is watched, retried or counted.
This page imports none of its parts, so that each costs only those who use it.
"""
