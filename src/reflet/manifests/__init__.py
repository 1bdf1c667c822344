"""Manifests as if they were applied: objects from files, as the API server would store them.

- ``files``: paths, folders and standard input become texts
- ``acceptance``: a document becomes what the server would store, or a refusal in its words
- ``applied``: the objects, the refusals and the remarks of several files
- ``pod_targets``: which pod of the files is meant

The rules are ``apirules``, which are compared with the real API server.  Nothing here opens a
connection.
"""
