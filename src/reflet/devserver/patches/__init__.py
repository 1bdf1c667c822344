"""From a patch to the new object, and who manages which of its fields.

- ``patch_bodies``: what was sent as a patch, read and refused
- ``json_patch``: JSON patch and JSON merge patch
- ``strategic_merge``: strategic merge patch
- ``server_side_apply``: apply, and what other writes do to ``managedFields``
- ``managed_fields``, ``field_sets``: the entries of ``managedFields`` and their ``FieldsV1``
- ``typed_values``, ``typed_merge``: values along their schema: divided, compared, merged
- ``json_values``: equality and depth as JSON has them
"""
