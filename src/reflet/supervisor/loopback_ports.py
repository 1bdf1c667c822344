"""Ports of this machine for those of a Service, on a loopback address of its own.

On Linux all of 127.0.0.0/8 is this machine, so two Services can both have their own port 5432.
Elsewhere there is 127.0.0.1 alone, and a port that is taken becomes another one; so does one that
only root may take.
"""

from __future__ import annotations

import errno
import socket
import zlib
from collections.abc import Iterable
from typing import Final

EVERYBODYS_ADDRESS: Final = "127.0.0.1"
TRIED: Final = 8
"""Addresses; a port that is taken on all of them is taken on every one."""
ABOVE_ROOTS: Final = 8000
"""Added to a port that only root may take: 80 becomes 8080."""


def loopback_addresses(name: str) -> tuple[str, ...]:
    """Where to look for a Service's ports, first its own address: the same in every run."""
    start = zlib.crc32(name.encode())
    numbers = [(start + 1_000_003 * attempt) % (64 * 256 * 254) for attempt in range(TRIED)]
    return (
        *(f"127.{64 + n // (256 * 254)}.{n // 254 % 256}.{1 + n % 254}" for n in numbers),
        EVERYBODYS_ADDRESS,
    )


def bound_ports(name: str, ports: Iterable[int]) -> tuple[str, dict[int, socket.socket]]:
    """Take the ports on one address, each as itself where that is possible; OSError else."""
    wanted = tuple(ports)
    for address in loopback_addresses(name):
        found = _all_bound(address, wanted)
        if found is not None:
            return address, found
    return EVERYBODYS_ADDRESS, bound_each(EVERYBODYS_ADDRESS, wanted)


def bound_each(address: str, ports: Iterable[int]) -> dict[int, socket.socket]:
    """Take each port, or one like it, or any; OSError, and none is kept, when one cannot be had."""
    found: dict[int, socket.socket] = {}
    try:
        for port in ports:
            found[port] = bound_port(address, port)
    except OSError:
        for each in found.values():
            each.close()
        raise
    return found


def bound_port(address: str, port: int) -> socket.socket:
    """Take a port, or one like it, or any."""
    for candidate in (port, port + ABOVE_ROOTS):
        try:
            return socket.create_server((address, candidate))
        except (OSError, OverflowError):
            continue
    return socket.create_server((address, 0))


def _all_bound(address: str, ports: tuple[int, ...]) -> dict[int, socket.socket] | None:
    found: dict[int, socket.socket] = {}
    try:
        for port in ports:
            try:
                found[port] = socket.create_server((address, port))
            except PermissionError:
                found[port] = bound_port(address, port)
    except OSError as error:
        for each in found.values():
            each.close()
        if error.errno in {errno.EADDRINUSE, errno.EADDRNOTAVAIL}:
            return None
        raise
    return found
