"""The API server's verbs, typed.

- ``client``: everything one server can be asked: resources by kind or name, discovery, tokens
- ``resource_client``: get, list, watch, create, replace, patch, apply and delete for one resource
- ``resource_reader``, ``sent_objects``: what reads one resource, and what writes send
- ``resource_lookup``: resources that only the server knows, looked up when they are first needed
- ``rest``: one request and its answer; a ``Status`` that the server sends becomes an ApiError
- ``watch``: a watch stream as typed events, in batches or one by one
- ``discovery``: what the server serves, and its version
- ``pod_streams``: logs, commands, streams and ports of pods
- ``remote_command``, ``port_forward``: one command or attached container, one forwarded port
- ``pod_tunnel``: connections to the ports of one pod
"""

from typing import TYPE_CHECKING

from reflet._exports import lazy_exports

# fmt: off
# isort: off
if TYPE_CHECKING:
    from reflet.client.client import ALL_NAMESPACES, Client, Token
    from reflet.client.discovery import ServerVersion
    from reflet.client.port_forward import ForwardedPort
    from reflet.client.remote_command import AttachedContainer, CompletedCommand, RemoteProcess
    from reflet.client.resource_client import ResourceClient
    from reflet.client.watch import Watch
else:
    __getattr__, __dir__ = lazy_exports(__name__, {
        "reflet.client.client": "ALL_NAMESPACES Client Token",
        "reflet.client.discovery": "ServerVersion",
        "reflet.client.port_forward": "ForwardedPort",
        "reflet.client.remote_command": "AttachedContainer CompletedCommand RemoteProcess",
        "reflet.client.resource_client": "ResourceClient",
        "reflet.client.watch": "Watch",
    })

__all__ = [
    "ALL_NAMESPACES", "AttachedContainer", "Client", "CompletedCommand", "ForwardedPort",
    "RemoteProcess", "ResourceClient", "ServerVersion", "Token", "Watch",
]
