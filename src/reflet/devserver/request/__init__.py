"""What a request asks for, taken apart and checked, before any verb acts.

- ``request_info``: the path and the query (``RequestInfo``)
- ``request_options``: list, write and delete options, with the rules between them
- ``authentication``: who asks
- ``impersonation``: whom the request is made as
- ``bodies``: the document in the body, in JSON, YAML or protobuf
- ``selection``: label and field selectors (``SelectionPredicate``)
- ``continue_tokens``: where a list that is read in pages goes on
"""
