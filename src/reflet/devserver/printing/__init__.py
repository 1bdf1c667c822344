"""The forms of answers: JSON, YAML, and the tables that ``kubectl get`` prints.

- ``answers``, ``representations``, ``yaml_output``: an answer, and the form that was asked for
- ``tables``, ``columns``: rows for any kind
- ``printers``, ``pod_printer``, ``further_printers``: what the rows of each kind say
- ``ages``, ``json_paths``: cells that need working out
"""
