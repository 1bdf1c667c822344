"""What would fail at rollout, found in files before it.

- ``rules``: every rule with its id, severity and one line
- ``findings``: what is found, and where; ``subjects``: what is looked at
- ``refused``: what the API server would refuse
- ``references``: missing and masked objects and keys, and everything else resolution finds
- ``shadowing``: variables and files that hide others
- ``mounts``: mount paths and sub-paths
- ``objects``: ConfigMaps and Secrets by themselves, and against those of a cluster
- ``linting``: all of them, on all objects

Pure: reading files and asking a cluster is for the caller.  No finding holds a Secret's value.
"""
