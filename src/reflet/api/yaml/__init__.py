"""YAML as Kubernetes reads and writes it, with the line of every value.

- ``text``: manifests to objects, objects to YAML
- ``documents``: documents to values; the one reader
- ``dialects``: what a reader allows, and its words
- ``quote_escapes``: what Kubernetes reads in double quotes and YAML does not
- ``json_text``: JSON to values
- ``scalars``: what a plain word means
"""
