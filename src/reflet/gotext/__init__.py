"""Go's texts, which messages and files of the kubelet and the API server let show.

- ``quoting``: ``%q``, and the excerpts of our own messages
- ``printing``: ``%v``, ``%s``, ``%#v``, ``%T`` and JSON, for JSON values
- ``durations``: ``1m30s``, written and read; ages as ``kubectl get`` shows them
- ``times``: the two forms of times in objects, with Go's words for what is none
- ``paths``: as short as they can be
- ``urls``: the parts of a URL, with Go's words for what is none
- ``lazy_patterns``: regular expressions that are compiled when they are first used
"""
