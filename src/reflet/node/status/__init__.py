"""What the API server is told about pods, and the events that say why.

- ``container_statuses``, ``pod_conditions``, ``pod_statuses``: what is told, in pure code
- ``status_manager``: how statuses get to the server
- ``event_correlation``: which events are the same again, and which are too many, in pure code
- ``events``: how events get to the server
"""
