"""What waits in a queue between a reflector and a store.

Owns: the kinds of queued deltas, and when a queue counts as synced.  Must not know how a queue
orders them.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from enum import Enum
from typing import Generic, TypeAlias, TypeVar

import msgspec

from reflet.api.meta import KubernetesObject
from reflet.errors import RefletError
from reflet.runtime.latch import Latch
from reflet.store.keys import Tombstone, key_of_deleted

T = TypeVar("T", bound=KubernetesObject)


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
