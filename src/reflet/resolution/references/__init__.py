"""From a pod to the ConfigMaps and Secrets that it names.

- ``references``: which ones, where, and which keys; and whether the pod shows anything of its node
- ``wanted_objects``: one that is asked for, and what reading it can end in
- ``placed_objects``: which one is meant where several files have one of that name

Upstream: pkg/api/v1/pod/util.go
"""
