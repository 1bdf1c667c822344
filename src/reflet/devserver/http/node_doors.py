"""Where the node of a pod answers, and the token to show there.

Nodes of this machine only are asked, since what is said is not encrypted.

Upstream: pkg/kubelet/client/kubelet_client.go, GetConnectionInfo
"""

from __future__ import annotations

from typing import Any, Final

from reflet.apirules import refusals
from reflet.devserver.request.authentication import ISSUER, TokenOwner, is_loopback
from reflet.devserver.storage.stored import Key
from reflet.devserver.verbs.state import State

READER: Final = TokenOwner("kube-system", "reflet-log-reader", "")
TOKEN_SECONDS: Final = 60

NODES: Final = "nodes"


def node_address(state: State, name: str) -> str:
    """The host and port of a node, or an ApiError that says why it cannot be asked."""
    node = state.storage.get(Key(NODES, "", name)) if name else None
    if node is None:
        # The real server says pods here.
        raise refusals.not_found("pods", name)
    status: dict[str, Any] = node.object.get("status") or {}
    port = status.get("daemonEndpoints", {}).get("kubeletEndpoint", {}).get("Port") or 0
    hosts = [
        each.get("address", "")
        for each in status.get("addresses") or ()
        if each.get("type") == "InternalIP"
    ]
    if not port or not hosts:
        raise refusals.unexpected(f"node {name} does not say where it answers for logs")
    if not is_loopback(hosts[0]):
        raise refusals.unexpected(
            f"node {name} is at {hosts[0]}, and this server asks for logs on its own machine only"
        )
    host = f"[{hosts[0]}]" if ":" in hosts[0] else hosts[0]
    return f"{host}:{port}"


def node_token(state: State) -> str:
    """A token that the node can have reviewed here."""
    token, _ = state.tokens.issue(
        READER, audiences=[ISSUER], now=state.now(), seconds=TOKEN_SECONDS
    )
    return token
