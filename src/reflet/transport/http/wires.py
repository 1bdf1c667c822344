"""The wire that requests go out on, and the ones that give way to it.

Owns: when a wire is opened, that one whose certificates are out of date is replaced, and how what
runs on it moves over.  Must not know HTTP versions, files or what a request means.

client-go closes every connection when its certificate rotates, and each of its watches begins
again in the same moment.  Here only what is idle is closed at once.  Requests end as they would
have, and streams are ended one by one.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Final, Protocol

from reflet.errors import TransportError
from reflet.runtime.clock import Clock
from reflet.runtime.tasks import TaskOwner
from reflet.transport.auth.certificates import ClientCertificate
from reflet.transport.config.settings import ConnectionSettings
from reflet.transport.http.tls_contexts import TlsContexts
from reflet.transport.interface import Transport

if TYPE_CHECKING:
    import ssl

SETTLE: Final = 1.0
"""Seconds before the first stream is ended: one that ends in its first second counts as a fault."""
SPREAD: Final = 10.0
"""Seconds over which the streams of a wire are ended, however many there are."""
TRY_AGAIN: Final = 10.0
"""Seconds until a wire that could not be opened in the place of another is tried again."""

LONG_AGO: Final = float("-inf")

logger = logging.getLogger(__name__)


class Wire(Transport, Protocol):
    """A transport that can be replaced while it is used."""

    def retire(self) -> Sequence[Callable[[], None]]:
        """Close what is idle, and the rest when it is over; what ends the open streams, one each.

        What comes all the same, from somebody who got hold of the wire before, is sent; so this
        may be called again.
        """
        ...

    @property
    def is_unused(self) -> bool:
        """Nothing runs on it."""
        ...


class Wires:
    """Opens wires with *open_wire*, one after the other, and closes them all.

    A wire is replaced when the context that it was made with is not the current one any more.
    When another cannot be opened for files that have changed, it stays in use: what is set up
    wrong must not break what works.
    """

    def __init__(
        self,
        settings: ConnectionSettings,
        open_wire: Callable[[ssl.SSLContext | None], Awaitable[Wire]],
        *,
        clock: Clock,
    ) -> None:
        self._settings = settings
        self._open_wire = open_wire
        self._clock = clock
        self._contexts = (
            None
            if settings.server.startswith("http:")
            else TlsContexts(settings, monotonic=clock.monotonic, now=clock.now)
        )
        self._wire: Wire | None = None
        self._context: ssl.SSLContext | None = None  # that the wire was made with
        self._shown: ClientCertificate | None = None  # that the credentials had brought for it
        self._try_again_at = LONG_AGO
        self._opening = asyncio.Lock()
        self._closed = False
        self._outdated: list[Wire] = []
        self._tasks: TaskOwner | None = None
        self._closing = AsyncExitStack()

    async def current(self) -> Wire:
        """The wire for a request now; opens one when there is none or it is out of date.

        While one request opens another wire for new files, the others do not wait for it.
        """
        shown, context = await self._wanted()
        if self._wire is not None and self._may_stay(
            shown, context, meanwhile=self._opening.locked()
        ):
            return self._wire
        async with self._opening:
            self._refuse_when_closed()
            shown, context = await self._wanted()  # another request may have been quicker
            if self._wire is not None and self._may_stay(shown, context):
                return self._wire
            return await self._replaced(shown, context)

    async def close(self) -> None:
        """Close every wire; what is open fails."""
        self._closed = True
        wire, self._wire = self._wire, None
        if wire is not None:
            await wire.close()
        await self._closing.aclose()
        for outdated in self._outdated:
            await outdated.close()
        self._outdated.clear()

    async def _wanted(self) -> tuple[ClientCertificate | None, ssl.SSLContext | None]:
        shown = await self._settings.credentials.client_certificate()
        if self._contexts is None:
            return shown, None
        return shown, self._contexts.current(shown, at_once=self._wire is None)

    def _may_stay(
        self,
        shown: ClientCertificate | None,
        context: ssl.SSLContext | None,
        *,
        meanwhile: bool = False,
    ) -> bool:
        """Whether the wire is good enough: current, or out of date because of files alone.

        Of the latter it is while another one is being opened, and for a time after that failed.
        """
        if context is self._context:
            return True
        # A connection made with another client certificate speaks for somebody we no longer are;
        # one made with other files was right when it was made.
        is_put_off = meanwhile or self._clock.monotonic() < self._try_again_at
        return is_put_off and shown == self._shown

    async def _replaced(
        self, shown: ClientCertificate | None, context: ssl.SSLContext | None
    ) -> Wire:
        try:
            wire = await self._open_wire(context)
        except TransportError as error:
            if self._wire is None or shown != self._shown:
                raise
            logger.warning("%s; the connections made before stay in use", error)
            self._try_again_at = self._clock.monotonic() + TRY_AGAIN
            return self._wire
        if self._closed:  # while we dialled: nobody else will close it
            await wire.close()
            self._refuse_when_closed()
        outdated, self._wire = self._wire, wire
        self._context, self._shown, self._try_again_at = context, shown, LONG_AGO
        if outdated is not None:
            await self._retire(outdated)
        return wire

    async def _retire(self, wire: Wire) -> None:
        self._outdated.append(wire)
        if self._tasks is None:
            owner = TaskOwner(f"wires to {self._settings.server}")
            self._tasks = await self._closing.enter_async_context(owner)
        self._tasks.start(self._move_over(wire), name="outdated wire")

    async def _move_over(self, wire: Wire) -> None:
        """End the streams of *wire* one by one, and close it when nothing runs on it."""
        streams = wire.retire()
        while not wire.is_unused:
            due = self._clock.monotonic() + SETTLE
            await self._clock.sleep(SETTLE)
            for end in streams:
                end()
                due += SPREAD / len(streams)  # and not from now: a busy loop is late each time
                await self._clock.sleep(due - self._clock.monotonic())
            streams = wire.retire()
        await wire.close()
        self._outdated.remove(wire)

    def _refuse_when_closed(self) -> None:
        if self._closed:
            raise TransportError(f"{self._settings.server}: the client is closed")
