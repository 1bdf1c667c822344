"""What the API server is told about pods, and the events that say why.

- ``container_statuses``, ``pod_conditions``, ``pod_statuses``: what is told, in pure code
- ``status_manager``: how statuses get to the server
- ``node_events``: how events of pods and the node refer to them
"""
