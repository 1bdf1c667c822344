"""What the pods of a node are really doing, and who waits to know.

- ``runtime_status``: pods, containers and sandboxes as a runtime sees them, and what it answers
- ``relist``: GenericPLEG: look at the runtime again and again, and tell
- ``pod_events``: from two looks at a pod to what happened in between, as a table, and on its way
- ``status_cache``: PodCache: the latest status of every pod, and waiting for a newer one

Knows neither the API server nor what anybody does about a pod.
"""
