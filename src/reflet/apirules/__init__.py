"""From what a client sends to what is stored: defaults filled in, rules kept.

- ``bodies``: whether a body is an object of its kind at all
- ``admission``, ``kind_rules``, ``service_rules``, ``custom_objects``: what the server fills in,
  keeps and forbids to change
- ``defaults``, ``pod_defaults``, ``workload_defaults``: values for what was left out
- ``service_addresses``: which addresses are free
- ``validation`` and the modules whose names end in it: the rules of each kind
- ``field_errors``, ``names``: how a broken rule is told, and the rules of names
"""
