"""YAML as Kubernetes reads and writes it, with the line of every value.

- ``text``: manifests to objects, objects to YAML
- ``nodes``: documents to values; the one reader, with a dialect for each use
- ``scalars``: what a plain word means
"""
