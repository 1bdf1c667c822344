"""What programs that act on a cluster are made of: small parts that fit together.

No framework: each part can be used alone.

- ``work_queue``, ``rate_limiters``: keys that wait for work, and for how long
- ``triggers``: which keys a change concerns
- ``reconciler``: from changes to calls of a function, ``reconcile``
- ``leader_election``: one of several candidates leads, and knows when it no longer does
- ``event_recorder``, ``event_correlation``: what people are told about objects
"""
