"""What the pods of a node are really doing, and who waits to know.

- ``runtime_status``: pods, containers and sandboxes as a runtime sees them
- ``runtime_protocol``: what a runtime has to answer
- ``status_cache``: the latest status of every pod, and waiting for a newer one
- ``events``: from two looks at a pod to what happened in between, as a table
- ``event_channel``: events on their way to the one who acts on them
- ``relist``: look at the runtime again and again, and tell
- ``pleg_metrics``: the numbers that the relist loop reports
- ``durations``: times as Go writes them, for texts that people search for

Must not know the API server, nor what anybody does about a pod.
"""
