"""What the API server is told about pods, and the events that say why.

- ``container_statuses``, ``pod_conditions``, ``pod_statuses``: what is told, in pure code
- ``pod_reporter``: what a worker says of its pod, put together
- ``status_manager``: how statuses get to the server
- ``pod_events``, ``node_events``: events of a pod before its containers start, and how events refer
  to pods and the node
"""
