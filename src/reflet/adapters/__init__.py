"""Doors to other people's libraries: clients that a program has already, and its metrics.

- ``official``: the connection of ``kubernetes``
- ``asyncio_client``: the connection of ``kubernetes_asyncio``
- ``lightkube_client``: the connection of ``lightkube``
- ``threaded_stream``: the body of an answer that only a blocking client can read
- ``prometheus``: Reflet's numbers for ``prometheus_client``

Each module knows one library, which it imports when it is used and which an extra of the same
name installs.  Nothing else in Reflet needs any of them.
"""
