"""The API server's verbs, typed.

- ``verbs``: get, list, watch, create, replace, patch and delete for one resource
- ``watching``: a watch stream as typed events, in batches or one by one
- ``discovery``: what the server serves, and which resource a name means
- ``client``: all of it for one server

A ``Status`` that the server sends becomes the right error here.  Must not know who consumes
the objects, nor how bytes travel (``transport``).
"""
