"""CustomResourceDefinitions, and objects of their kinds.

- ``definitions``, ``definition_rules``: what a definition is told
- ``custom_kinds``: what is asked of an object, and when
- ``custom_objects``, ``formats``, ``correlation``: the schema, and what an update leaves as it was
- ``compiled_rules``, ``field_paths``, ``object_rules``: ``x-kubernetes-validations``
- ``schema_types``, ``schema_values``: a schema and its values as expressions see them
"""
