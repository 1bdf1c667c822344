"""New connections when certificates have rotated, without breaking what runs on the old ones.

``TlsContexts`` looks at the files of certificates, keys and authorities, and makes another TLS
context when they hold something else.  ``TransportRotation`` opens a transport with it and lets
the old one give way: what is idle is closed at once, requests end as they would have, and streams
are ended one by one over SPREAD seconds.  client-go closes every connection at once, and each of
its watches begins again in the same moment.

Upstream: client-go/transport/cert_rotation.go, dynamicClientCert;
    client-go/util/connrotation/connrotation.go
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Final, Protocol

from reflet.errors import ConfigurationError, TransportError
from reflet.runtime.clock import Clock
from reflet.runtime.tasks import TaskOwner
from reflet.transport.auth.certificates import ClientCertificate, Pem
from reflet.transport.config.settings import ConnectionSettings, ssl_context
from reflet.transport.interface import Transport
from reflet.transport.setting_files import LOOK_EVERY, FileIdentity, file_identity

if TYPE_CHECKING:
    import ssl

SETTLE_DELAY: Final = 1.0
"""Seconds before the first stream is ended: one that ends in its first second counts as a fault."""
SPREAD: Final = 10.0
"""Seconds over which the streams of a transport are ended, however many there are."""
RETRY_DELAY: Final = 10.0
"""Seconds until a transport that could not be opened in the place of another is tried again."""

LONG_AGO: Final = float("-inf")

logger = logging.getLogger(__name__)


class Replaceable(Transport, Protocol):
    """A transport that can be replaced while it is used."""

    def retire(self) -> Sequence[Callable[[], None]]:
        """Close what is idle, and the rest when it is over; what ends the open streams, one each.

        What comes all the same, from somebody who got hold of the transport before, is sent; so
        this may be called again.
        """
        ...

    @property
    def is_unused(self) -> bool:
        """Nothing runs on it."""
        ...


class TransportRotation:
    """Opens transports with *open_transport*, one after the other, and closes them all.

    A transport is replaced when the context that it was made with is not the current one any more.
    When another cannot be opened for files that have changed, it stays in use: what is set up
    wrong must not break what works.
    """

    def __init__(
        self,
        settings: ConnectionSettings,
        open_transport: Callable[[ssl.SSLContext | None], Awaitable[Replaceable]],
        *,
        clock: Clock,
    ) -> None:
        self._settings = settings
        self._open_transport = open_transport
        self._clock = clock
        self._contexts = (
            None
            if settings.server.startswith("http:")
            else TlsContexts(settings, monotonic=clock.monotonic, now=clock.now)
        )
        self._transport: Replaceable | None = None
        self._context: ssl.SSLContext | None = None  # that the transport was made with
        self._shown: ClientCertificate | None = None  # that the credentials had brought for it
        self._try_again_at = LONG_AGO
        self._opening = asyncio.Lock()
        self._closed = False
        self._outdated: list[Replaceable] = []
        self._tasks: TaskOwner | None = None
        self._closing = AsyncExitStack()

    async def current(self) -> Replaceable:
        """The transport for a request now; opens one when there is none or it is out of date.

        While one request opens another transport for new files, the others do not wait for it.
        """
        shown, context = await self._wanted()
        if self._transport is not None and self._may_stay(
            shown, context, meanwhile=self._opening.locked()
        ):
            return self._transport
        async with self._opening:
            self._refuse_when_closed()
            shown, context = await self._wanted()  # another request may have been quicker
            if self._transport is not None and self._may_stay(shown, context):
                return self._transport
            return await self._replaced(shown, context)

    async def close(self) -> None:
        """Close every transport; what is open fails."""
        self._closed = True
        transport, self._transport = self._transport, None
        if transport is not None:
            await transport.close()
        await self._closing.aclose()
        for outdated in self._outdated:
            await outdated.close()
        self._outdated.clear()

    async def _wanted(self) -> tuple[ClientCertificate | None, ssl.SSLContext | None]:
        shown = await self._settings.credentials.client_certificate()
        if self._contexts is None:
            return shown, None
        return shown, self._contexts.current(shown, at_once=self._transport is None)

    def _may_stay(
        self,
        shown: ClientCertificate | None,
        context: ssl.SSLContext | None,
        *,
        meanwhile: bool = False,
    ) -> bool:
        """Whether the transport is good enough: current, or out of date because of files alone.

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
    ) -> Replaceable:
        try:
            transport = await self._open_transport(context)
        except TransportError as error:
            if self._transport is None or shown != self._shown:
                raise
            logger.warning("%s; the connections made before stay in use", error)
            self._try_again_at = self._clock.monotonic() + RETRY_DELAY
            return self._transport
        if self._closed:  # while we dialled: nobody else will close it
            await transport.close()
            self._refuse_when_closed()
        outdated, self._transport = self._transport, transport
        self._context, self._shown, self._try_again_at = context, shown, LONG_AGO
        if outdated is not None:
            await self._retire(outdated)
        return transport

    async def _retire(self, transport: Replaceable) -> None:
        self._outdated.append(transport)
        if self._tasks is None:
            owner = TaskOwner(f"transports to {self._settings.server}")
            self._tasks = await self._closing.enter_async_context(owner)
        self._tasks.start(self._move_over(transport), name="outdated connections")

    async def _move_over(self, transport: Replaceable) -> None:
        """End the streams of *transport* one by one, and close it when nothing runs on it."""
        streams = transport.retire()
        while not transport.is_unused:
            due = self._clock.monotonic() + SETTLE_DELAY
            await self._clock.sleep(SETTLE_DELAY)
            for end in streams:
                end()
                due += SPREAD / len(streams)  # and not from now: a busy loop is late each time
                await self._clock.sleep(due - self._clock.monotonic())
            streams = transport.retire()
        await transport.close()
        self._outdated.remove(transport)

    def _refuse_when_closed(self) -> None:
        if self._closed:
            raise TransportError(f"{self._settings.server}: the client is closed")


class TlsContexts:
    """The contexts for connections by *settings*, one after the other.

    Files are looked at when a context is asked for, at most once a second.  While one of them is
    missing, half written or expired, or a key does not belong to its certificate, the context
    made before stays.
    """

    def __init__(
        self,
        settings: ConnectionSettings,
        *,
        monotonic: Callable[[], float],
        now: Callable[[], datetime],
    ) -> None:
        self._settings = settings
        self._monotonic = monotonic
        self._now = now
        pems = [settings.certificate_authority]
        if settings.client_certificate is not None:
            pems += [settings.client_certificate.certificate, settings.client_certificate.key]
        self._paths = [pem.path for pem in pems if pem is not None and pem.path is not None]
        self._current: ssl.SSLContext | None = None
        self._shown: ClientCertificate | None = None  # what the credentials brought for it
        self._held = settings  # the settings with what the files held for it
        self._seen: tuple[FileIdentity, ...] = ()
        self._looked_at = 0.0
        self._complained = False

    def current(self, shown: ClientCertificate | None, *, at_once: bool = False) -> ssl.SSLContext:
        """The context for a new connection: the same one until something has changed.

        *shown* is the client certificate that the credentials brought; *at_once* looks at files
        although they were looked at a moment ago.  Raises ConfigurationError when there is no
        context yet, or none for *shown*, because a certificate or key is of no use.
        """
        if self._current is None or shown != self._shown:
            seen = self._identities()  # before reading: what changes meanwhile is read again
            self._current = self._take(self._read(), shown)
            self._seen, self._looked_at = seen, self._monotonic()
        elif self._paths:
            moment = self._monotonic()
            if at_once or moment - self._looked_at >= LOOK_EVERY:
                self._looked_at = moment
                self._look()
        return self._current

    def _look(self) -> None:
        seen = self._identities()
        if seen == self._seen:
            return
        try:
            held = self._read()
            if held != self._held:  # the kubelet rewrites a whole volume for one new token
                self._current = self._take(held, self._shown)
                logger.info("%s: the certificates have changed", self._settings.server)
        except ConfigurationError as error:
            if not self._complained:
                logger.warning("%s; the last good certificates stay in use", error)
                self._complained = True
            return
        self._seen, self._complained = seen, False

    def _take(self, held: ConnectionSettings, shown: ClientCertificate | None) -> ssl.SSLContext:
        context = ssl_context(held, client_certificate=shown, now=self._now)
        self._held, self._shown = held, shown
        return context

    def _read(self) -> ConnectionSettings:
        """The settings with what the files hold, in memory: a context is made of one look."""
        settings, client = self._settings, self._settings.client_certificate
        authority = settings.certificate_authority
        return replace(
            settings,
            certificate_authority=None if authority is None else _in_memory(authority),
            client_certificate=None
            if client is None
            else ClientCertificate(_in_memory(client.certificate), _in_memory(client.key)),
        )

    def _identities(self) -> tuple[FileIdentity, ...]:
        try:
            return tuple(map(file_identity, self._paths))
        except OSError:
            return ()  # reading will say what is wrong


def _in_memory(pem: Pem) -> Pem:
    return Pem(pem.setting, data=pem.read())
