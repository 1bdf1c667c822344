"""The loop of a reflector: fill the sink, watch until only a new list helps, and start over.

What follows which ending is decided by the tables of ``endings``, which version is asked for by
``versions``, and how long is waited by ``retries``; the loop obeys.  ``endings.ReflectorState``
names what it is doing at any moment.

Upstream: client-go/tools/cache/reflector.go, RunWithContext, ListAndWatchWithContext, watchList,
list, watch, watchWithResync
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Generic, TypeVar, assert_never

from reflet.api.meta import KubernetesObject
from reflet.api.status import is_expired
from reflet.errors import RefletError, TransportError
from reflet.informer.reflector.delivery import Delivery, SinkFailed
from reflet.informer.reflector.endings import (
    AFTER_LIST,
    AFTER_WATCH,
    AFTER_WATCH_REQUEST,
    PROGRAMMING_ERRORS,
    SHORTEST_HONEST_WATCH,
    Ending,
    ListStep,
    ReflectorState,
    WatchListAttempts,
    WatchListStep,
    WatchStep,
    ending_of_request,
    ending_of_stream,
)
from reflet.informer.reflector.health import ServerHealth
from reflet.informer.reflector.reflector_metrics import ReflectorMetrics
from reflet.informer.reflector.requests import OpenWatch, ReflectorRequests
from reflet.informer.reflector.retries import (
    DelayHandler,
    ExpiryGuard,
    RetryWithDeadline,
    ShortWatchGuard,
)
from reflet.informer.reflector.versions import NEWEST, VersionCursor
from reflet.informer.reflector.watch_list import read_initial_events
from reflet.runtime.clock import Clock

T = TypeVar("T", bound=KubernetesObject)

EVENTS_IN_A_ROW: Final = 512
"""Events of one stream that are handed on before everybody else gets a turn."""

logger = logging.getLogger(__name__)


class ListFailed(RefletError):
    """The collection could not be listed; ``__cause__`` is why."""


@dataclass(frozen=True, slots=True)
class PassEnd:
    """Why a pass is over, whether its error is told outside, and whether the next may begin."""

    cause: Exception | None
    reported: bool
    at_once: bool = False


@dataclass(frozen=True, slots=True)
class _StreamEnd(Generic[T]):
    """How a WatchList or a watch ended; the *watch* that a WatchList leaves is open."""

    ending: Ending
    error: Exception | None = None
    lasted: float = 0.0  # seconds
    watch: OpenWatch[T] | None = None


class ListAndWatch(Generic[T]):
    """Keeps what *delivery* fills equal to what *requests* bring, pass after pass.

    ``state`` is what it is doing.  ``resync_every`` may be set until ``run``; 0 never resyncs.
    """

    def __init__(
        self,
        requests: ReflectorRequests[T],
        delivery: Delivery[T],
        cursor: VersionCursor,
        *,
        backoff: DelayHandler,
        health: ServerHealth,
        metrics: ReflectorMetrics,
        clock: Clock,
        name: str,
        description: str,
        streaming: bool,
        internal_error_window: float,
        resync_every: float,
        should_resync: Callable[[], bool] | None,
    ) -> None:
        self.state = ReflectorState.STOPPED
        self.resync_every = resync_every
        self._requests = requests
        self._delivery = delivery
        self._cursor = cursor
        self._backoff = backoff
        self._health = health
        self._metrics = metrics
        self._clock = clock
        self._name = name
        self._description = description
        self._streaming = streaming
        self._internal_error_window = internal_error_window
        self._should_resync = should_resync
        self._expiries = ExpiryGuard()

    async def run(self, report: Callable[[Exception], None]) -> None:
        """Go on until cancelled; *report* is told each error that ends a pass.

        Raises ``PROGRAMMING_ERRORS``, which no retry would mend, after reporting them.
        """
        self._health.begun()
        self._backoff.begin()
        try:
            while True:
                end = await self.one_pass()
                if end.reported and end.cause is not None:
                    report(end.cause)
                if not (end.at_once and self._may_list_at_once(end.cause)):
                    await self._back_off(end.cause)
                # Its traceback holds on to a dead connection, and the next pass may be long.
                del end
        except PROGRAMMING_ERRORS as error:
            self._health.gave_up()
            report(error)
            raise
        finally:
            self.state = ReflectorState.STOPPED

    async def one_pass(self) -> PassEnd:
        """Fill the sink, then watch, until something makes a new list necessary."""
        watch: OpenWatch[T] | None = None
        try:
            if self._streaming:
                watch = await self._fill_by_watch_list()
            if watch is None:
                failure = await self._fill_by_list()
                if failure is not None:
                    return PassEnd(failure, reported=True)
            if not self.resync_every:
                return await self._watch_until_relist(watch)
            return await self._watch_beside_resync(watch)
        finally:
            self.state = ReflectorState.STOPPED
            if watch is not None:
                await watch.close()

    def _may_list_at_once(self, cause: Exception | None) -> bool:
        return not is_expired(cause) or self._expiries.may_list_at_once(self._clock.monotonic())

    async def _back_off(self, error: Exception | None) -> None:
        self.state = ReflectorState.BACKING_OFF
        await self._backoff.wait(error)

    # Filling

    async def _fill_by_watch_list(self) -> OpenWatch[T] | None:
        """Fill the sink from a stream, and hand that on to be watched; None when a list must do."""
        attempts = WatchListAttempts()
        while True:
            self.state = ReflectorState.WATCH_LIST
            version = self._cursor.watch_list_version
            attempt = await self._stream_list(version)
            if attempt.error is not None:
                self._health.failed(attempt.ending, attempt.error)
            step = attempts.after(attempt.ending, newest=version == NEWEST)
            match step:
                case WatchListStep.WATCH:
                    return attempt.watch
                case WatchListStep.REPEAT:
                    pass
                case WatchListStep.WAIT_THEN_REPEAT:
                    await self._back_off(attempt.error)
                case WatchListStep.REPEAT_WITHOUT_VERSION:
                    self._cursor.forget()
                case WatchListStep.LIST:
                    expected = self._health.is_expected(attempt.error)
                    logger.log(
                        logging.DEBUG if expected else logging.INFO,
                        "%s: no WatchList (%s: %s), listing",
                        self._name,
                        attempt.ending,
                        attempt.error,
                    )
                    return None
                case _:
                    assert_never(step)

    async def _stream_list(self, version: str) -> _StreamEnd[T]:
        """One attempt at a WatchList."""
        try:
            watch = await self._requests.watch(version, initial_events=True)
        except PROGRAMMING_ERRORS:
            raise
        except Exception as error:  # noqa: BLE001 - a source may be anybody's; the table decides
            attempt: _StreamEnd[T] = _StreamEnd(ending_of_request(error), error)
            self._metrics.streamed_list(attempt.ending)
            return attempt
        items = 0
        kept = False
        try:
            initial = await read_initial_events(
                watch,
                accept=self._delivery.counted,
                progressed=self._health.progressed,
                name=self._name,
                clock=self._clock,
            )
            if initial is None:
                attempt = _StreamEnd(self._stream_ending(watch, None))
            else:
                self._cursor.streamed()
                self._delivery.replace(initial.items, initial.version, "watch-list")
                attempt = _StreamEnd(Ending.SYNCED, watch=watch)
                items = len(initial.items)
                kept = True
        except SinkFailed as error:
            attempt = _StreamEnd(Ending.SINK_FAILED, error)
        except PROGRAMMING_ERRORS:
            raise
        except Exception as error:  # noqa: BLE001 - a source may be anybody's; the table decides
            attempt = _StreamEnd(self._stream_ending(watch, error), error)
        finally:
            self._metrics.received(watch.new_bytes())
            if not kept:
                await watch.close()
        self._metrics.streamed_list(attempt.ending, items=items)
        return attempt

    def _stream_ending(self, watch: OpenWatch[T], error: Exception | None) -> Ending:
        lasted = self._clock.monotonic() - watch.since
        return ending_of_stream(error, lasted=lasted, events=watch.events)

    async def _fill_by_list(self) -> ListFailed | SinkFailed | None:
        """Fill the sink from a list; the answer is why it could not be done."""
        self.state = ReflectorState.LIST
        asked = version = self._cursor.list_version
        # Not chosen again for the second try: upstream lists without limit there too.
        page_size = self._cursor.page_size(asked)
        repeated = False
        while True:
            try:
                listed = await self._requests.list(version, page_size=page_size)
                break
            except PROGRAMMING_ERRORS:
                raise
            except Exception as error:  # noqa: BLE001 - a source may be anybody's
                ending = ending_of_request(error)
                self._metrics.listed(ending)
                self._health.failed(ending, error, refused=True)
                if AFTER_LIST[ending] is ListStep.REPEAT_WITHOUT_VERSION:
                    self._cursor.forget()
                    if not repeated:
                        repeated, version = True, NEWEST
                        continue
                failure = ListFailed(f"failed to list {self._description}: {error}")
                failure.__cause__ = error
                return failure
        self._cursor.listed(asked, paginated=listed.paginated)
        try:
            self._delivery.replace(listed.items, listed.version, "list")
        except SinkFailed as error:
            self._metrics.listed(Ending.SINK_FAILED)
            return error
        self._metrics.listed(Ending.SYNCED, items=len(listed.items))
        return None

    # Watching

    async def _watch_until_relist(self, watch: OpenWatch[T] | None) -> PassEnd:
        """Hand on what comes; *watch*, if there is one, is open already and belongs to this now."""
        internal_errors = RetryWithDeadline(self._internal_error_window)
        short_watches = ShortWatchGuard()
        if watch is not None:
            watch.since = self._clock.monotonic()  # what it brought before does not count here
        while True:
            if watch is None:
                self.state = ReflectorState.BETWEEN_WATCHES
                try:
                    watch = await self._requests.watch(self._cursor.last)
                except PROGRAMMING_ERRORS:
                    raise
                except Exception as error:  # noqa: BLE001 - a source may be anybody's
                    ending = ending_of_request(error)
                    self._metrics.watch_refused(ending)
                    self._health.failed(ending, error, refused=True)
                    refused = AFTER_WATCH_REQUEST[ending]
                    if refused is WatchStep.WAIT_THEN_REWATCH:
                        await self._back_off(error)
                        continue
                    at_once = refused is WatchStep.RELIST_AT_ONCE
                    return PassEnd(error, reported=True, at_once=at_once)
            opened_at = watch.opened_at
            watched = await self._follow(watch, internal_errors)
            watch = None
            step = AFTER_WATCH[watched.ending]
            if self._is_cheaper_to_list(watched):
                return PassEnd(watched.error, reported=False, at_once=True)
            match step:
                case WatchStep.REWATCH:
                    moved = self._cursor.last != opened_at
                    delay = short_watches.after(lasted=watched.lasted, moved=moved)
                    self.state = ReflectorState.BACKING_OFF
                    await self._backoff.wait_after_watch(delay, lasted=watched.lasted)
                case WatchStep.WAIT_THEN_REWATCH:
                    await self._back_off(watched.error)
                case WatchStep.RELIST_AT_ONCE:
                    return PassEnd(watched.error, reported=False, at_once=True)
                case WatchStep.WAIT_THEN_RELIST | WatchStep.REPORT_THEN_RELIST:
                    reported = step is WatchStep.REPORT_THEN_RELIST
                    return PassEnd(watched.error, reported=reported)
                case _:
                    assert_never(step)
            # Its error's traceback holds on to a dead connection, and the next watch is long.
            del watched

    def _is_cheaper_to_list(self, watched: _StreamEnd[T]) -> bool:
        """Whether a WatchList should follow a broken watch: it brings one object at most.

        A restarted server answers a watch from an old version with 410, always.  With thousands
        of streams that is half of what they ask of it in its first seconds.
        """
        return (
            watched.ending is Ending.BROKEN
            and watched.lasted >= SHORTEST_HONEST_WATCH  # else ShortWatchGuard decides
            and self._cursor.was_streamed
            and self._requests.is_of_one_object
        )

    async def _follow(
        self, watch: OpenWatch[T], internal_errors: RetryWithDeadline
    ) -> _StreamEnd[T]:
        """Hand on everything that one watch brings, and close it."""
        failure: Exception | None = None
        ending = Ending.STOPPED
        self.state = ReflectorState.WATCHING
        try:
            await self._read(watch)
            ending = Ending.CLOSED
        except PROGRAMMING_ERRORS:
            raise
        except Exception as error:  # noqa: BLE001 - a source may be anybody's; the table decides
            failure = error
            ending = Ending.FAILED
        finally:
            self.state = ReflectorState.BETWEEN_WATCHES
            now = self._clock.monotonic()
            lasted = now - watch.since
            if ending is not Ending.STOPPED:
                forgiven = internal_errors.forgives(failure, now)
                ending = ending_of_stream(
                    failure, lasted=lasted, events=watch.events, forgiven=forgiven
                )
            self._metrics.watch_ended(ending, lasted=lasted)
            await watch.close()
        if failure is not None:
            self._health.failed(ending, failure)
            if isinstance(failure, TransportError):
                self._requests.broke()
        self._log(ending, failure)
        return _StreamEnd(ending, failure, lasted)

    async def _read(self, watch: OpenWatch[T]) -> None:
        # The hot path: whatever is done here is done for every batch of every stream.
        next_batch, new_bytes = watch.next_batch, watch.new_bytes
        change = self._delivery.change
        received: Callable[[int], None] = self._metrics.received
        progressed = self._health.progressed
        in_a_row = 0
        while (events := await next_batch()) is not None:
            change(events, watch)
            received(new_bytes())
            progressed()
            # A stream that always has more never waits, and handlers would never get a turn.
            in_a_row += len(events)
            if in_a_row >= EVENTS_IN_A_ROW:
                in_a_row = 0
                await asyncio.sleep(0)

    def _log(self, ending: Ending, error: Exception | None) -> None:
        if ending is Ending.TOO_SHORT:
            logger.warning(
                "very short watch: %s: Unexpected watch close - watch lasted less than a second "
                "and no items received",
                self._name,
            )
        elif error is not None:
            quiet = ending in {Ending.EXPIRED, Ending.SILENT}
            level = logging.DEBUG if quiet else self._health.level_of(error)
            message = "%s: watch of %s ended with: %s"
            logger.log(level, message, self._name, self._description, error)

    # Resyncing

    async def _watch_beside_resync(self, watch: OpenWatch[T] | None) -> PassEnd:
        end: PassEnd | None = None
        cause: Exception | None = None
        wrong: Exception | None = None
        try:
            async with asyncio.TaskGroup() as tasks:
                resyncing = tasks.create_task(self._resync(), name=f"resync of {self._name}")
                try:
                    end = await self._watch_until_relist(watch)
                except PROGRAMMING_ERRORS as error:
                    wrong = error  # raised below as it is, and not in a group
                resyncing.cancel()
        except* SinkFailed as failures:
            cause = failures
        if wrong is not None:
            raise wrong
        if end is not None:
            return end
        reported = AFTER_WATCH[Ending.SINK_FAILED] is WatchStep.REPORT_THEN_RELIST
        return PassEnd(cause, reported=reported)

    async def _resync(self) -> None:
        while True:
            await self._clock.sleep(self.resync_every)
            if self._is_due():
                self._delivery.resync()

    def _is_due(self) -> bool:
        try:
            return self._should_resync is None or self._should_resync()
        except Exception as error:
            logger.exception("%s: should_resync failed", self._name)
            raise SinkFailed(f"should_resync failed: {error}") from error
