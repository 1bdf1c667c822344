"""What configuration means for people: pure analyses of ``PodInputs``.

- ``explain``: every variable and file of a pod, where it comes from, what a change needs
- ``why``: why pods and workloads do not run, and which of the cluster's complaints that explains
- ``pod_problems``: everything that is wrong with a whole pod, for ``why`` and ``lint``
- ``fixes``: what to do about a problem, and what was probably meant
- ``used_by``: who uses an object, key by key, of ``possible_users``; ``pod_uses``: how pods do
- ``unused``: what nobody uses; ``owners``: what a pod or a ReplicaSet belongs to
- ``pod_diff``: what changes for the processes of a pod between two states
- ``sidecars``: containers that pick up objects by label, and which
- ``stale``: which running containers still hold an old value, key by key
- ``name_paths``: paths from objects to the names in them
- ``reference_table``: which objects name ConfigMaps and Secrets outside pods, and which make them
- ``custom_workloads``: custom resources that hold pod templates, as what makes pods
- ``custom_structs``, ``struct_source``: Python classes for the objects of a definition
- ``rbac``: the smallest role that reads what a pod needs
- ``page``: what the page of ``reflet ui`` shows
- ``lint``: mistakes in manifests, before they are applied

Everything here takes objects in hand and returns frozen results; nothing shows a Secret's value.
"""
