"""The forms of answers: JSON, YAML, and the tables that ``kubectl get`` prints.

- ``answers``: what a verb answers with, before its form is known
- ``representations``: which form is asked for, and the bytes of answers and events
- ``table_output``, ``columns``: the Table of any kind
- ``printers``, ``pod_printer``, ``further_printers``, ``cluster_printers``: what the rows of each
  kind say
- ``json_paths``: columns that a CustomResourceDefinition names
"""
