"""The kinds that are served, what their objects look like, and decoding by that.

- ``served_kind``: one kind in one version, with its verbs and subresources
- ``kinds``: the register: built-in kinds, and those that a CustomResourceDefinition adds
- ``builtin_kinds``: the table of built-in kinds
- ``known_kinds``: what any other kind is: known, removed, misspelled, a tool's; by ``kind_tables``
- ``schemas``: fields, types, keys of lists; recorded in ``data/schemas.json``
- ``decoding``: a document into what Go's structs would hold, and back
- ``json_reading``, ``yaml_reading``, ``protobuf``: from bytes, with the real server's complaints
"""
