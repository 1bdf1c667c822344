"""A Kubernetes API in one process, for development and tests, never for production.

Good enough for kubectl and the usual clients: it stores, validates, patches and tells watchers,
and runs no controllers.  It shares no code with the clients that are tested against it.
Everything runs on one event loop; storage calls are plain functions, and so atomic.

What is kept, and who is told:

- ``changes``: keys, stored states and changes
- ``collection``: the objects of one resource in order, and their recent past
- ``storage``: the whole state, with one counter of revisions
- ``journal``: the same in a SQLite file, safe from ``kill -9``
- ``watch_request``, ``watch_events``, ``watch_feed``, ``watchers``: what is asked for, what is
  seen of a change, one watch, all of them
- ``freshness``: waits for a revision that is not there yet

What is served:

- ``kinds``, ``schemas``: which kinds there are, and the structure of their objects
- ``discovery``: the documents by which clients find out
- ``decoding``, ``admission``, ``defaults`` and the validations: from what a client sends to what
  is stored
- ``json_patch``, ``merge_patch``, ``strategic_merge``, ``server_side_apply``: from a patch to the
  new object
- ``tables``, ``printers``: what ``kubectl get`` prints

How it is reached:

- ``requests``, ``verbs``, ``refusals``: from a path and a query to an answer, or a refusal
- ``application``: HTTP, content types, credentials
- ``faults``: what goes wrong on request
- ``certificates``, ``server``: the running server with its authority and kubeconfig
"""
