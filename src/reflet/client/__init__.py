"""The API server's verbs, typed.

- ``client``: everything one server can be asked: resources by kind or name, discovery, tokens
- ``resource_client``: get, list, watch, create, replace, patch, apply and delete for one resource
- ``rest``: one request and its answer; a ``Status`` that the server sends becomes an ApiError
- ``watch``: a watch stream as typed events, in batches or one by one
- ``discovery``: what the server serves, and its version
"""
