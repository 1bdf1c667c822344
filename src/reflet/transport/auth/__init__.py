"""Who we say we are, and whom we trust.

- ``credentials``: the ``Credentials`` protocol; tokens, token files that rotate, passwords
- ``exec_plugin``: credentials from another program (client.authentication.k8s.io)
- ``certificates``: PEM from files or memory into a TLS context
"""
