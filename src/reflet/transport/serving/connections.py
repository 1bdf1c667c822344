"""Connections of a port: taking them, and who may stay when there is no room for all.

``ConnectionPlaces`` decides, without knowing sockets, how many connections a port has, how many of
them one peer, and who goes when another comes.

A peer is an address, and one with IPv6 is its network of 64 bits, since whoever has one address
there has them all.  Whoever finds the port full takes the place of the oldest connection that has
not asked anything yet: first of its own peer, else of the peer that has the most.  So a flood of
silent connections passes through its own share, and a probe from the same address still gets
through, because it asks as soon as it is connected and then can no longer be sent away.  When all
have asked, whoever comes is turned away.

``accept_all`` takes connections from the system's queue one at a time, and nothing that goes wrong
with that ends it, fills the log or keeps the loop busy.  Why not ``asyncio.start_server``: it
accepts up to a hundred connections before anybody can count them, speaks TLS with each, and when
there are no descriptors left it logs a traceback for every try.  Nor the loop's ``sock_accept``:
one that is cancelled while somebody connects loses the connection, or fails in a callback.
``serve_all`` has each of them served, for whoever counts nobody.

``until_left`` looks after those who stay long: that whoever has left is noticed, and whoever says
nothing for hours is sent away.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import socket
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address
from typing import Any, Final, Protocol

from reflet.errors import ConfigurationError
from reflet.runtime.backoff import Backoff
from reflet.runtime.sockets import is_established
from reflet.runtime.tasks import TaskOwner

MOST_CONNECTIONS: Final = 256
IPV6_NETWORK: Final = 64

BACKLOG: Final = 128
"""Short: in a flood a probe waits behind everybody who is in the queue before it."""
FIRST_PAUSE: Final = 0.05  # seconds after accepting has failed
LONGEST_PAUSE: Final = 1.0
LOOK_EVERY: Final = 5.0  # seconds between two looks whether whoever has a stream is still there
LONGEST_LINE: Final = 64 * 1024  # bytes, as for every stream of asyncio
IDLE_TIMEOUT: Final = 4 * 3600.0  # seconds; the kubelet's streamingConnectionIdleTimeout
Accepted = Callable[[socket.socket, str], None]
Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
Accept = Callable[[socket.socket], Awaitable[tuple[socket.socket, Any]]]
logger = logging.getLogger(__name__)


@dataclass(slots=True, eq=False)
class ConnectionPlace:
    """What one connection takes; *dismiss* ends it."""

    peer: str
    dismiss: Callable[[], object] = lambda: None
    has_asked: bool = False


class ConnectionPlaces:
    """The places of one port, half of them for any one peer.

    Half, and not less: an API server asks for everybody's logs from one address.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._most_of_peer = max(1, most // 2)
        self._taken: dict[ConnectionPlace, None] = {}  # in the order in which they came
        self._of_peer: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self._taken)

    def take(self, place: ConnectionPlace) -> bool:
        """Let somebody in, another one out if need be; False when there is no room."""
        if self._count(place.peer) >= self._most_of_peer:
            may_go = [each for each in self._silent() if each.peer == place.peer]
        elif len(self._taken) >= self._most:
            may_go = self._silent()
        else:
            self._enter(place)
            return True
        if not may_go:
            return False
        # Of those with the same count it is the first, who came before the others.
        leaves = max(may_go, key=lambda each: self._count(each.peer))
        self.leave(leaves)
        leaves.dismiss()
        self._enter(place)
        return True

    def leave(self, place: ConnectionPlace) -> None:
        """Free a place; one that was sent away has none any more."""
        if place not in self._taken:
            return
        del self._taken[place]
        self._of_peer[place.peer] -= 1
        if not self._of_peer[place.peer]:
            del self._of_peer[place.peer]

    def _enter(self, place: ConnectionPlace) -> None:
        self._taken[place] = None
        self._of_peer[place.peer] += 1

    def _silent(self) -> list[ConnectionPlace]:
        return [each for each in self._taken if not each.has_asked]

    def _count(self, peer: str) -> int:
        return self._of_peer.get(peer, 0)


def peer_of(address: str) -> str:
    """Whom a connection from an address is counted for."""
    try:
        found = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if not isinstance(found, IPv6Address):
        return str(found)
    if found.ipv4_mapped is not None:
        return str(found.ipv4_mapped)
    if found.is_loopback:
        return str(found)
    return f"{IPv6Address(int(found) >> IPV6_NETWORK << IPV6_NETWORK)}/{IPV6_NETWORK}"


async def listening_sockets(host: str, port: int) -> list[socket.socket]:
    """Listen at every address of a host, of this machine if it is empty.

    Port 0 takes a free one, the same at all of them.

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


async def accept_one(listening: socket.socket) -> tuple[socket.socket, Any]:
    """Wait for a connection; whoever is cancelled meanwhile has taken none, but on Windows.

    There the loop cannot wait for a socket without taking what comes.
    """
    if os.name == "nt":
        return await asyncio.get_running_loop().sock_accept(listening)
    while True:
        try:
            connection, address = listening.accept()
        except BlockingIOError:
            await _readable(listening)
        else:
            connection.setblocking(False)
            return connection, address


async def _readable(listening: socket.socket) -> None:
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    loop.add_reader(listening, ready.set)
    try:
        await ready.wait()
    finally:
        loop.remove_reader(listening)


async def accept_all(
    listening: socket.socket, accepted: Accepted, *, accept: Accept = accept_one
) -> None:
    """Hand over each connection and the address that it comes from, until cancelled.

    Where there are no descriptors or no memory it says so once, waits, and tries again.
    """
    backoff = Backoff(first=FIRST_PAUSE, ceiling=LONGEST_PAUSE, jitter=0.0, reset_after=None)
    fails = False
    while True:
        try:
            connection, address = await accept(listening)
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


def serve_all(tasks: TaskOwner, listening: socket.socket, serve: Serve) -> None:
    """Have each connection served by a task of its own, until *tasks* is left.

    Then *listening* is closed, and nobody is accepted any more.  A connection ends with its task.
    """

    def accepted(connection: socket.socket, _: str) -> None:
        task = tasks.start(served(connection), name="connection")
        # For a task that was cancelled before its first step.
        task.add_done_callback(lambda _: connection.close())

    async def served(connection: socket.socket) -> None:
        try:
            streams = await streams_of(connection)
        except OSError:
            return  # whoever it was is gone
        await serve(*streams)

    listening.setblocking(False)
    accepting = tasks.start(accept_all(listening, accepted), name="accepting")
    accepting.add_done_callback(lambda _: listening.close())


async def streams_of(
    connection: socket.socket, *, longest: int = LONGEST_LINE, **tls: Any
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Read and write an accepted connection, after TLS where the loop's options for it are given.

    - *longest*: bytes of a line, or of what else is read up to a separator
    """
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=longest)
    protocol = asyncio.StreamReaderProtocol(reader)
    transport, _ = await loop.connect_accepted_socket(lambda: protocol, connection, **tls)
    return reader, asyncio.StreamWriter(transport, protocol, reader, loop)


class Moving(Protocol):
    """A line on which bytes move; *moved* counts them."""

    moved: int


async def until_left(connection: socket.socket, line: Moving) -> None:
    """Return when the other side has left and nobody noticed, or when nothing moves for hours.

    Whoever reads a line stops while what came is not taken, and so does not see the end that
    comes after it.
    """
    moved, quiet = line.moved, 0.0
    while quiet < IDLE_TIMEOUT:
        await asyncio.sleep(LOOK_EVERY)
        if line.moved != moved:
            moved, quiet = line.moved, 0.0
            continue
        quiet += LOOK_EVERY
        if not is_established(connection):
            return


async def _addresses(host: str, port: int) -> Sequence[tuple[int, Any]]:
    kind, flags = socket.SOCK_STREAM, socket.AI_PASSIVE
    try:  # what is an address needs no look-up, and no thread for it
        found = socket.getaddrinfo(
            host or None, port, type=kind, flags=flags | socket.AI_NUMERICHOST
        )
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
