"""How the server is reached: HTTP, TLS, credentials.

- ``application``: every request and its answer; ``front_pages``: answers that are not objects
- ``administration``: faults and requests, for tests
- ``credentials``: who asks; ``private_files``: what only the owner may read
- ``authority``, ``certificates``, ``tls_connections``: TLS with a CA of the server's own
"""
