"""Keeps a sink equal to a remote collection: the reflector as programs meet it.

``Reflector`` has the options, the state that may be read, ``run`` and ``check_consistency``.  The
work is done by ``loop`` and what stands around it.

Upstream: client-go/tools/cache/reflector.go, Reflector;
client-go/tools/cache/reflector_data_consistency_detector.go
"""

from __future__ import annotations

import logging
import random
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Generic, Protocol, TypeVar

from reflet.api.meta import KubernetesObject
from reflet.api.selectors.fields import FieldSelector
from reflet.api.selectors.labels import LabelSelector
from reflet.api.status import is_expired
from reflet.errors import ConfigurationError
from reflet.informer.reflector.delivery import Delivery
from reflet.informer.reflector.endings import ReflectorState
from reflet.informer.reflector.health import ServerHealth
from reflet.informer.reflector.loop import ListAndWatch
from reflet.informer.reflector.reflector_metrics import ReflectorMetrics
from reflet.informer.reflector.requests import (
    SHORTEST_WATCH_TIMEOUT,
    ReflectorRequests,
    Selection,
)
from reflet.informer.reflector.retries import DelayHandler
from reflet.informer.reflector.source import Source
from reflet.informer.reflector.versions import NEWEST, WHATEVER_IS_CACHED, VersionCursor
from reflet.runtime.backoff import Backoff
from reflet.runtime.clock import Clock, SystemClock
from reflet.runtime.latch import Latch
from reflet.runtime.metrics import NO_METRICS, Metrics
from reflet.store.deltas import Sink
from reflet.store.keys import key_of

T = TypeVar("T", bound=KubernetesObject)
T_co = TypeVar("T_co", bound=KubernetesObject, covariant=True)

WATCH_SILENCE: Final = 900.0
"""Seconds that a stream may bring nothing; then it is opened again, in case nobody is there.

A last resort, since silence is no fault: kinds that are not in the watch cache (Events) get no
bookmarks at all, and a WatchList gets one only when something was written after it began.  Dead
connections are found by the connection itself, within a minute.
"""

logger = logging.getLogger(__name__)


class Held(Protocol[T_co]):
    """What can be compared with the server: a store, for one."""

    def snapshot(self) -> tuple[Mapping[str, T_co], str]:
        """Everything by key, and the server's version that this shows."""
        ...


@dataclass(frozen=True, slots=True)
class Consistency:
    """What a comparison at *version* found; each part is sorted keys."""

    version: str
    missing: tuple[str, ...] = ()
    """The server had these, and they are not held."""
    surplus: tuple[str, ...] = ()
    """These are held, and the server did not have them."""
    different: tuple[str, ...] = ()
    """Both have these, not in the same state."""

    def __bool__(self) -> bool:
        return not (self.missing or self.surplus or self.different)


class Reflector(Generic[T]):
    """Mirrors the collection of *source* into *sink* until it is cancelled.

    Whatever breaks, it waits, resumes or lists again by the tables of ``endings``; once
    the server serves again, the sink equals it.  For a server that cannot be reached it waits at
    the gate of its source, together with all others that use the connection.  Events reach the
    sink in the server's order, in the batches in which they arrived.  A sink that fails to take
    events is reported, and the rest goes on.

    *name* is for logs; *resource* is the label of metrics and must have few values, *name* if
    it is not given; *description* is the word for the objects in errors.

    *expected_kind* is ``(apiVersion, kind)``: events with other objects are skipped.  It costs
    time for each event, so leave it out where the source decodes into one class: there nothing
    else can come.

    *resync_every* seconds, if *should_resync* says so, the sink gets ``Resynced`` beside the watch;
    0 never.  *minimum_watch_timeout* below five minutes counts as five minutes; each watch asks for
    a random time from it to twice as long.  *silence* is how long a stream may bring nothing.
    *page_size* 0 lets the rules of versions decide.  For *internal_error_window* seconds the
    server's internal errors do not lead to a new list.  ``streaming=False`` never asks for
    WatchLists.

    *on_error* is called with every error that ends a pass; without it they are logged.
    *on_connection* is called with an error when the server is lost and with None when it is
    back.  *expected_errors* are kinds of refusals that the caller has an answer to; they are
    logged for debugging only.  *held* is what ``check_consistency`` compares, the store behind
    *sink*.  *since* is a version that is known already: the first state is asked to be at least
    that new.  *awaited* says whether somebody waits for the objects right now: such reflectors
    are served first when the server comes back.

    ``synced`` is set once the sink has taken the collection for the first time (HasSynced).
    ``run`` may be cancelled and called again: it goes on from the last version.  Nothing is asked
    before ``run``.  Belongs to one event loop; ``state``, ``last_version``, ``connected``,
    ``last_progress`` and ``is_live`` may be read anywhere.
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
        self._on_error = on_error
        self._held = held
        clock = clock or SystemClock()
        numbers = ReflectorMetrics(metrics, resource or name)
        self._cursor = VersionCursor(page_size=page_size)
        self._cursor.synced(since)
        self._health = ServerHealth(
            name,
            clock=clock,
            metrics=numbers,
            on_connection=on_connection,
            expected_errors=expected_errors,
            has_gate=getattr(source, "gate", None) is not None,
        )
        self._delivery = Delivery(
            sink, self._cursor, numbers, name=name, expected_kind=expected_kind
        )
        self._requests = ReflectorRequests(
            source,
            Selection(label_selector, field_selector, minimum_watch_timeout, silence),
            description=self._description,
            clock=clock,
            chance=chance,
            health=self._health,
            awaited=awaited,
        )
        self._loop = ListAndWatch(
            self._requests,
            self._delivery,
            self._cursor,
            backoff=DelayHandler(clock, numbers, backoff=backoff, chance=chance),
            health=self._health,
            metrics=numbers,
            clock=clock,
            name=name,
            description=self._description,
            streaming=streaming,
            internal_error_window=internal_error_window,
            resync_every=resync_every,
            should_resync=should_resync,
        )

    def __repr__(self) -> str:
        return f"<Reflector {self.name} at {self.last_version!r}>"

    # State

    @property
    def state(self) -> ReflectorState:
        """What it is doing."""
        return self._loop.state

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
        return self._health.connected

    @property
    def last_progress(self) -> float | None:
        """When something last came from the server, on the clock's stopwatch; None before."""
        return self._health.last_progress

    def is_live(self, within: float) -> bool:
        """Whether the server is known to have been there within the last *within* seconds.

        A watch that is open proves it for 60 seconds and more: by then a dead connection would
        have ended it.  Below that, something must have come.
        """
        is_watching = self._loop.state is ReflectorState.WATCHING
        return self._health.is_live(within, is_watching=is_watching)

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

    # Running

    def set_resync_period(self, every: float) -> None:
        """Give the sink ``Resynced`` that often, in seconds; from the next pass on.

        - *every*: seconds; 0 is never
        """
        self._loop.resync_every = every

    async def run(self) -> None:
        """Mirror until cancelled.

        Raises the error of a source that is wrong as a program (``PROGRAMMING_ERRORS``): no
        retry would fix it.
        """
        await self._loop.run(self._report)

    async def list_and_watch(self) -> None:
        """Mirror until something makes a new list necessary: one pass of ``run``.

        Raises what ``run`` would report.
        """
        end = await self._loop.one_pass()
        if end.reported and end.cause is not None:
            raise end.cause

    def _report(self, error: Exception) -> None:
        if self._on_error is None:
            log_failure(self.name, self._description, error)
            return
        try:
            self._on_error(error)
        except Exception:
            logger.exception("%s: the error handler failed", self.name)


def compare(
    held: Mapping[str, T],
    listed: Iterable[T],
    version: str,
    transform: Callable[[T], T] | None = None,
) -> Consistency:
    """Compare what is held with what the server listed at the same version.

    *transform* is what was done to the objects that are held; those that it cannot digest are
    rightly not held.

    - *held*: the objects that are held, by key
    - *listed*: the objects that the server listed
    - *version*: the ``resourceVersion`` of the list
    """
    theirs = {}
    for item in listed:
        try:
            theirs[key_of(item)] = item if transform is None else transform(item)
        except Exception:  # noqa: BLE001, S112 - code of others; logged when the object came
            continue
    return Consistency(
        version,
        missing=tuple(sorted(theirs.keys() - held.keys())),
        surplus=tuple(sorted(held.keys() - theirs.keys())),
        different=tuple(
            sorted(key for key in theirs.keys() & held.keys() if theirs[key] != held[key])
        ),
    )


def log_failure(name: str, description: str, error: Exception) -> None:
    """What becomes of an error that ends a pass where nobody asked to be told."""
    level = logging.DEBUG if is_expired(error) else logging.ERROR
    logger.log(level, "%s: Failed to watch %s: %s", name, description, error)
