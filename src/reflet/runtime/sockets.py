"""Options of TCP sockets that systems have other names and numbers for."""

from __future__ import annotations

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
