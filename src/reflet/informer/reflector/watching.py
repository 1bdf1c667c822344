"""The rest of a pass: watch, and watch again, until only a new list helps.

Owns: obeying the tables of ``watch_endings`` for watches.  Must not know how the sink was
filled before, nor when a new pass begins.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Generic, TypeVar, assert_never

from reflet.api.meta import KubernetesObject
from reflet.api.status import is_internal_error
from reflet.errors import TransportError
from reflet.informer.reflector.delays import Pacing, Patience, Pause, RetryWindow
from reflet.informer.reflector.endings import (
    AFTER_WATCH,
    AFTER_WATCH_REQUEST,
    PROGRAMMING_ERRORS,
    SHORTEST_HONEST_WATCH,
    Ending,
    WatchStep,
    ending_of_request,
    ending_of_stream,
)
from reflet.informer.reflector.health import Liveness
from reflet.informer.reflector.open_watch import OpenWatch
from reflet.informer.reflector.progress import Delivery
from reflet.informer.reflector.reflector_metrics import ReflectorMetrics
from reflet.informer.reflector.requests import ReflectorRequests
from reflet.informer.reflector.versions import VersionCursor
from reflet.runtime.clock import Clock

T = TypeVar("T", bound=KubernetesObject)

EVENTS_IN_A_ROW: Final = 512
"""Events of one stream that are handed on before everybody else gets a turn."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class PassEnd:
    """Why a pass is over, whether its error is told outside, and whether the next may begin."""

    cause: Exception | None
    reported: bool
    at_once: bool = False


@dataclass(frozen=True, slots=True)
class _Followed:
    """How one watch ended, and how long it lasted, in seconds."""

    ending: Ending
    error: Exception | None
    lasted: float


class Watching(Generic[T]):
    """Follows a collection from the cursor's version on."""

    def __init__(
        self,
        requests: ReflectorRequests[T],
        delivery: Delivery[T],
        cursor: VersionCursor,
        *,
        patience: Patience,
        liveness: Liveness,
        metrics: ReflectorMetrics,
        clock: Clock,
        name: str,
        description: str,
        internal_error_window: float,
    ) -> None:
        self._requests = requests
        self._delivery = delivery
        self._cursor = cursor
        self._patience = patience
        self._liveness = liveness
        self._metrics = metrics
        self._clock = clock
        self._name = name
        self._description = description
        self._internal_error_window = internal_error_window

    async def until_a_new_list_is_needed(self, watch: OpenWatch[T] | None) -> PassEnd:
        """Hand on what comes; *watch*, if there is one, is open already and belongs to this now."""
        window = RetryWindow(self._internal_error_window)
        pacing = Pacing()
        if watch is not None:
            watch.since = self._clock.monotonic()  # what it brought before does not count here
        while True:
            if watch is None:
                try:
                    watch = await self._requests.watch(self._cursor.last)
                except PROGRAMMING_ERRORS:
                    raise
                except Exception as error:  # noqa: BLE001 - a source may be anybody's
                    ending = ending_of_request(error)
                    self._metrics.watch_refused(ending)
                    self._liveness.failed(ending, error, refused=True)
                    refused = AFTER_WATCH_REQUEST[ending]
                    if refused is WatchStep.WAIT_THEN_REWATCH:
                        await self._patience.wait(error)
                        continue
                    at_once = refused is WatchStep.RELIST_AT_ONCE
                    return PassEnd(error, reported=True, at_once=at_once)
            opened_at = watch.opened_at
            followed = await self._follow(watch, window)
            watch = None
            step = AFTER_WATCH[followed.ending]
            if self._is_cheaper_to_list(followed):
                return PassEnd(followed.error, reported=False, at_once=True)
            match step:
                case WatchStep.REWATCH:
                    moved = self._cursor.last != opened_at
                    pause = pacing.after(lasted=followed.lasted, moved=moved)
                    await self._keep_pace(pause, followed.lasted)
                case WatchStep.WAIT_THEN_REWATCH:
                    await self._patience.wait(followed.error)
                case WatchStep.RELIST_AT_ONCE:
                    return PassEnd(followed.error, reported=False, at_once=True)
                case WatchStep.WAIT_THEN_RELIST | WatchStep.REPORT_THEN_RELIST:
                    reported = step is WatchStep.REPORT_THEN_RELIST
                    return PassEnd(followed.error, reported=reported)
                case _:
                    assert_never(step)
            # Its error's traceback holds on to a dead connection, and the next watch is long.
            del followed

    def _is_cheaper_to_list(self, followed: _Followed) -> bool:
        """Whether a WatchList should follow a broken watch: it brings one object at most.

        A restarted server answers a watch from an old version with 410, always.  With thousands
        of streams that is half of what they ask of it in its first seconds.
        """
        return (
            followed.ending is Ending.BROKEN
            and followed.lasted >= SHORTEST_HONEST_WATCH  # else Pacing decides
            and self._cursor.was_streamed
            and self._requests.is_of_one_object
        )

    async def _keep_pace(self, pause: Pause, lasted: float) -> None:
        match pause:
            case Pause.NONE:
                pass
            case Pause.REST_OF_A_SECOND:
                await self._clock.sleep(SHORTEST_HONEST_WATCH - lasted)
            case Pause.BACKOFF:
                await self._patience.wait()
            case _:
                assert_never(pause)

    async def _follow(self, watch: OpenWatch[T], window: RetryWindow) -> _Followed:
        """Hand on everything that one watch brings, and close it."""
        failure: Exception | None = None
        ending = Ending.STOPPED
        self._liveness.is_watching = True
        try:
            await self._read(watch)
            ending = Ending.CLOSED
        except PROGRAMMING_ERRORS:
            raise
        except Exception as error:  # noqa: BLE001 - a source may be anybody's; the table decides
            failure = error
            ending = Ending.FAILED
        finally:
            self._liveness.is_watching = False
            now = self._clock.monotonic()
            lasted = now - watch.since
            if ending is not Ending.STOPPED:
                forgiven = _is_forgiven(failure, window, now)
                ending = ending_of_stream(
                    failure, lasted=lasted, events=watch.events, forgiven=forgiven
                )
            self._metrics.watch_ended(ending, lasted=lasted)
            await watch.close()
        if failure is not None:
            self._liveness.failed(ending, failure)
            if isinstance(failure, TransportError):
                self._requests.broke()
        self._log(ending, failure)
        return _Followed(ending, failure, lasted)

    async def _read(self, watch: OpenWatch[T]) -> None:
        # The hot path: whatever is done here is done for every batch of every stream.
        next_batch, new_bytes = watch.next_batch, watch.new_bytes
        change = self._delivery.change
        received: Callable[[int], None] = self._metrics.received
        progressed = self._liveness.progressed
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
            level = logging.DEBUG if quiet else self._liveness.level_of(error)
            message = "%s: watch of %s ended with: %s"
            logger.log(level, message, self._name, self._description, error)


def _is_forgiven(error: Exception | None, window: RetryWindow, now: float) -> bool:
    if not is_internal_error(error):
        return False
    window.failed(now)
    return window.is_open(now)
