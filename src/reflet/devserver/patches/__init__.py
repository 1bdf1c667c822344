"""From a patch to the new object, and who owns which of its fields.

- ``patch_bodies``, ``patch_results``: what was sent as a patch, and what came of it
- ``json_patch``, ``merge_patch``, ``strategic_merge``, ``element_order``: three kinds of patch
- ``server_side_apply``, ``managed_fields``, ``field_sets``, ``reset_fields``: the fourth
- ``typed_values``, ``typed_changes``, ``typed_merge``: values along their structure
- ``json_values``, ``yaml_text``, ``go_text``: values and texts as Go has them
"""
