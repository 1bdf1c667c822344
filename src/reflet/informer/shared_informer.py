"""One watch and one store for many handlers, and the errors of informers.

client-go calls it SharedIndexInformer: the store is its Indexer, ``synced`` its HasSynced.  Here
is the life of an informer and who is connected to whom; the watch is the reflector's, the way
into the store the updater's, and who is told the handler set's.

Upstream: client-go/tools/cache/shared_informer.go, sharedIndexInformer
"""

from __future__ import annotations

import asyncio
import enum
from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from functools import partial
from typing import Any, Generic, Self, TypeAlias, TypeVar, Unpack, get_args

from reflet.api.meta import KubernetesObject
from reflet.api.selectors.fields import FieldSelector
from reflet.api.selectors.labels import LabelSelector
from reflet.errors import MisuseError, RefletError
from reflet.informer.handlers.change_stream import ChangeStream
from reflet.informer.handlers.changes import Change, Handler
from reflet.informer.handlers.handler_queue import BACKLOG_LIMIT
from reflet.informer.handlers.handler_set import HandlerSet
from reflet.informer.handlers.registration import Registration
from reflet.informer.namespace_parts import Part, oldest, sources_by_namespace
from reflet.informer.options import QueueKind, ReflectorOptions
from reflet.informer.process_deltas import Intake, KeyedIntake, OrderedIntake, Updater
from reflet.informer.reflector.endings import PROGRAMMING_ERRORS
from reflet.informer.reflector.loop import ListFailed
from reflet.informer.reflector.reflector import Reflector, log_failure
from reflet.informer.reflector.source import Source
from reflet.runtime.clock import Clock, SystemClock
from reflet.runtime.latch import Latch
from reflet.runtime.metrics import NO_METRICS, Metrics, guarded
from reflet.runtime.tasks import Failure, TaskOwner
from reflet.runtime.waits import Arrivals
from reflet.store.deltas import Delta, Replaced
from reflet.store.indexes import IndexFunction
from reflet.store.lister import Lister
from reflet.store.store import Store
from reflet.store.transforms import Transform, Transforming

T = TypeVar("T", bound=KubernetesObject)

Errors: TypeAlias = type[Exception] | tuple[type[Exception], ...]
"""Kinds of errors, as ``except`` takes them."""


class InformerStopped(RefletError):
    """The informer has stopped, and an informer lives once."""


class InformerStarted(RefletError):
    """The informer runs already, so this setting comes too late."""


class NotSynced(RefletError, TimeoutError):
    """The present state did not arrive in time; ``names`` are the informers that still wait.

    ``__cause__`` is why, Forbidden for one, where that is known; of several informers it is that
    of the first.

    - *waiting*: for each informer that waits, by name, its last error or None
    - *timeout*: seconds that were waited
    """

    def __init__(self, waiting: Mapping[str, Exception | None], timeout: float | None) -> None:
        self.names = tuple(waiting)
        self.timeout = timeout
        after = "" if timeout is None else f" after {timeout:g} s"
        whom = ", ".join(
            name if why is None else f"{name} ({why})" for name, why in waiting.items()
        )
        super().__init__(f"not synced{after}: {whom}")
        self.__cause__ = next((why for why in waiting.values() if why is not None), None)


class _Life(enum.Enum):
    NEW = enum.auto()
    RUNNING = enum.auto()
    STOPPED = enum.auto()


class SharedInformer(Generic[T]):
    """Keeps a store equal to a collection on the server, and calls handlers with what changes.

    ::

        informer = SharedInformer(client.resource(ConfigMap, namespace="shop"), name="configmaps")
        informer.add_handler(print)
        async with informer:
            await informer.wait_synced(timeout=10)
            settings = informer.store.get("shop/settings")

    One watch serves every handler.  A handler that joins late gets the present state first.
    Handlers never hold back the store or each other; what waits for a slow one is bounded (see
    ``Backlog``).  The store changes first, so a handler that reads it sees at least what it was
    called with.  Readers and handlers get the same objects, as *transform* made them.  An object
    that an index function cannot digest is left out of that index; one that *transform* cannot
    digest is left out of the store, and, if it was there, reported as a stale deletion, until a
    version comes that can be digested.  An informer lives once; leaving the context stops the
    watch, then the handlers, and what still waits for them is dropped.

    *queue* is the order in which deltas reach the store.  With ``"ordered"`` it is the server's:
    a list is one change of the store, and so is each batch of events.  With ``"delta-fifo"``
    they go through a ``DeltaFifo``, as they did in Kubernetes before 1.36: what arrived together
    is taken key by key, a list object by object, and a deletion of an unknown object is dropped.
    Both end in the same state.  The deltas are in the store before ``apply`` returns
    either way; use an ``OrderedQueue`` for a queue between two tasks.

    A mapping as *source*, from namespaces to where their objects come from, makes one informer of
    several namespaces: one store, one order for each handler, and a watch for each namespace.  It
    is synced when all are, and a namespace that is refused holds back no other.
    ``store.version`` is then that of the last change in any of them.

    *resync_every* is how often, in seconds, handlers get everything again, unless they ask for
    another period; 0 is never, for all of them.  *resource* is the label of metrics, *name* if it
    is not given.  The other options, *reflector_options* among them, are described in
    ``reflet.informer.options``.  Nothing is asked before the start.  Everything but ``store``
    belongs to the event loop that runs the informer.
    """

    def __init__(
        self,
        source: Source[T] | Mapping[str, Source[T]],
        *,
        name: str,
        resource: str | None = None,
        label_selector: LabelSelector | str = "",
        field_selector: FieldSelector | str = "",
        indexers: Mapping[str, IndexFunction[T]] | None = None,
        transform: Transform[T] | None = None,
        queue: QueueKind = "ordered",
        resync_every: float = 0.0,
        backlog_limit: int = BACKLOG_LIMIT,
        on_error: Callable[[Exception], None] | None = None,
        on_connection: Callable[[Exception | None], None] | None = None,
        clock: Clock | None = None,
        metrics: Metrics = NO_METRICS,
        **reflector_options: Unpack[ReflectorOptions],
    ) -> None:
        self.name = name
        self._metrics = guarded(metrics)
        self._resource = resource or name
        self.store: Store[T] = Store(
            indexers=indexers, resource=self._resource, metrics=self._metrics
        )
        self.synced = Latch()
        self._on_error = on_error
        self._on_connection = on_connection
        self._clock = clock = clock or SystemClock()
        self._backlog_limit = backlog_limit
        self._handlers: HandlerSet[T] = HandlerSet(resync_every)
        self._queue = queue
        self._intake = self._made_intake(transform)
        self._called_later: list[Registration[T]] = []  # handlers that joined before the start
        self._tasks = TaskOwner(f"informer {name}")
        self._watching: list[asyncio.Task[None]] = []
        self._life = _Life.NEW
        self._news = Arrivals()  # of being synced, of stopping, of failures
        plan = self._handlers.plan
        self._parts: list[Part[T]] = []
        self._lost: set[Part[T]] = set()  # whose server is away
        self._reflectors: list[Reflector[T]] = []
        for namespace, each in sources_by_namespace(source, queue).items():
            part: Part[T] = Part(namespace, self.store, self._take)
            reflector: Reflector[T] = Reflector(
                each,
                part,
                name=name if namespace is None else f"{self._resource} in {namespace}",
                resource=self._resource,
                label_selector=label_selector,
                field_selector=field_selector,
                clock=clock,
                metrics=self._metrics,
                should_resync=lambda: plan.check(clock.monotonic()),
                on_error=partial(self._failed, part),
                on_connection=partial(self._connection_changed, part),
                held=part,
                **reflector_options,
            )
            self._parts.append(part)
            self._reflectors.append(reflector)

    def __repr__(self) -> str:
        return f"<SharedInformer {self.name}, {len(self.store)} objects at {self.last_version!r}>"

    # Life

    async def __aenter__(self) -> Self:
        if self.is_started:
            raise InformerStarted(f"informer {self.name} was started before; it lives once")
        self._life = _Life.RUNNING
        # Not before: handlers that join until now may shorten the period.
        # The first one for all: a resync is the store's, not a namespace's.
        self._reflectors[0].set_resync_period(self._handlers.plan.check_every)
        await self._tasks.__aenter__()
        for registration in self._called_later:
            self._start(registration)
        self._called_later.clear()
        self._watching = [
            self._tasks.start(each.run(), name=f"reflector {each.name}")
            for each in self._reflectors
        ]
        return self

    async def __aexit__(self, *failure: *Failure) -> None:
        try:
            for watching in self._watching:
                await self._tasks.stop(watching)
        finally:
            self._life = _Life.STOPPED
            self._news.wake()
            for registration in self._handlers:
                registration.stop()
            await self._tasks.__aexit__(*failure)

    async def run(self) -> None:
        """Run until cancelled."""
        async with self:
            await asyncio.wait(self._watching, return_when=asyncio.FIRST_COMPLETED)

    async def watching_ended(self) -> None:
        """Return when a watch has ended for good; raise the error that ended it, if one did.

        No error of the server does, only one of the program: see ``Reflector.run``.
        """
        if not self._watching:
            raise MisuseError(f"informer {self.name} was not started")
        ended, _ = await asyncio.wait(self._watching, return_when=asyncio.FIRST_COMPLETED)
        for watching in ended:
            if not watching.cancelled():
                watching.result()

    def _made_intake(self, transform: Transform[T] | None) -> Intake[T]:
        if self._queue not in get_args(QueueKind):
            raise ValueError(f"queue is 'ordered' or 'delta-fifo', not {self._queue!r}")
        updater = Updater(self.store, self._handlers.tell)
        if self._queue == "ordered":
            self.store.set_transform(transform)
            return OrderedIntake(updater)
        keyed = Transforming.of(transform, resource=self._resource, metrics=self._metrics)
        return KeyedIntake(updater, self.store, keyed)

    # State

    @property
    def is_started(self) -> bool:
        """Whether it runs, or has run."""
        return self._life is not _Life.NEW

    @property
    def is_stopped(self) -> bool:
        """Whether it has lived."""
        return self._life is _Life.STOPPED

    @property
    def last_version(self) -> str:
        """The version up to which everything is known; empty before that."""
        return oldest([each.last_version for each in self._reflectors])

    @property
    def reflector(self) -> Reflector[T]:
        """What keeps the store fresh: its state, its progress, the server's health.

        MisuseError where there are several: see ``reflectors``.
        """
        if len(self._reflectors) > 1:
            raise MisuseError(f"informer {self.name} has several reflectors: see reflectors")
        return self._reflectors[0]

    @property
    def reflectors(self) -> tuple[Reflector[T], ...]:
        """The same, one for each namespace where there are several."""
        return tuple(self._reflectors)

    def lister(self, resource: str = "", *, group: str = "") -> Lister[T]:
        """A read-only view of the store; errors call its objects *resource*, of *group*."""
        return Lister(self.store, resource or self.name, group=group)

    @property
    def failure(self) -> Exception | None:
        """Why it is not synced yet, as far as is known; None once it is."""
        return next((each.failure for each in self._parts if each.failure is not None), None)

    async def wait_synced(self, *, timeout: float | None = None, fail_on: Errors = ()) -> None:
        """Return once the store has been filled.

        Raises NotSynced, which is a TimeoutError and has the reason as its ``__cause__``, when it
        takes longer than *timeout* seconds, and InformerStopped when it will never be.  An error
        of *fail_on* is raised as soon as the reflector meets it, and so is one of a program that
        is wrong, which ends the reflector.
        """
        try:
            async with asyncio.timeout(timeout) as limit:
                while not self.synced.is_set:
                    if self.is_stopped:
                        raise InformerStopped(f"informer {self.name} stopped before it was synced")
                    for part in self._parts:
                        if isinstance(part.failure, (PROGRAMMING_ERRORS, fail_on)):
                            raise part.failure
                    await self._news.wait()
        except TimeoutError:
            if not limit.expired():
                raise  # an error of fail_on
            raise NotSynced({self.name: self.failure}, timeout) from self.failure

    # Settings

    def add_indexers(self, indexers: Mapping[str, IndexFunction[T]]) -> None:
        """Add indexes, before or while it runs."""
        if self.is_stopped:
            raise InformerStopped("indexer was not added because it has stopped already")
        self.store.add_indexers(indexers)

    def set_transform(self, transform: Transform[T]) -> None:
        """Change objects before they are stored; only before the start."""
        self._refuse_when_started()
        self._intake = self._made_intake(transform)

    def set_error_handler(self, on_error: Callable[[Exception], None]) -> None:
        """Call *on_error* with every error that ends a list or a watch; only before the start."""
        self._refuse_when_started()
        self._on_error = on_error

    # Handlers

    def add_handler(
        self,
        handler: Handler[T],
        *,
        name: str = "",
        resync_every: float | None = None,
        executor: Executor | None = None,
    ) -> Registration[T]:
        """Call *handler* with every change from now on, the present state first.

        *resync_every* asks for everything again that often, in seconds: None as often as the
        informer says, 0 never.  A plain function runs on the event loop, or in *executor*.  *name*
        is for logs and metrics.
        """
        name = name or getattr(handler, "__qualname__", type(handler).__qualname__)
        if self.is_stopped:
            raise InformerStopped(
                f"handler {name} was not added to shared informer because it has stopped already"
            )
        registration, _ = self._registered(handler, name, resync_every, executor)
        if self.is_started:
            self._start(registration)
        else:
            self._called_later.append(registration)
        return registration

    def remove_handler(self, registration: Registration[T]) -> None:
        """Stop calling a handler; what waits for it is dropped.  Harmless when it is gone."""
        if not isinstance(registration, Registration):
            raise TypeError(f"invalid key type {type(registration).__name__}")
        self._handlers.leave(registration)

    def changes(
        self, *, name: str = "changes", resync_every: float | None = None
    ) -> ChangeStream[T]:
        """Iterate the changes, the present state first, until the loop is left.

        Objects that did not change come again only where *resync_every*, the informer's if it is
        None, asks for it.  *name* is for logs and metrics.
        """
        if self.is_stopped:
            raise InformerStopped(f"informer {self.name} has stopped already")
        registration, period = self._registered(_nobody, name, resync_every, None)
        return ChangeStream(registration, self._handlers.leave, only_changes=not period)

    def _registered(
        self, handler: Handler[T], name: str, resync_every: float | None, executor: Executor | None
    ) -> tuple[Registration[T], float]:
        """The registration, and how often it is told everything again."""
        registration = Registration(
            handler,
            name=name,
            clock=self._clock,
            metrics=self._metrics,
            executor=executor,
            backlog_limit=self._backlog_limit,
        )
        period = self._handlers.plan.join(
            registration, resync_every, started=self.is_started, now=self._clock.monotonic()
        )
        self._handlers.join(registration, self.store.objects())
        return registration, period

    def _start(self, registration: Registration[T]) -> None:
        self._tasks.start(registration.run(), name=f"handler {registration.name} of {self.name}")

    def _refuse_when_started(self) -> None:
        if self.is_started:
            raise InformerStarted("informer has already started")

    # From the reflector to the handlers

    def apply(self, delta: Delta[T], /) -> None:
        """Take what the reflector learned; of several, what the first one did."""
        self._parts[0].apply(delta)

    def _take(self, part: Part[T], delta: Delta[T]) -> None:
        """What a reflector learned of its part: the store first, then everybody."""
        self._intake.take(delta, initial=not self.synced.is_set)
        if isinstance(delta, Replaced):
            part.was_filled = True
            if all(each.was_filled for each in self._parts) and self.synced.set():
                self._handlers.initial_complete()
                for each in self._parts:
                    each.failure = None
                self._news.wake()

    def _failed(self, part: Part[T], error: Exception) -> None:
        """A pass of a reflector has failed, and another follows."""
        self._met(part, error)
        if self._on_error is None:
            log_failure(self.name, self._resource, error)
        else:
            self._on_error(error)

    def _connection_changed(self, part: Part[T], error: Exception | None) -> None:
        """The server is lost, or, None, back."""
        self._met(part, error)
        others = self._lost - {part}
        self._lost = others if error is None else {*others, part}
        if self._on_connection is not None and not others:
            self._on_connection(error)

    def _met(self, part: Part[T], error: Exception | None) -> None:
        # Later on nobody waits, and its traceback holds on to a dead connection.
        if not self.synced.is_set:
            cause = error.__cause__ if isinstance(error, ListFailed) else None
            part.failure = cause if isinstance(cause, Exception) else error
            self._news.wake()


def _nobody(change: Change[Any]) -> None:
    """Stands for the handler of a registration that is read instead."""
    raise AssertionError(f"nobody is to be told of {change.key}")
