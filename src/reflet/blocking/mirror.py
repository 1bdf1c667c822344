"""A collection in memory, for programs without an event loop.

The crossing to the loop for what has to wait, and the threads in which handlers run.  What a
mirror does and promises is said in ``reflet.informer.mirror``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from functools import partial
from types import TracebackType
from typing import Any, Final, Generic, Self, TypeVar

from reflet.api.meta import KubernetesObject
from reflet.api.resources import Resource
from reflet.api.selectors.labels import LabelSelector
from reflet.blocking.loop_thread import LoopThread, refuse_in_child
from reflet.informer.handlers.change_stream import ChangeStream
from reflet.informer.handlers.changes import Change, Handler
from reflet.informer.handlers.registration import Registration
from reflet.informer.mirror import SIGN_OF_LIFE, Mirror
from reflet.informer.queues.delta_fifo import QueueClosed
from reflet.informer.shared_informer import Errors

T = TypeVar("T", bound=KubernetesObject)
Result = TypeVar("Result")

MOST_HANDLER_THREADS: Final = 64
"""A handler uses one thread while it runs; more handlers than this wait for each other."""


class BlockingMirror(Generic[T]):
    """``Mirror``, waiting.

    ::

        with cluster.mirror("secrets", namespace="shop") as secrets:
            secrets.synced(timeout=10)
            password = secrets["database"].data["password"]

    Reads go straight to memory, from any thread.  Handlers run in threads of their own, each
    handler's calls one after the other, and may use this face.  Leaving the context stops them:
    it waits for calls that are under way, so leaving it from inside a handler is a MisuseError.

    In the child of a fork everything raises MisuseError, but ``is_live`` is False and leaving
    does nothing: open another there.

    - *mirror*: what runs on the event loop
    """

    def __init__(self, loop: LoopThread, mirror: Mirror[T]) -> None:
        self._loop = loop
        self._mirror = mirror
        # Has no thread before the first handler.
        self._threads = ThreadPoolExecutor(
            MOST_HANDLER_THREADS, thread_name_prefix=f"handlers of {mirror.informer.name}"
        )
        refuse_in_child(self, "_mirror", loop.fork_error)

    def __repr__(self) -> str:
        return f"<Blocking{repr(self._mirror)[1:]}"

    def __enter__(self) -> Self:
        self._loop.enter(self._mirror)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._loop.left_behind:
            return
        self._loop.refuse_in_call(self)
        try:
            self._loop.leave(self._mirror, error)
        finally:
            self._threads.shutdown()

    @property
    def asynchronous(self) -> Mirror[T]:
        """The mirror behind it, for parts that run on its event loop: ``owned`` and the others."""
        if self._loop.left_behind:
            raise self._loop.fork_error()
        return self._mirror

    # Waiting

    def synced(self, *, timeout: float | None = None, fail_on: Errors = ()) -> None:
        """Return once everything that is on the server is here; NotSynced when it takes longer.

        An error of *fail_on* is raised as soon as the server gives it.
        """
        self._loop.run(self._mirror.synced(timeout=timeout, fail_on=fail_on))

    # Reading

    @property
    def resource(self) -> Resource:
        """The resource that is mirrored."""
        return self._mirror.resource

    @property
    def namespace(self) -> str | None:
        """The namespace that is mirrored, None for all of them."""
        return self._mirror.namespace

    def get(self, name: str, namespace: str | None = None) -> T | None:
        """The object of that name, None when there is none."""
        return self._mirror.get(name, namespace)

    def __getitem__(self, name: str) -> T:
        return self._mirror[name]

    def __contains__(self, name: str) -> bool:
        return name in self._mirror

    def __len__(self) -> int:
        return len(self._mirror)

    def __iter__(self) -> Iterator[str]:
        """The names of one moment."""
        return iter(self._mirror)

    def keys(self) -> list[str]:
        """The name of every object; with its namespace where the mirror spans all of them."""
        return self._mirror.keys()

    def values(self) -> list[T]:
        """Every object of one moment."""
        return self._mirror.values()

    def items(self) -> list[tuple[str, T]]:
        """Every object of one moment, with its name."""
        return self._mirror.items()

    def by_index(self, name: str, value: str) -> list[T]:
        """The objects that have *value* in the index *name*."""
        return self._mirror.by_index(name, value)

    def list(self, selector: LabelSelector | str = "", namespace: str | None = None) -> list[T]:
        """The objects whose labels match, of one namespace or of all that are mirrored."""
        return self._mirror.list(selector, namespace)

    @property
    def last_version(self) -> str:
        """The server's version up to which everything is here; empty before anything is."""
        return self._mirror.last_version

    @property
    def is_synced(self) -> bool:
        """Whether everything that was on the server has been here once."""
        return self._mirror.is_synced

    def is_live(self, within: float = SIGN_OF_LIFE) -> bool:
        """Whether the server gave a sign of life within the last *within* seconds."""
        return not self._loop.closed and self._mirror.is_live(within)

    # Following

    def changes(self, *, resync_every: float | None = None) -> Iterator[Change[T]]:
        """Iterate what changes, the present state first, until the loop is left.

        Ends when the mirror is closed, from another thread for one.
        """
        stream = self._on_loop(lambda: self._mirror.changes(resync_every=resync_every))
        return self._iterated(stream)

    def _iterated(self, stream: ChangeStream[T]) -> Iterator[Change[T]]:
        try:
            while True:
                try:
                    changes = self._loop.run(_next_batch(stream))
                except QueueClosed:
                    return
                yield from changes
        finally:
            self._loop.tidy(_called(stream.close))

    def add_handler(
        self,
        handler: Handler[T],
        *,
        name: str = "",
        resync_every: float | None = None,
        executor: Executor | None = None,
    ) -> Registration[T]:
        """Call *handler* with every change from now on, the present state first.

        It runs in a thread of the mirror's own, or of *executor*; a coroutine function runs on
        the event loop.
        """
        threads = _HandlerThreads(self._loop, self, executor or self._threads)
        return self._on_loop(
            lambda: self._mirror.add_handler(
                handler, name=name, resync_every=resync_every, executor=threads
            )
        )

    def remove_handler(self, registration: Registration[T]) -> None:
        """Stop calling a handler; harmless when it is gone."""
        self._on_loop(lambda: self._mirror.remove_handler(registration))

    def _on_loop(self, function: Callable[[], Result]) -> Result:
        return self._loop.run(_called(function))


class _HandlerThreads(Executor):
    """The threads of *executor*, in calls for which the end of *mirror* waits."""

    def __init__(self, loop: LoopThread, mirror: object, executor: Executor) -> None:
        self._loop = loop
        self._mirror = mirror
        self._executor = executor

    def submit(
        self, function: Callable[..., Result], /, *arguments: Any, **options: Any
    ) -> Future[Result]:
        """Have *function* called in one of the threads."""
        called = partial(function, *arguments, **options)
        return self._executor.submit(self._loop.call_for, self._mirror, called)


async def _called(function: Callable[[], Result]) -> Result:
    return function()


async def _next_batch(stream: ChangeStream[T]) -> Sequence[Change[T]]:
    return await stream.next_batch()
