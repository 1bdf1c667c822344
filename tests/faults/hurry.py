"""Time that passes faster, so that production's own delays fit into a test of a minute.

Owns: clocks, a transport whose limits of time shrink alike, and a cluster over one.  No delay is
set otherwise: what a program waits for is what it would wait for in production, each wait divided
by one number.  Must not know what is waited for.
"""

from __future__ import annotations

import asyncio
import asyncio.constants
from collections import Counter
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime
from typing import Final, final

import msgspec

from reflet.client.client import Client
from reflet.cluster import Cluster
from reflet.node.shim import shim_client
from reflet.runtime.sockets import keepalive
from reflet.runtime.waits import Arrivals
from reflet.transport.config.settings import ConnectionSettings
from reflet.transport.connection import Connection
from reflet.transport.http import http1, http2
from reflet.transport.interface import ANSWER_TIMEOUT, Request, Response, Stream, Transport

RATE: Final = 30.0
"""Seconds of the hurried that pass in one of ours."""

TICK: Final = 0.01
LONGEST_TICK: Final = 0.015
"""Seconds of ours: how often a patient clock looks whether anything gets done, and what it counts
at most when that took longer."""

WAITS: Final = (
    (http2, "READ_IDLE_TIMEOUT", http2.READ_IDLE_TIMEOUT / RATE),
    (http2, "PING_TIMEOUT", http2.PING_TIMEOUT / RATE),
    (http1, "KEEPALIVE", keepalive(idle=1, interval=1, count=1)),  # whole seconds only
    (asyncio.constants, "SSL_SHUTDOWN_TIMEOUT", asyncio.constants.SSL_SHUTDOWN_TIMEOUT / RATE),
    # A shim is a process of its own, which does not hurry: whoever waits for it by a hurried
    # clock waits for so many seconds of that.
    (shim_client, "STARTUP_TIMEOUT", shim_client.STARTUP_TIMEOUT * RATE),
    (shim_client, "LOOK_EVERY", shim_client.LOOK_EVERY * RATE),
    (shim_client, "RETRY_EVERY", shim_client.RETRY_EVERY * RATE),
)
"""What TCP, HTTP/2, TLS and the shim's client wait for by a time of their own: a module, a name
and what to wait for instead."""


@final
class HurriedClock:
    """The loop's time, ``RATE`` times as fast.  Is a ``Clock``."""

    def now(self) -> datetime:
        """The wall time; nobody here waits by it."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Hurried seconds since some moment."""
        return asyncio.get_running_loop().time() * RATE

    async def sleep(self, seconds: float, /) -> None:
        """Wait a part of that."""
        await asyncio.sleep(seconds / RATE)


@final
class PatientClock:
    """As fast, but it stands still while this process does not get to run.  Is a ``Clock``.

    For those whose delays are a fraction of a second of ours: on a machine that is busy, what they
    wait for would never be done in time.  ``run`` lets time pass.
    """

    def __init__(self) -> None:
        self._passed = 0.0
        self._ticked_at = asyncio.get_running_loop().time()
        self._ticks = Arrivals()

    async def run(self) -> None:
        """Tick until cancelled."""
        while True:
            await asyncio.sleep(TICK)
            self._passed += self._since_tick()
            self._ticked_at = asyncio.get_running_loop().time()
            self._ticks.wake()

    def now(self) -> datetime:
        """The wall time; nobody here waits by it."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Hurried seconds in which somebody got something done."""
        return (self._passed + self._since_tick()) * RATE

    async def sleep(self, seconds: float, /) -> None:
        """Wait for so many of them."""
        end = self.monotonic() + seconds
        await asyncio.sleep(0)
        while self.monotonic() < end:
            await self._ticks.wait()

    def _since_tick(self) -> float:
        return min(asyncio.get_running_loop().time() - self._ticked_at, LONGEST_TICK)


@final
class HurriedTransport:
    """Another transport, with less patience; counts what is asked.  Is a ``Transport``.

    Silence is the reflector's last resort, after a quarter of an hour.  That is too long for a
    storm even for the hurried, so it is made ten times shorter still unless *silence_rate* is
    given.
    """

    def __init__(self, inner: Transport, *, silence_rate: float = 10 * RATE) -> None:
        self._inner = inner
        self._silence_rate = silence_rate
        self.requests: Counter[str] = Counter()
        """How often each path was asked, watches and lists alike."""

    async def send(self, request: Request, /) -> Response:
        """Send, with a limit for the whole answer."""
        return await self._inner.send(self._hurried(request))

    def stream(
        self, request: Request, /, *, silence: float | None = None
    ) -> AbstractAsyncContextManager[Stream]:
        """Send, with a limit for the head and one for silence."""
        silence = None if silence is None else silence / self._silence_rate
        return self._inner.stream(self._hurried(request), silence=silence)

    async def close(self) -> None:
        """Close the other one."""
        await self._inner.close()

    def _hurried(self, request: Request) -> Request:
        selector = dict(request.query).get("fieldSelector", "")
        self.requests[f"{request.path}?{selector}"] += 1
        patience = ANSWER_TIMEOUT if request.timeout is None else request.timeout
        return msgspec.structs.replace(request, timeout=patience / RATE)


@final
class HurriedCluster(Cluster):
    """A cluster that is asked through a hurried transport."""

    def __init__(self, settings: ConnectionSettings, *, silence_rate: float = 10 * RATE) -> None:
        connection = Connection(settings, clock=HurriedClock())
        self.transport = HurriedTransport(connection, silence_rate=silence_rate)
        # Not the constructor of a cluster, which would make a connection that does not hurry.
        Client.__init__(self, self.transport, namespace=settings.namespace)
        self.settings = settings
