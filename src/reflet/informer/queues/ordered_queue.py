"""client-go's RealFIFO: deltas in the order in which they arrived.

Strict order, whole lists (Replace) as one delta, batches.

Upstream: client-go/tools/cache/the_real_fifo.go, RealFIFO
"""

from __future__ import annotations

import inspect
import logging
from collections import deque
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Final, TypeVar

from reflet.api.meta import KubernetesObject
from reflet.errors import RefletError
from reflet.informer.queues.delta_fifo import (
    BATCHABLE,
    DeltaQueue,
    DeltaType,
    KnownObjects,
    Process,
    ProcessNow,
    QueuedDelta,
)
from reflet.store.keys import Tombstone, key_of
from reflet.store.transforms import Transform

T = TypeVar("T", bound=KubernetesObject)

LARGEST_BATCH: Final = 1000

logger = logging.getLogger(__name__)


class OrderedQueue(DeltaQueue[T]):
    """Deltas in order of arrival; nothing is merged.  Is a ``Sink``.

    A list is one delta, and so is a resync, unless there are *known* objects: then they are
    compared with every list, and each object is a delta of its own.  ``synced`` is set when the
    first list has been processed.
    """

    def __init__(
        self, *, known: KnownObjects[T] | None = None, transform: Transform[T] | None = None
    ) -> None:
        super().__init__(known=known, transform=transform)
        self._deltas: deque[QueuedDelta[T]] = deque()

    def __len__(self) -> int:
        return len(self._deltas)

    def add(self, item: T) -> None:
        """An object came."""
        self._came(DeltaType.ADDED, item)

    def update(self, item: T) -> None:
        """An object changed."""
        self._came(DeltaType.UPDATED, item)

    def delete(self, item: T | Tombstone[T]) -> None:
        """An object went."""
        self._initial.skip()
        if self._transform is not None and not isinstance(item, Tombstone):
            key = key_of(item)
            last = self._transform.last(key, item)
            item = Tombstone(key, None) if last is None else last
        self._append(QueuedDelta(DeltaType.DELETED, item))

    def replace(self, items: Sequence[T], version: str) -> None:
        """The whole collection at *version*: what is not in it is deleted.

        - *items*: every object of the collection
        """
        if self._transform is not None:
            keyed = {key_of(item): item for item in items}
            items = list(self._transform.digested_list(keyed).values())
            self._transform.tell()
        if self._known is None:
            self._append(QueuedDelta(DeltaType.REPLACED_ALL, items=tuple(items), version=version))
        else:
            for tombstone in self._gone(self._known, {key_of(item) for item in items}):
                self._append(QueuedDelta(DeltaType.DELETED, tombstone))
            for item in items:
                self._append(QueuedDelta(DeltaType.REPLACED, item))
        self._initial.begin(len(self._deltas))

    def resync(self) -> None:
        """Give handlers the present state again."""
        if self._known is None:
            self._append(QueuedDelta(DeltaType.SYNC_ALL))
            return
        queued = {delta.key for delta in self._deltas}
        for key in list(self._known.keys()):
            item = self._known.get(key)
            if key not in queued and item is not None:
                self._append(QueuedDelta(DeltaType.SYNC, item))

    def bookmark(self, version: str) -> None:
        """Nothing changed up to *version*."""
        if self._known is None:
            self._append(QueuedDelta(DeltaType.BOOKMARK, version=version))

    async def pop(self, process: Process[T]) -> Sequence[QueuedDelta[T]]:
        """Take the oldest delta and process it; waits while there is none.

        A *process* that is a coroutine function is waited for.  An error of *process* is raised
        and the delta is gone.  QueueClosed after ``close``, once everything is taken.
        """
        await self._wait()
        return await self._processed_later(self._taken(1), process)

    async def pop_batch(self, process: Process[T]) -> Sequence[QueuedDelta[T]]:
        """Take as many deltas as can be processed at once; waits while there is none.

        A batch has at most one delta for each key, does not reach beyond the initial list, and
        a delta about the whole collection is alone in its batch.
        """
        await self._wait()
        return await self._processed_later(self._taken(self._batch_size()), process)

    def pop_now(self, process: ProcessNow[T]) -> Sequence[QueuedDelta[T]]:
        """``pop`` for a queue that is not empty, and a plain function."""
        return self._processed(self._taken(1), process)

    def pop_batch_now(self, process: ProcessNow[T]) -> Sequence[QueuedDelta[T]]:
        """``pop_batch`` for a queue that is not empty, and a plain function."""
        return self._processed(self._taken(self._batch_size()), process)

    def _came(self, kind: DeltaType, item: T) -> None:
        if self._transform is not None:
            key = key_of(item)
            digested = self._transform.digested(key, item)
            if digested is None:
                self._transform.tell()
                self.delete(Tombstone(key, None))  # whoever takes it knows the last state
                return
            item = digested
        self._initial.skip()
        self._append(QueuedDelta(kind, item))

    def _gone(self, known: KnownObjects[T], listed: set[str]) -> Iterable[Tombstone[T]]:
        """Objects that are queued or known, and not in the list any more."""
        last: dict[str, QueuedDelta[T]] = {}
        for delta in self._deltas:
            last[delta.key] = delta
        tombstones = []
        for key, delta in last.items():
            if key not in listed and delta.type is not DeltaType.DELETED:
                item = delta.object
                tombstones.append(
                    Tombstone(key, item.object if isinstance(item, Tombstone) else item)
                )
        tombstones += [
            Tombstone(key, known.get(key))
            for key in known.keys()  # noqa: SIM118 - a protocol, not a dict
            if key not in listed and key not in last
        ]
        return tombstones

    def _batch_size(self) -> int:
        most = LARGEST_BATCH
        if self._initial.left:
            most = min(most, self._initial.left)
        seen: set[str] = set()
        count = 0
        for delta in islice(self._deltas, most):
            if delta.type not in BATCHABLE:
                break
            try:
                key = delta.key
            except RefletError:
                count += 1  # it goes with this batch and closes it
                break
            if key in seen:
                break
            seen.add(key)
            count += 1
        return max(1, count)

    def _taken(self, count: int) -> list[QueuedDelta[T]]:
        return [self._deltas.popleft() for _ in range(count)]

    def _processed(
        self, deltas: list[QueuedDelta[T]], process: ProcessNow[T]
    ) -> Sequence[QueuedDelta[T]]:
        try:
            process(deltas, not self.synced.is_set)
        finally:
            # Synced means processed, so a failure counts as much as a success.
            self._initial.passed(len(deltas))
        return deltas

    async def _processed_later(
        self, deltas: list[QueuedDelta[T]], process: Process[T]
    ) -> Sequence[QueuedDelta[T]]:
        try:
            outcome = process(deltas, not self.synced.is_set)
            if inspect.isawaitable(outcome):
                await outcome
        finally:
            self._initial.passed(len(deltas))
        return deltas

    def _append(self, delta: QueuedDelta[T]) -> None:
        self._deltas.append(delta)
        self._arrivals.wake()
