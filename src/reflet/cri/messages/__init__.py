"""Messages of CRI v1, by the names that its ``api.proto`` has for them.

- ``sandboxes``, ``containers``, ``images``: what they are made of, and what they are doing
- ``isolation``: namespaces, rights and limits of both
- ``service``: the runtime itself: version, health, events, figures, streams

Only what Reflet uses: windows, checkpoints and metrics are left out, and so are fields that are
deprecated.  ``tests/conformance/test_cri_messages.py`` compares numbers and types with the
original.
"""
