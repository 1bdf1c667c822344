"""Being told when an object that a registered pod uses has changed.

``ObjectChanges`` is for iterating, with the object as it is when it is taken; ``PodWaker`` calls
back at once, with the pods that have to look again and without reading anything.

The kubelet has nothing like it: it looks at each of its pods about once a minute.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Generic, Self

from reflet.managers.object_store import C
from reflet.managers.registry import PodKey


@dataclass(frozen=True)  # with slots, Python 3.11 cannot make an ObjectChange[ConfigMap](…)
class ObjectChange(Generic[C]):
    """A read gives another answer than before: *object*, None for "not found".

    *pods* are the registered pods that refer to the object.

    - *namespace*: namespace of the object
    - *name*: name of the object
    """

    namespace: str
    name: str
    object: C | None
    pods: tuple[PodKey, ...]


class ObjectChanges(Generic[C]):
    """The changes of one manager's objects, until the manager is closed.

    ::

        async for change in config_maps.subscribe():
            print(change.namespace, change.name, change.pods)

    An object that changes again before it was taken is delivered once, as it is when it is taken: a
    slow reader misses states and never the last one, and what waits is bounded by the number of
    objects that are referred to.  One that nothing refers to any more is left out.

    Leaving the loop is enough: a stream that nothing refers to any more is closed.  Belongs to one
    event loop.

    - *describe*: gives the change of an object by namespace and name; None for one that is not kept
    - *namespace*: namespace of the object
    - *name*: name of the object
    """

    def __init__(self, describe: Callable[[str, str], ObjectChange[C] | None]) -> None:
        self._describe = describe
        # A dictionary, because objects are told in the order in which they changed.
        self._waiting: dict[tuple[str, str], None] = {}
        self._news = asyncio.Event()
        self.closed = False

    def __repr__(self) -> str:
        state = "closed" if self.closed else "open"
        return f"<ObjectChanges {state}, {len(self._waiting)} waiting>"

    def tell(self, namespace: str, name: str) -> None:
        """An object has changed."""
        if not self.closed:
            self._waiting[namespace, name] = None
            self._news.set()

    def forget(self, namespace: str, name: str) -> None:
        """Nobody refers to an object any more."""
        self._waiting.pop((namespace, name), None)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> ObjectChange[C]:
        while True:
            while self._waiting:
                key = next(iter(self._waiting))
                del self._waiting[key]
                change = self._describe(*key)
                if change is not None:
                    return change
            if self.closed:
                raise StopAsyncIteration
            self._news.clear()
            await self._news.wait()

    def close(self) -> None:
        """End the iteration, what waits included; harmless when it has ended."""
        self.closed = True
        self._waiting.clear()
        self._news.set()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


class PodWaker:
    """Calls *wake* for each registered pod that uses an object, the moment that it changes.

    *wake* must neither wait nor fail, nor register pods: it is called from the stream that brought
    the change, in the middle of showing it.
    *pods_using* gives the pods of an object.  Ends with ``close``, or with the manager.
    """

    def __init__(
        self,
        pods_using: Callable[[str, str], tuple[PodKey, ...]],
        wake: Callable[[PodKey], None],
    ) -> None:
        self._pods_using = pods_using
        self._wake = wake
        self.closed = False

    def tell(self, namespace: str, name: str) -> None:
        """An object has changed."""
        if not self.closed:
            for pod in self._pods_using(namespace, name):
                self._wake(pod)

    def forget(self, namespace: str, name: str) -> None:
        """Do nothing: nothing waits here."""

    def close(self) -> None:
        """Wake nobody any more."""
        self.closed = True
