"""The API server's verbs, typed.

- ``verbs``: get, list, watch, create, replace, patch and delete for one resource
- ``watching``: a watch stream as typed events, in batches or one by one
- ``discovery``: what the server serves, and which resource a name means
- ``client``: all of it for one server

A ``Status`` that the server sends becomes the right error here.  Must not know who consumes
the objects, nor how bytes travel (``transport``).
"""

from typing import TYPE_CHECKING

from reflet._exports import lazy_exports

if TYPE_CHECKING:
    from reflet.client.client import ALL_NAMESPACES, Client, Token
    from reflet.client.discovery import ServerVersion
    from reflet.client.resource_client import ResourceClient
    from reflet.client.watch import Watch
else:
    __getattr__, __dir__ = lazy_exports(
        __name__,
        {
            "reflet.client.client": "ALL_NAMESPACES Client Token",
            "reflet.client.discovery": "ServerVersion",
            "reflet.client.resource_client": "ResourceClient",
            "reflet.client.watch": "Watch",
        },
    )

__all__ = ["ALL_NAMESPACES", "Client", "ResourceClient", "ServerVersion", "Token", "Watch"]
