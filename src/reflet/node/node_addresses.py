"""The addresses of a node and of its pods, which share its network.

Owns: which of a machine's addresses others reach it by.  Must not know who asks.
"""

from __future__ import annotations

from ipaddress import ip_address
from urllib.parse import urlsplit

from reflet.node.machine import machine_addresses

OURSELVES = "127.0.0.1"


def node_addresses(given: str, server: str) -> tuple[str, ...]:
    """The address that was *given*, else those by which the API server at *server* reaches us."""
    if given:
        return (given,)
    host = urlsplit(server).hostname or ""
    if host == "localhost" or _is_loopback(host):
        # The server is on this machine, and so is everybody who asks for us.
        return (OURSELVES,)
    return machine_addresses()


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
