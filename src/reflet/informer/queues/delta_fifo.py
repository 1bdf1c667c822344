"""A queue that keeps each key's deltas together.

Owns: the classic contract of client-go's DeltaFIFO: per-key deltas in order, keys in order of
first arrival, deletions noticed by comparing lists.  Must not know what is done with the
deltas.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import Iterable, Sequence
from typing import Generic, Protocol, TypeVar, assert_never

from reflet.api.meta import KubernetesObject
from reflet.informer.queues.queued_deltas import (
    DeltaType,
    InitialList,
    Process,
    ProcessNow,
    QueueClosed,
    QueuedDelta,
)
from reflet.runtime.latch import Latch
from reflet.runtime.waits import Arrivals
from reflet.store.deltas import Changed, Delta, Replaced, Resynced
from reflet.store.keys import Tombstone, key_of, key_of_deleted
from reflet.store.transforms import Transform, Transforming

T = TypeVar("T", bound=KubernetesObject)
T_co = TypeVar("T_co", bound=KubernetesObject, covariant=True)

logger = logging.getLogger(__name__)


class KnownObjects(Protocol[T_co]):
    """What the consumer has: a ``Store`` fits."""

    def keys(self) -> Iterable[str]:
        """Every key it has."""
        ...

    def get(self, key: str, /) -> T_co | None:
        """The object at a key."""
        ...


class DeltaFifo(Generic[T]):
    """Deltas by key.  Is a ``Sink``.

    ``pop`` gives every delta of the key that waits longest.  Two adjacent deletions are one.
    With *known* objects, a list that lacks one of them is a deletion with a tombstone, and a
    resync tells them again.  *emit_replaced* tells objects of a list as Replaced instead of
    Sync.  An object that *transform* cannot digest counts as gone: what is queued is a deletion
    with a tombstone.  Used by one event loop.
    """

    def __init__(
        self,
        *,
        known: KnownObjects[T] | None = None,
        transform: Transform[T] | None = None,
        emit_replaced: bool = False,
    ) -> None:
        self._known = known
        self._transform = Transforming.of(transform)
        self._listed_as = DeltaType.REPLACED if emit_replaced else DeltaType.SYNC
        self._deltas: dict[str, list[QueuedDelta[T]]] = {}  # in order of first arrival
        self._initial = InitialList()
        self._closed = False
        self._arrivals = Arrivals()

    def __len__(self) -> int:
        return len(self._deltas)

    @property
    def synced(self) -> Latch:
        """Set when every key of the first list has been popped."""
        return self._initial.synced

    def apply(self, delta: Delta[T], /) -> None:
        """Take what a reflector learned."""
        match delta:
            case Changed(events=events):
                for event in events:
                    kind: str = event.type  # a source may be anybody's
                    match kind:
                        case "ADDED":
                            self.add(event.object)
                        case "MODIFIED":
                            self.update(event.object)
                        case "DELETED":
                            self.delete(event.object)
                        case "BOOKMARK":
                            pass
                        case _:
                            logger.error("unable to understand watch event of type %r", kind)
            case Replaced(items=items):
                self.replace(items)
            case Resynced():
                self.resync()
            case _:
                assert_never(delta)

    def add(self, item: T) -> None:
        """An object came."""
        self._initial.skip()
        self._came(DeltaType.ADDED, item)

    def update(self, item: T) -> None:
        """An object changed."""
        self._initial.skip()
        self._came(DeltaType.UPDATED, item)

    def delete(self, item: T | Tombstone[T]) -> None:
        """An object went; nothing is queued for one that nobody has heard of."""
        self._initial.skip()
        key = key_of_deleted(item)
        if self._transform is not None and not isinstance(item, Tombstone):
            last = self._transform.last(key, item)
            item = self._tombstone(key) if last is None else last
        if key in self._deltas or (self._known is not None and self._known.get(key) is not None):
            self._append(key, DeltaType.DELETED, item)

    def replace(self, items: Sequence[T]) -> None:
        """The whole collection: what is not in it is deleted."""
        keyed = [(key_of(item), item) for item in items]
        if self._transform is not None:
            keyed = list(self._transform.digested_list(dict(keyed)).items())
            self._transform.tell()
        listed = set()
        for key, item in keyed:
            listed.add(key)
            self._append(key, self._listed_as, item)
        gone = [key for key in self._deltas if key not in listed]
        if self._known is not None:
            gone += [
                key
                for key in self._known.keys()  # noqa: SIM118 - a protocol, not a dict
                if key not in listed and key not in self._deltas
            ]
        for key in gone:
            self._append(key, DeltaType.DELETED, self._tombstone(key))
        self._initial.begin(len(listed) + len(gone))

    def resync(self) -> None:
        """Tell every known object again, unless something newer is queued for it."""
        if self._known is None:
            return
        for key in list(self._known.keys()):
            item = self._known.get(key)
            if item is not None and not self._deltas.get(key):
                self._queue(key, QueuedDelta(DeltaType.SYNC, item))

    async def pop(self, process: Process[T]) -> Sequence[QueuedDelta[T]]:
        """Take the deltas of one key and process them; waits while there are none.

        A *process* that is a coroutine function is waited for.  An error of *process* is raised
        and the deltas are gone.  QueueClosed after ``close``, once everything is taken.
        """
        while not self._deltas:
            if self._closed:
                raise QueueClosed
            await self._arrivals.wait()
        deltas, is_initial = self._taken()
        outcome = process(deltas, is_initial)
        if inspect.isawaitable(outcome):
            await outcome
        return deltas

    def pop_now(self, process: ProcessNow[T]) -> Sequence[QueuedDelta[T]]:
        """The same for a queue that is not empty, and a plain function."""
        deltas, is_initial = self._taken()
        process(deltas, is_initial)
        return deltas

    def close(self) -> None:
        """No more will be waited for; what is queued can still be popped."""
        self._closed = True
        self._arrivals.wake()

    def _taken(self) -> tuple[list[QueuedDelta[T]], bool]:
        """The deltas of the key that waits longest, and whether they belong to the first list."""
        is_initial = not self.synced.is_set
        deltas = self._deltas.pop(next(iter(self._deltas)))
        self._initial.passed(1)
        return deltas, is_initial

    def _came(self, kind: DeltaType, item: T) -> None:
        key = key_of(item)
        if self._transform is None:
            self._append(key, kind, item)
            return
        digested = self._transform.digested(key, item)
        if digested is None:
            self._transform.tell()
            self.delete(self._tombstone(key))
        else:
            self._append(key, kind, digested)

    def _tombstone(self, key: str) -> Tombstone[T]:
        """For an object that is gone, with its last state that is queued or known."""
        deltas = self._deltas.get(key)
        if not deltas:
            return Tombstone(key, None if self._known is None else self._known.get(key))
        last = deltas[-1].object
        return last if isinstance(last, Tombstone) else Tombstone(key, last)

    def _append(self, key: str, kind: DeltaType, item: T | Tombstone[T]) -> None:
        delta = QueuedDelta(kind, item)
        deltas = self._deltas.get(key)
        if deltas and kind is DeltaType.DELETED and deltas[-1].type is DeltaType.DELETED:
            # One deletion is enough; the one that saw the object's end knows more.
            if isinstance(deltas[-1].object, Tombstone):
                deltas[-1] = delta
            return
        self._queue(key, delta)

    def _queue(self, key: str, delta: QueuedDelta[T]) -> None:
        self._deltas.setdefault(key, []).append(delta)
        self._arrivals.wake()
