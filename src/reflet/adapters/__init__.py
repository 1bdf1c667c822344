"""Doors to other people's libraries: clients, models and metrics that a program has.

- ``official``: the connection of ``kubernetes``
- ``asyncio_client``: the connection of ``kubernetes_asyncio``
- ``lightkube_client``: the connection of ``lightkube``
- ``threaded_stream``: the body of an answer that only a blocking client can read
- ``prometheus``: Reflet's numbers for ``prometheus_client``
- ``pydantic_models``: a program's own pydantic models as kinds

Each module knows one library, which it imports when it is used and which an extra of the same
name installs.  Nothing else in Reflet needs any of them.
"""
