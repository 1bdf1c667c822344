"""The beginning of a pass: the sink gets the whole collection.

Owns: obeying the tables of ``watch_endings`` for streaming lists and lists.  Must not know what
is done with the stream that a streaming list leaves open.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Generic, TypeVar, assert_never

from reflet.api.meta import KubernetesObject
from reflet.errors import RefletError
from reflet.informer.reflector.delays import Patience
from reflet.informer.reflector.endings import (
    AFTER_LIST,
    PROGRAMMING_ERRORS,
    Ending,
    ListStep,
    StreamingAttempts,
    StreamingStep,
    ending_of_request,
    ending_of_stream,
)
from reflet.informer.reflector.health import Liveness
from reflet.informer.reflector.open_watch import OpenWatch
from reflet.informer.reflector.progress import Delivery, SyncFailed
from reflet.informer.reflector.reflector_metrics import ReflectorMetrics
from reflet.informer.reflector.requests import ReflectorRequests
from reflet.informer.reflector.versions import NEWEST, VersionCursor
from reflet.informer.reflector.watch_list import read_initial_events
from reflet.runtime.clock import Clock

T = TypeVar("T", bound=KubernetesObject)

logger = logging.getLogger(__name__)


class ListFailed(RefletError):
    """The collection could not be listed; ``__cause__`` is why."""


@dataclass(frozen=True, slots=True)
class _Attempt(Generic[T]):
    """How one streaming list ended; *watch* is open when it succeeded."""

    ending: Ending
    error: Exception | None = None
    watch: OpenWatch[T] | None = None


class Filling(Generic[T]):
    """Fills a sink, by a stream or by a list."""

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

    async def by_stream(self) -> OpenWatch[T] | None:
        """Fill the sink from a stream, and hand that on to be watched; None when a list must do."""
        attempts = StreamingAttempts()
        while True:
            version = self._cursor.streaming_list_version
            attempt = await self._attempt(version)
            if attempt.error is not None:
                self._liveness.failed(attempt.ending, attempt.error)
            step = attempts.after(attempt.ending, newest=version == NEWEST)
            match step:
                case StreamingStep.WATCH:
                    return attempt.watch
                case StreamingStep.REPEAT:
                    pass
                case StreamingStep.WAIT_THEN_REPEAT:
                    await self._patience.wait(attempt.error)
                case StreamingStep.REPEAT_WITHOUT_VERSION:
                    self._cursor.forget()
                case StreamingStep.LIST:
                    expected = self._liveness.is_expected(attempt.error)
                    logger.log(
                        logging.DEBUG if expected else logging.INFO,
                        "%s: no streaming list (%s: %s), listing",
                        self._name,
                        attempt.ending,
                        attempt.error,
                    )
                    return None
                case _:
                    assert_never(step)

    async def by_list(self) -> ListFailed | SyncFailed | None:
        """Fill the sink from a list; the answer is why it could not be done."""
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
                self._liveness.failed(ending, error, refused=True)
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
        except SyncFailed as error:
            self._metrics.listed(Ending.SINK_FAILED)
            return error
        self._metrics.listed(Ending.SYNCED, items=len(listed.items))
        return None

    async def _attempt(self, version: str) -> _Attempt[T]:
        try:
            watch = await self._requests.watch(version, initial_events=True)
        except PROGRAMMING_ERRORS:
            raise
        except Exception as error:  # noqa: BLE001 - a source may be anybody's; the table decides
            attempt: _Attempt[T] = _Attempt(ending_of_request(error), error)
            self._metrics.streamed_list(attempt.ending)
            return attempt
        items = 0
        kept = False
        try:
            initial = await read_initial_events(
                watch,
                accept=self._delivery.counted,
                progressed=self._liveness.progressed,
                name=self._name,
                clock=self._clock,
            )
            if initial is None:
                attempt = _Attempt(self._stream_ending(watch, None))
            else:
                self._cursor.streamed()
                self._delivery.replace(initial.items, initial.version, "watch-list")
                attempt = _Attempt(Ending.SYNCED, None, watch)
                items = len(initial.items)
                kept = True
        except SyncFailed as error:
            attempt = _Attempt(Ending.SINK_FAILED, error)
        except PROGRAMMING_ERRORS:
            raise
        except Exception as error:  # noqa: BLE001 - a source may be anybody's; the table decides
            attempt = _Attempt(self._stream_ending(watch, error), error)
        finally:
            self._metrics.received(watch.new_bytes())
            if not kept:
                await watch.close()
        self._metrics.streamed_list(attempt.ending, items=items)
        return attempt

    def _stream_ending(self, watch: OpenWatch[T], error: Exception | None) -> Ending:
        lasted = self._clock.monotonic() - watch.since
        return ending_of_stream(error, lasted=lasted, events=watch.events)
