"""Following one selection of objects: watched, asked for again and again, or read once.

A watch is a reflector's: it resumes where it broke, lists again only when it must, and backs off.
A named object that may not be watched is got every SLEEP_TIME seconds instead, with the right to
``get`` alone; where that was refused too and then allowed, all rights came late, and a watch is
tried once more.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Any, Final

import msgspec

from reflet.api.codec import Listing
from reflet.api.core.config import ConfigMap, Secret
from reflet.api.options import ListOptions, WatchOptions
from reflet.client.client import Client
from reflet.errors import ApiError, Expired, Forbidden, NotFound, RefletError, TransportError
from reflet.informer.reflector.loop import ListFailed
from reflet.informer.reflector.reflector import Reflector
from reflet.informer.reflector.retries import BACKOFF_RESET
from reflet.informer.reflector.source import Source, WatchStream
from reflet.runtime.backoff import Backoff
from reflet.runtime.clock import Clock
from reflet.runtime.gate import Gate
from reflet.runtime.metrics import Metrics
from reflet.sidecar.log_lines import logger
from reflet.sidecar.selected_objects import SelectedObjects, verbs_needed
from reflet.sidecar.sidecar_settings import SidecarSettings
from reflet.sidecar.targets import SidecarObject
from reflet.store.deltas import Delta, Replaced

LONGEST_BACKOFF: Final = 60.0
SHORTEST_PAUSE: Final = 1.0
LONGEST_PAUSE: Final = 5.0
"""Seconds, and as many again by chance: where the pauses of a watch end to grow.

The original waits as long each time.  A sidecar has few streams, and while its server is restarted
again and again, each pause is one in which its files are old.
"""
SILENCE: Final = 900.0

Deliver = Callable[[Delta[SidecarObject]], None]


class ObjectStream:
    """Brings the objects of one selection until cancelled; *deliver* takes them.

    *news* is called after each delivery, and when ``is_settled`` may have become true.
    """

    def __init__(
        self,
        objects: SelectedObjects,
        settings: SidecarSettings,
        client: Client,
        deliver: Deliver,
        *,
        news: Callable[[], None],
        clock: Clock,
        metrics: Metrics,
    ) -> None:
        self.objects = objects
        self.is_synced = False
        self.failure: Exception | None = None
        self._settings = settings
        self._deliver = deliver
        self._news = news
        self._clock = clock
        self._answered_at: float | None = None
        self._refused = asyncio.Event()
        kind: Any = Secret if objects.kind == "secret" else ConfigMap
        namespace = objects.namespace if objects.namespace is not None else "*"
        self._source = client.resource(kind, namespace=namespace)
        self._reflector: Reflector[Any] = Reflector(
            _Paced(
                self._source,
                watches_last=settings.watch_server_timeout,
                pause=self._pause,
            ),
            self,
            name=str(objects),
            resource=f"{objects.kind}s",
            label_selector=objects.label_selector,
            field_selector=objects.field_selector,
            clock=clock,
            backoff=Backoff(ceiling=LONGEST_PAUSE, reset_after=BACKOFF_RESET, clock=clock),
            silence=settings.watch_client_timeout or SILENCE,
            on_error=self._failed,
            on_connection=self._connection_changed,
            expected_errors=(ApiError,),
            metrics=metrics,
        )

    @property
    def is_settled(self) -> bool:
        """Whether the server has given everything once, or said why not."""
        return self.is_synced or self.failure is not None

    def is_live(self, within: float) -> bool:
        """Whether the server is known to have served us within the last *within* seconds."""
        if self._answered_at is None:
            return self._reflector.is_live(within)
        return self._clock.monotonic() - self._answered_at <= within

    def apply(self, delta: Delta[SidecarObject], /) -> None:
        """Take what the reflector brings."""
        self._deliver(delta)
        if isinstance(delta, Replaced):
            self._succeeded()
        self._news()

    async def run(self) -> None:
        """Follow until cancelled."""
        if self._settings.polls:
            await self._poll()
        elif self.objects.name:
            await self._watch_or_poll()
        else:
            await self._reflector.run()

    async def read_once(self) -> None:
        """Bring everything once; raises ApiError and TransportError."""
        if self.objects.name:
            items: tuple[Any, ...] = ()
            with suppress(NotFound):
                items = (await self._source.get(self.objects.name),)
        else:
            asked = ListOptions(label_selector=self.objects.label_selector)
            items = (await self._source.list(asked)).items
        self._answered_at = self._clock.monotonic()
        self.apply(Replaced(items, ""))

    async def _watch_or_poll(self) -> None:
        while True:
            await self._watch_until_refused()
            logger.info("%s may not be watched: it is got every SLEEP_TIME", self.objects)
            await self._poll(until_allowed=True)
            self._refused.clear()
            self._answered_at = None

    async def _watch_until_refused(self) -> None:
        watching = asyncio.ensure_future(self._reflector.run())
        refused = asyncio.ensure_future(self._refused.wait())
        try:
            await asyncio.wait((watching, refused), return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (watching, refused):
                task.cancel()
            await asyncio.wait((watching, refused))
        if not self._refused.is_set():
            watching.result()

    async def _poll(self, *, until_allowed: bool = False) -> None:
        """Ask again and again; with *until_allowed* until it is allowed and was not before."""
        backoff = Backoff(
            first=self._pause,
            ceiling=max(self._pause, LONGEST_BACKOFF),
            jitter=0.2,
            reset_after=None,
            clock=self._clock,
        )
        was_forbidden = False
        while True:
            try:
                await self.read_once()
                backoff.reset()
                pause = max(float(self._settings.sleep_time), SHORTEST_PAUSE)
            except RefletError as error:
                was_forbidden = isinstance(error, Forbidden) or was_forbidden
                self._failed(error)
                pause = backoff.next_delay()
            else:
                if until_allowed and was_forbidden:
                    return
            await self._clock.sleep(pause)

    @property
    def _pause(self) -> float:
        return max(float(self._settings.error_throttle_sleep), SHORTEST_PAUSE)

    def _succeeded(self) -> None:
        if self.failure is not None:
            logger.info("%s can be read", self.objects)
        self.is_synced, self.failure = True, None

    def _failed(self, error: Exception) -> None:
        found = error.__cause__ if isinstance(error, ListFailed) else error
        error = found if isinstance(found, Exception) else error
        if isinstance(error, Forbidden) and self.objects.name and not self._refused.is_set():
            self._refused.set()
            if not self._settings.polls:
                return  # getting it may be allowed
        if str(error) != str(self.failure):
            verbs = ", ".join(verbs_needed(self._settings, self.objects))
            hint = f"; it takes the right to {verbs}" if isinstance(error, Forbidden) else ""
            logger.error("%s cannot be read: %s%s", self.objects, error, hint)
        self.failure = error
        self._news()

    def _connection_changed(self, error: Exception | None) -> None:
        if error is None:
            self.failure = None
        elif isinstance(error, TransportError):
            self._failed(error)


class _Paced:
    """A source whose watches end after so many seconds, and whose refusals ask for a pause.

    Without *watches_last* their end is left to the reflector.  The pause is what
    ERROR_THROTTLE_SLEEP wants at least.  A version that has expired is no refusal: every restart of
    the server brings it, and it is followed at the reflector's own pace.
    """

    def __init__(self, source: Source[Any], *, watches_last: float | None, pause: float) -> None:
        self._source = source
        self._watches_last = watches_last
        self._pause = pause

    @property
    def gate(self) -> Gate | None:
        return self._source.gate

    async def page(self, options: ListOptions, /) -> Listing[Any]:
        with self._pausing():
            return await self._source.page(options)

    @asynccontextmanager
    async def watch(
        self, options: WatchOptions, /, *, silence: float | None
    ) -> AsyncIterator[WatchStream[Any]]:
        if self._watches_last is not None:
            seconds = max(1, int(self._watches_last))
            options = msgspec.structs.replace(options, timeout_seconds=seconds)
        with self._pausing():
            async with self._source.watch(options, silence=silence) as stream:
                yield stream

    @contextmanager
    def _pausing(self) -> Iterator[None]:
        try:
            yield
        except Expired:
            raise
        except ApiError as error:
            error.retry_after = max(error.retry_after or 0.0, self._pause)
            raise
