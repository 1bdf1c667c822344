"""client-go's DeltaFIFO, and what it has in common with other queues of deltas.

``DeltaFifo`` keeps each key's deltas together: per-key deltas in order, keys in order of first
arrival, and what a list (Replace) lacks is a deletion with a tombstone
(DeletedFinalStateUnknown).  That is the way of ``queue="delta-fifo"`` only; on the default way
``reflet.informer.process_deltas.Updater.replaced`` notices deletions.

Upstream: client-go/tools/cache/delta_fifo.go, DeltaFIFO, Delta, KeyListerGetter;
client-go/tools/cache/fifo.go, Queue, ErrFIFOClosed
"""

from __future__ import annotations

import inspect
import logging
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable, Sequence
from enum import Enum
from typing import Generic, Protocol, TypeAlias, TypeVar, assert_never

import msgspec

from reflet.api.meta import KubernetesObject
from reflet.api.watch_events import WatchEvent
from reflet.errors import RefletError
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
        """The object at a key.

        - *key*: ``namespace/name``
        """
        ...


class DeltaType(Enum):
    """What happened."""

    ADDED = "Added"
    UPDATED = "Updated"
    DELETED = "Deleted"
    REPLACED = "Replaced"
    SYNC = "Sync"
    REPLACED_ALL = "ReplacedAll"
    SYNC_ALL = "SyncAll"
    BOOKMARK = "Bookmark"


BATCHABLE = frozenset(
    {DeltaType.ADDED, DeltaType.UPDATED, DeltaType.DELETED, DeltaType.REPLACED, DeltaType.SYNC}
)
"""The kinds that are about one object."""


class QueuedDelta(msgspec.Struct, Generic[T], frozen=True, gc=False):
    """One thing that happened.

    ``object`` is the object it is about; for a deletion its last state or a tombstone.  The
    kinds about the whole collection have ``items`` and ``version`` instead.
    """

    type: DeltaType
    object: T | Tombstone[T] | None = None
    items: tuple[T, ...] = ()
    version: str = ""

    @property
    def key(self) -> str:
        """The key of the object it is about."""
        if self.object is None:
            raise RefletError(f"a delta of type {self.type.value} is not about one object")
        return key_of_deleted(self.object)


Process: TypeAlias = Callable[[Sequence[QueuedDelta[T]], bool], Awaitable[None] | None]
"""A function, or a coroutine function, that takes what was popped, and whether it belongs to the
initial list."""
ProcessNow: TypeAlias = Callable[[Sequence[QueuedDelta[T]], bool], None]
"""The same for who cannot wait."""


class QueueClosed(RefletError):
    """The queue is closed and empty."""

    def __init__(self) -> None:
        super().__init__("DeltaFIFO: manipulating with closed queue")


class InitialList:
    """Whether the initial list has been through the queue; once true, always true.

    A queue that gets a change before any list has no initial list to wait for.
    """

    def __init__(self) -> None:
        self.synced = Latch()
        self.populated = False
        self._left = 0

    @property
    def left(self) -> int:
        """How many of the initial deltas have not been through yet."""
        return self._left

    def begin(self, count: int) -> None:
        """The first list came: *count* deltas have to go through.  Later calls do nothing."""
        if self.populated:
            return
        self.populated = True
        self._left = count
        self._check()

    def skip(self) -> None:
        """A change came before any list."""
        self.begin(0)

    def passed(self, count: int) -> None:
        """*count* deltas went through."""
        if self._left:
            self._left = max(0, self._left - count)
            self._check()

    def _check(self) -> None:
        if not self._left:
            self.synced.set()


class DeltaQueue(ABC, Generic[T]):
    """A queue between a reflector, whose ``Sink`` it is, and whoever pops.

    *known* is what the consumer has.  An object that *transform* cannot digest counts as gone:
    what is queued is a deletion with a tombstone.  Used by one event loop.
    """

    def __init__(
        self, *, known: KnownObjects[T] | None = None, transform: Transform[T] | None = None
    ) -> None:
        self._known = known
        self._transform = Transforming.of(transform)
        self._initial = InitialList()
        self._closed = False
        self._arrivals = Arrivals()

    @abstractmethod
    def __len__(self) -> int:
        """How much waits."""

    @property
    def synced(self) -> Latch:
        """Set when the first list has been through (HasSynced)."""
        return self._initial.synced

    def apply(self, delta: Delta[T], /) -> None:
        """Take what a reflector learned."""
        match delta:
            case Changed(events=events):
                for event in events:
                    self._take(event)
            case Replaced(items=items, version=version):
                self.replace(items, version)
            case Resynced():
                self.resync()
            case _:
                assert_never(delta)

    @abstractmethod
    def add(self, item: T) -> None:
        """An object came."""

    @abstractmethod
    def update(self, item: T) -> None:
        """An object changed."""

    @abstractmethod
    def delete(self, item: T | Tombstone[T]) -> None:
        """An object went."""

    @abstractmethod
    def replace(self, items: Sequence[T], version: str) -> None:
        """The whole collection at *version*: what is not in it is deleted."""

    @abstractmethod
    def resync(self) -> None:
        """Give handlers the present state again."""

    def bookmark(self, version: str) -> None:
        """Nothing changed up to *version*."""

    def close(self) -> None:
        """No more will be waited for; what is queued can still be popped."""
        self._closed = True
        self._arrivals.wake()

    def _take(self, event: WatchEvent[T]) -> None:
        kind: str = event.type  # a source may be anybody's
        match kind:
            case "ADDED":
                self.add(event.object)
            case "MODIFIED":
                self.update(event.object)
            case "DELETED":
                self.delete(event.object)
            case "BOOKMARK":
                self.bookmark(event.object.metadata.resource_version)
            case _:
                logger.error("unable to understand watch event of type %r", kind)
                self.bookmark(event.object.metadata.resource_version)

    async def _wait(self) -> None:
        """Return once there is something to pop; QueueClosed when there never will be."""
        while not len(self):
            if self._closed:
                raise QueueClosed
            await self._arrivals.wait()


class DeltaFifo(DeltaQueue[T]):
    """Deltas by key.  Is a ``Sink``.

    ``pop`` gives every delta of the key that waits longest.  Two adjacent deletions are one.
    With *known* objects, a list that lacks one of them is a deletion with a tombstone, and a resync
    gives them again.  *emit_replaced* gives objects of a list as Replaced instead of
    Sync.  ``synced`` is set when every key of the first list has been popped.
    """

    def __init__(
        self,
        *,
        known: KnownObjects[T] | None = None,
        transform: Transform[T] | None = None,
        emit_replaced: bool = False,
    ) -> None:
        super().__init__(known=known, transform=transform)
        self._listed_as = DeltaType.REPLACED if emit_replaced else DeltaType.SYNC
        # In order of first arrival.  Not a plain dict: its first key is found behind the places of
        # all that were taken before.
        self._deltas: OrderedDict[str, list[QueuedDelta[T]]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._deltas)

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

    def replace(self, items: Sequence[T], version: str = "") -> None:  # noqa: ARG002 - no use here
        """The whole collection: what is not in it is deleted, with a tombstone.

        - *items*: every object of the collection
        """
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
        """Queue every known object again, unless something newer is queued for it."""
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
        await self._wait()
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

    def _taken(self) -> tuple[list[QueuedDelta[T]], bool]:
        """The deltas of the key that waits longest, and whether they belong to the first list."""
        is_initial = not self.synced.is_set
        _, deltas = self._deltas.popitem(last=False)
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
