"""What configuration means for people: pure analyses of pods and the objects they name.

- ``explain``: every variable and file of a pod, where it comes from, what a change needs
- ``why``: the reasons that keep a pod from starting, from ``pod_problems`` and ``pod_signals``
- ``used_by``: who uses an object, key by key
- ``lint``: mistakes in manifests, before they are applied
- ``rbac``: the smallest role that reads what a pod needs
- ``fixes`` and ``near_misses``: what to do about a problem, and what was probably meant

Everything here takes objects in hand and returns frozen results; nothing shows a Secret's value.
"""
