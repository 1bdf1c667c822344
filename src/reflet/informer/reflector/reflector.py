"""Keeps a sink equal to a remote collection.

Owns: the loop of filling and watching, for ever, and the face of it.  Decisions belong to
watch_endings.py, versions to version_cursor.py; filling.py and watching.py obey them.  Must not
know HTTP, JSON, indexes or who reads the result.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Callable
from typing import Final, Generic, TypeVar

from reflet.api.meta import KubernetesObject
from reflet.api.selectors.fields import FieldSelector
from reflet.api.selectors.labels import LabelSelector
from reflet.api.status import is_expired
from reflet.errors import ConfigurationError
from reflet.informer.reflector.consistency import Consistency, Held, compare
from reflet.informer.reflector.delays import Expiries, Patience
from reflet.informer.reflector.endings import AFTER_WATCH, PROGRAMMING_ERRORS, Ending, WatchStep
from reflet.informer.reflector.filling import Filling
from reflet.informer.reflector.health import Liveness
from reflet.informer.reflector.open_watch import OpenWatch
from reflet.informer.reflector.progress import Delivery, SyncFailed
from reflet.informer.reflector.reflector_metrics import ReflectorMetrics
from reflet.informer.reflector.requests import (
    SHORTEST_WATCH_TIMEOUT,
    ReflectorRequests,
    Selection,
)
from reflet.informer.reflector.source import Source
from reflet.informer.reflector.versions import NEWEST, WHATEVER_IS_CACHED, VersionCursor
from reflet.informer.reflector.watching import PassEnd, Watching
from reflet.runtime.backoff import Backoff
from reflet.runtime.clock import Clock, SystemClock
from reflet.runtime.latch import Latch
from reflet.runtime.metrics import NO_METRICS, Metrics
from reflet.store.deltas import Sink

T = TypeVar("T", bound=KubernetesObject)

WATCH_SILENCE: Final = 900.0
"""Seconds that a stream may bring nothing; then it is opened again, in case nobody is there.

A last resort, since silence is no fault: kinds that are not in the watch cache (Events) get no
bookmarks at all, and a WatchList gets one only when something was written after it began.  Dead
connections are found by the connection itself, within a minute.
"""

logger = logging.getLogger(__name__)


class Reflector(Generic[T]):
    """Mirrors the collection of *source* into *sink* until it is cancelled.

    Whatever breaks, it waits, resumes or lists again by the tables of ``watch_endings``; once
    the server serves again, the sink equals it.  For a server that cannot be reached it waits at
    the gate of its source, together with all others that use the connection.  Events reach the
    sink in the server's order, in the batches in which they arrived.  A sink that fails to take
    events is reported, and the rest goes on.

    *name* is for logs; *resource* is the label of metrics and must have few values, *name* if
    it is not given; *description* is the word for the objects in errors.

    *expected_kind* is ``(apiVersion, kind)``: events with other objects are skipped.  It costs
    time for each event, so leave it out where the source decodes into one class: there nothing
    else can come.

    *resync_every* seconds, if *should_resync* says so, the sink is told ``Resynced`` beside the
    watch; 0 never.  *minimum_watch_timeout* below five minutes counts as five minutes; each
    watch asks for a random time from it to twice as long.  *silence* is how long a stream may
    bring nothing.  *page_size* 0 lets the rules of versions decide.  For
    *internal_error_window* seconds the server's internal errors do not lead to a new list.
    ``streaming=False`` never asks for streaming lists.

    *on_error* is called with every error that ends a pass; without it they are logged.
    *on_connection* is called with an error when the server is lost and with None when it is
    back.  *expected_errors* are kinds of refusals that the caller has an answer to; they are
    logged for debugging only.  *held* is what ``check_consistency`` compares, the store behind
    *sink*.  *since* is a version that is known already: the first state is asked to be at least
    that new.  *awaited* says whether somebody waits for the objects right now: such reflectors
    are served first when the server comes back.

    ``synced`` is set once the sink has taken the collection for the first time.  ``run`` may be
    cancelled and called again: it goes on from the last version.  Belongs to one event loop;
    ``last_version``, ``connected``, ``last_progress`` and ``is_live`` may be read anywhere.
    """

    def __init__(
        self,
        source: Source[T],
        sink: Sink[T],
        *,
        name: str = "reflector",
        resource: str | None = None,
        description: str | None = None,
        expected_kind: tuple[str, str] | None = None,
        label_selector: LabelSelector | str = "",
        field_selector: FieldSelector | str = "",
        clock: Clock | None = None,
        backoff: Backoff | None = None,
        chance: Callable[[], float] = random.random,
        resync_every: float = 0.0,
        should_resync: Callable[[], bool] | None = None,
        minimum_watch_timeout: float = SHORTEST_WATCH_TIMEOUT,
        silence: float | None = WATCH_SILENCE,
        page_size: int = 0,
        internal_error_window: float = 0.0,
        streaming: bool = True,
        on_error: Callable[[Exception], None] | None = None,
        on_connection: Callable[[Exception | None], None] | None = None,
        expected_errors: tuple[type[Exception], ...] = (),
        held: Held[T] | None = None,
        since: str = "",
        awaited: Callable[[], bool] = lambda: False,
        metrics: Metrics = NO_METRICS,
    ) -> None:
        self.name = name
        self._description = description or (", Kind=".join(expected_kind or ()) or name)
        self._resync_every = resync_every
        self._should_resync = should_resync
        self._streaming = streaming
        self._on_error = on_error
        self._held = held
        self._clock = clock = clock or SystemClock()
        self._cursor = VersionCursor(page_size=page_size)
        self._cursor.synced(since)
        self._expiries = Expiries()
        numbers = ReflectorMetrics(metrics, resource or name)
        self._liveness = Liveness(
            name,
            clock=clock,
            metrics=numbers,
            on_connection=on_connection,
            expected_errors=expected_errors,
            has_gate=source.gate is not None,
        )
        self._patience = Patience(clock, backoff or Backoff(clock=clock, chance=chance), numbers)
        self._delivery = Delivery(
            sink, self._cursor, numbers, name=name, expected_kind=expected_kind
        )
        self._requests = ReflectorRequests(
            source,
            Selection(label_selector, field_selector, minimum_watch_timeout, silence),
            description=self._description,
            clock=clock,
            chance=chance,
            liveness=self._liveness,
            awaited=awaited,
        )
        self._filling = Filling(
            self._requests,
            self._delivery,
            self._cursor,
            patience=self._patience,
            liveness=self._liveness,
            metrics=numbers,
            clock=clock,
            name=name,
            description=self._description,
        )
        self._watching = Watching(
            self._requests,
            self._delivery,
            self._cursor,
            patience=self._patience,
            liveness=self._liveness,
            metrics=numbers,
            clock=clock,
            name=name,
            description=self._description,
            internal_error_window=internal_error_window,
        )

    def __repr__(self) -> str:
        return f"<Reflector {self.name} at {self.last_version!r}>"

    # State

    @property
    def synced(self) -> Latch:
        """Set once the sink has taken the collection for the first time."""
        return self._delivery.synced

    @property
    def last_version(self) -> str:
        """The version up to which the sink knows everything; empty before anything is known."""
        return self._cursor.last

    @property
    def version_unavailable(self) -> bool:
        """Whether the server said that it does not have ``last_version``."""
        return self._cursor.unavailable

    @property
    def paginated(self) -> bool:
        """Whether the server answers in pages even where it could use its cache."""
        return self._cursor.paginated

    @property
    def connected(self) -> bool:
        """Whether the server serves us, as far as is known."""
        return self._liveness.connected

    @property
    def last_progress(self) -> float | None:
        """When something last came from the server, on the clock's stopwatch; None before."""
        return self._liveness.last_progress

    def is_live(self, within: float) -> bool:
        """Whether the server is known to have been there within the last *within* seconds.

        A watch that is open proves it for 60 seconds and more: by then a dead connection would
        have ended it.  Below that, something must have come.
        """
        return self._liveness.is_live(within)

    async def check_consistency(
        self, *, transform: Callable[[T], T] | None = None
    ) -> Consistency | None:
        """List at the exact version that is held, and compare.

        True when all is well.  None when no version is known yet.  *transform* is what the
        store does to objects.  Raises the ApiError of the server, Expired for one when the
        version has left its history meanwhile.
        """
        if self._held is None:
            raise ConfigurationError(
                f"{self.name} does not know what is held: give it as held=, the store for one"
            )
        held, version = self._held.snapshot()
        if version in {NEWEST, WHATEVER_IS_CACHED}:
            return None
        listed = (await self._requests.list(version, match="Exact")).items
        return compare(held, listed, version, transform)

    # The loop

    async def run(self) -> None:
        """Mirror until cancelled.

        Raises the error of a source that is wrong as a program (``PROGRAMMING_ERRORS``): no
        retry would mend it.
        """
        self._liveness.begun()
        while True:
            try:
                end = await self._pass()
            except PROGRAMMING_ERRORS as error:
                self._liveness.connected = False
                self._report(error)
                raise
            if end.reported and end.cause is not None:
                self._report(end.cause)
            if not (end.at_once and self._may_list_at_once(end.cause)):
                await self._patience.wait(end.cause)
            # Its traceback holds on to a dead connection, and the next pass may take for ever.
            del end

    def _may_list_at_once(self, cause: Exception | None) -> bool:
        return not is_expired(cause) or self._expiries.may_list_at_once(self._clock.monotonic())

    async def list_and_watch(self) -> None:
        """Mirror until something makes a new list necessary: one pass of ``run``.

        Raises what ``run`` would report.
        """
        end = await self._pass()
        if end.reported and end.cause is not None:
            raise end.cause

    async def _pass(self) -> PassEnd:
        watch = await self._filling.by_stream() if self._streaming else None
        if watch is None:
            failure = await self._filling.by_list()
            if failure is not None:
                return PassEnd(failure, reported=True)
        try:
            if not self._resync_every:
                return await self._watching.until_a_new_list_is_needed(watch)
            return await self._watch_beside_resync(watch)
        finally:
            if watch is not None:
                await watch.close()

    async def _watch_beside_resync(self, watch: OpenWatch[T] | None) -> PassEnd:
        end: PassEnd | None = None
        cause: Exception | None = None
        wrong: Exception | None = None
        try:
            async with asyncio.TaskGroup() as tasks:
                resyncing = tasks.create_task(self._resync(), name=f"resync of {self.name}")
                try:
                    end = await self._watching.until_a_new_list_is_needed(watch)
                except PROGRAMMING_ERRORS as error:
                    wrong = error  # raised below as it is, and not in a group
                resyncing.cancel()
        except* SyncFailed as failures:
            cause = failures
        if wrong is not None:
            raise wrong
        if end is not None:
            return end
        reported = AFTER_WATCH[Ending.SINK_FAILED] is WatchStep.REPORT_THEN_RELIST
        return PassEnd(cause, reported=reported)

    async def _resync(self) -> None:
        while True:
            await self._clock.sleep(self._resync_every)
            if self._is_due():
                self._delivery.resync()

    def _is_due(self) -> bool:
        try:
            return self._should_resync is None or self._should_resync()
        except Exception as error:
            logger.exception("%s: should_resync failed", self.name)
            raise SyncFailed(f"should_resync failed: {error}") from error

    def _report(self, error: Exception) -> None:
        if self._on_error is None:
            log_failure(self.name, self._description, error)
            return
        try:
            self._on_error(error)
        except Exception:
            logger.exception("%s: the error handler failed", self.name)


def log_failure(name: str, description: str, error: Exception) -> None:
    """What becomes of an error that ends a pass where nobody asked to be told."""
    level = logging.DEBUG if is_expired(error) else logging.ERROR
    logger.log(level, "%s: Failed to watch %s: %s", name, description, error)
