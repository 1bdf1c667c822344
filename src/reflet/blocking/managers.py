"""The managers of ConfigMaps and Secrets, for programs without an event loop.

What a manager does and promises is said in ``reflet.managers.manager``; here is the way to the
loop's thread for what has to wait.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Generic, Self, TypeVar

from reflet.api.core.pods import Pod
from reflet.blocking.loop_thread import LoopThread, refuse_in_child
from reflet.errors import CacheNotSynced
from reflet.managers.manager import ObjectManager
from reflet.managers.object_changes import ObjectChange, ObjectChanges
from reflet.managers.object_store import C
from reflet.managers.registry import PodKey
from reflet.managers.watches.stream_plan import StreamPlan

Result = TypeVar("Result")


class BlockingManager(Generic[C]):
    """``ConfigMapManager`` or ``SecretManager``, waiting.  Any thread may use it.

    ::

        with cluster.config_map_manager() as config_maps:
            config_maps.register_pod(pod)
            settings = config_maps.get("shop", "settings")

    Reads of what is known go straight to memory.  In the child of a fork everything raises
    MisuseError, and leaving does nothing: open another there.

    - *manager*: what runs on the event loop
    """

    def __init__(self, loop: LoopThread, manager: ObjectManager[C]) -> None:
        self._loop = loop
        self._manager = manager
        refuse_in_child(self, "_manager", loop.fork_error)

    def __repr__(self) -> str:
        return f"<Blocking{repr(self._manager)[1:]}"

    def __enter__(self) -> Self:
        self._loop.enter(self._manager)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._loop.leave(self._manager, error)

    # Pods

    def register_pod(self, pod: Pod) -> None:
        """Keep what the pod refers to; waits for the loop, never for the network."""
        self._on_loop(lambda: self._manager.register_pod(pod))

    def unregister_pod(self, pod: Pod) -> None:
        """Stop keeping what no other registered pod refers to."""
        self._on_loop(lambda: self._manager.unregister_pod(pod))

    def pods_using(self, namespace: str, name: str) -> tuple[PodKey, ...]:
        """The registered pods that refer to an object."""
        return self._on_loop(lambda: self._manager.pods_using(namespace, name))

    # Objects

    def get(self, namespace: str, name: str) -> C:
        """The object; waits only when it is not known yet."""
        try:
            return self._manager.peek(namespace, name)
        except CacheNotSynced:
            return self._loop.run(self._manager.get(namespace, name))

    def peek(self, namespace: str, name: str) -> C:
        """The object as it is in memory, without waiting."""
        return self._manager.peek(namespace, name)

    def subscribe(self) -> Iterator[ObjectChange[C]]:
        """Iterate what changes from now on, until the loop is left or the manager is closed."""
        return self._iterated(self._on_loop(self._manager.subscribe))

    def plan(self) -> StreamPlan:
        """The streams that are open, and why."""
        return self._on_loop(self._manager.plan)

    def _iterated(self, changes: ObjectChanges[C]) -> Iterator[ObjectChange[C]]:
        try:
            while True:
                try:
                    yield self._loop.run(_next(changes))
                except StopAsyncIteration:
                    return
        finally:
            self._loop.tidy(_called(changes.close))

    def _on_loop(self, function: Callable[[], Result]) -> Result:
        return self._loop.run(_called(function))


async def _called(function: Callable[[], Result]) -> Result:
    return function()


async def _next(changes: ObjectChanges[C]) -> ObjectChange[C]:
    return await anext(changes)
