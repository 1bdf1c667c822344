"""``reflet sidecar``: labelled ConfigMaps and Secrets as files, and a reload.

A drop-in for kiwigrid/k8s-sidecar that misses nothing.

What decides, pure:

- ``variables``, ``variable_readers``, ``sidecar_settings``: what a sidecar is asked for
- ``selection``: which objects it follows
"""
