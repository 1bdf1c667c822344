"""What systems, and releases of Python, do differently about sockets."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from typing import Final

# On macOS: TCP_CONNECTION_INFO, and TCPS_ESTABLISHED of BSD.
_INFO: Final = getattr(socket, "TCP_INFO", getattr(socket, "TCP_CONNECTION_INFO", None))
_ESTABLISHED: Final = b"\1" if hasattr(socket, "TCP_INFO") else b"\4"


def keepalive(*, idle: int, interval: int, count: int) -> tuple[tuple[int, int, int], ...]:
    """Socket options: after *idle* quiet seconds, *count* probes *interval* seconds apart."""
    # macOS calls it TCP_KEEPALIVE.
    after = getattr(socket, "TCP_KEEPIDLE", None) or getattr(socket, "TCP_KEEPALIVE", None)
    options = (
        (after, idle),
        (getattr(socket, "TCP_KEEPINTVL", None), interval),
        (getattr(socket, "TCP_KEEPCNT", None), count),
    )
    return (
        (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1),
        *((socket.IPPROTO_TCP, name, value) for name, value in options if name is not None),
    )


def is_established(connection: socket.socket) -> bool:
    """Whether the other side has neither left nor begun to; True where the system does not say."""
    if _INFO is None:
        return True
    return connection.getsockopt(socket.IPPROTO_TCP, _INFO, 1) == _ESTABLISHED


def abort(transport: asyncio.WriteTransport) -> None:
    """End a connection now; one that has ended stays so.

    In early releases of Python 3.11, Debian 12's 3.11.2 for one, a transport with TLS that was
    closed twice has lost what it would abort, and raises AttributeError.
    """
    with contextlib.suppress(AttributeError):
        transport.abort()
