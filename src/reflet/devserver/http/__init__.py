"""How the server is reached: HTTP, TLS, and the pages that are not about objects.

- ``application``: every request and its answer
- ``malformed_requests``: what is answered to what is no HTTP
- ``front_pages``: health, version, discovery, OpenAPI, and the paths for tests
- ``discovery_documents``, ``openapi``, ``openapi_schemas``: what is on those pages
- ``openapi_protobuf``, ``openapi_negotiation``: the binary form of OpenAPI 2, and who gets it
- ``node_doors``, ``node_logs``, ``node_streams``: where a pod's node answers; its logs, commands
  and ports
- ``secure_serving``, ``authority``: TLS with a CA of the server's own
"""
