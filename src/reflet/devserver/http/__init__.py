"""How the server is reached: HTTP, TLS, and the pages that are not about objects.

- ``application``: every request and its answer
- ``front_pages``: health, version, discovery, OpenAPI, and the paths for tests
- ``discovery_documents``, ``openapi``, ``openapi_schemas``: what is on those pages
- ``node_logs``: logs of containers, from the node that has them
- ``secure_serving``, ``authority``: TLS with a CA of the server's own
"""
