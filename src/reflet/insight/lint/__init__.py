"""What would fail at rollout, found in files before it.

- ``rules``: every rule with its id, severity and one line, and what is found
- ``subjects``: what is looked at
- ``pod_checks``: what the API server would refuse, and everything that resolution finds: missing
  and masked objects and keys
- ``shadowing_checks``: variables, files and mounts that hide others
- ``sidecar_checks``: what sidecars pick up by label, and what they nearly do
- ``selector_checks``: selectors and ports of Services and budgets, beside the pods
- ``existence_checks``: what a pod needs besides configuration: classes, claims, accounts
- ``object_register``: which objects there are: in files, in a cluster, made by others, or assumed
- ``objects_meant``: which of them a pod means by a name
- ``object_checks``: ConfigMaps and Secrets by themselves, and against those of a cluster
- ``linting``: all of them, on all objects
- ``assumptions``: what other systems create
- ``ignore_comments``, ``suppressions``: findings that somebody decided to live with
- ``fingerprints``, ``baselines``: findings that were there before

Pure: reading files and asking a cluster is for the caller.  No finding holds a Secret's value.
"""
