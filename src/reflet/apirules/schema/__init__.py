"""What is served: the kinds, the structure of their objects, and how clients learn of both.

- ``kinds``, ``served_kind``, ``builtin_kinds``, ``custom_kinds``: which kinds there are
- ``schemas``, ``schema_protocol``, ``go_types``: the structure of their objects
- ``decoding``, ``protobuf``, ``go_times``: from what is sent to that structure
- ``discovery``, ``openapi``, ``openapi_schemas``: the documents by which clients find out
"""
