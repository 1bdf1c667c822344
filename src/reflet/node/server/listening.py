"""Taking connections from the system's queue, one at a time.

Nothing that goes wrong with accepting ends it, fills the log or keeps the loop busy.

Why not ``asyncio.start_server``: it accepts up to a hundred connections before anybody can count
them, speaks TLS with each, and when there are no descriptors left it logs a traceback for every
try.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final

from reflet.errors import ConfigurationError
from reflet.runtime.backoff import Backoff

BACKLOG: Final = 128
"""Short: in a flood a probe waits behind everybody who is in the queue before it."""
FIRST_PAUSE: Final = 0.05  # seconds after accepting has failed
LONGEST_PAUSE: Final = 1.0

Accepted = Callable[[socket.socket, str], None]
Accept = Callable[[socket.socket], Awaitable[tuple[socket.socket, Any]]]

logger = logging.getLogger(__name__)


async def listening_sockets(host: str, port: int) -> list[socket.socket]:
    """Listen at every address of a host; port 0 takes a free one, the same at all of them.

    Raises ConfigurationError, and then listens nowhere.
    """
    with contextlib.ExitStack() as undo:
        sockets: list[socket.socket] = []
        try:
            for family, address in await _addresses(host, port):
                place = (address[0], sockets[0].getsockname()[1] if sockets else port, *address[2:])
                sockets.append(undo.enter_context(_listening(family, place)))
        except OSError as error:
            raise ConfigurationError(
                f"cannot listen on {host} port {port}: {error.strerror or error}"
            ) from error
        undo.pop_all()
        return sockets


async def accept_all(
    listening: socket.socket, accepted: Accepted, *, accept: Accept | None = None
) -> None:
    """Hand over each connection and the address that it comes from, until cancelled.

    Where there are no descriptors or no memory it says so once, waits, and tries again.
    """
    take = accept or asyncio.get_running_loop().sock_accept
    backoff = Backoff(first=FIRST_PAUSE, ceiling=LONGEST_PAUSE, jitter=0.0, reset_after=None)
    fails = False
    while True:
        try:
            connection, address = await take(listening)
        except ConnectionAbortedError:
            await asyncio.sleep(0)  # whoever it was has left the queue
        except OSError as error:
            if not fails:
                logger.warning(
                    "no connections are accepted for now at port %s: %s",
                    listening.getsockname()[1],
                    error.strerror or error,
                )
            fails = True
            await asyncio.sleep(backoff.next_delay())
        else:
            if fails:
                logger.info("connections are accepted again")
            fails = False
            backoff.reset()
            accepted(connection, str(address[0]))
            # Where many wait, taking one does not wait: the others on the loop have their turn.
            await asyncio.sleep(0)


async def _addresses(host: str, port: int) -> Sequence[tuple[int, Any]]:
    kind, flags = socket.SOCK_STREAM, socket.AI_PASSIVE
    try:  # what is an address needs no look-up, and no thread for it
        found = socket.getaddrinfo(host, port, type=kind, flags=flags | socket.AI_NUMERICHOST)
    except socket.gaierror:
        loop = asyncio.get_running_loop()
        found = await loop.getaddrinfo(host, port, type=kind, flags=flags)
    return list(dict.fromkeys((family, address) for family, _, _, _, address in found))


def _listening(family: int, place: tuple[Any, ...]) -> socket.socket:
    made = socket.socket(family, socket.SOCK_STREAM)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        made.bind(place)
        made.listen(BACKLOG)
        made.setblocking(False)
    except OSError:
        made.close()
        raise
    return made
