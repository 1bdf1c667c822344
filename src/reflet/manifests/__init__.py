"""Manifests as if they were applied: objects from files, as the API server would store them.

- ``files``: which files are meant, and their texts
- ``git_revisions``: files as they are in a revision of their repository
- ``rendering``: what kustomize and Helm make, by the user's own programs
- ``kustomizations``: which files beside a kustomization are patches, and what it makes
- ``manifest_documents``: which documents are manifests, and what is left out
- ``documented_objects``: what the documents beside them tell people to create
- ``acceptance``: a document becomes what the server would store, or a refusal in its words
- ``applied``: the objects, the refusals and the remarks of several files
- ``applying``: from texts to all that
- ``pod_targets``: which pod of the files is meant

The rules are ``apirules``, which are compared with the real API server.  Nothing here opens a
connection.
"""
