"""Which running containers still hold an old value.

- ``used_keys``: which keys the containers of a pod use, and as what they arrive
- ``object_history``: when a key was written, by managedFields and by a watch
- ``held_values``: whether a container holds the value of now, judged by those times
- ``staleness``: both together, for every key of a pod
- ``stale_workloads``: the pods of a workload as one
"""
