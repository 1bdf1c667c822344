"""Streams that keep objects fresh: one for each object, or one for a namespace.

- ``streams``: who keeps entries fresh, for the strategies ``watch`` and ``auto``
- ``object_watch``: the stream of one object
- ``namespace_streams``: the streams of one namespace, and moving between one for all and one each
- ``namespace_watch``: the stream of a whole namespace
- ``stream_plan``: which streams are right, and why (pure)
"""
