"""What can happen to a mirrored collection, and who takes it; several changes of a store at once.

The three deltas of a reflector, the protocol of whatever takes them, and the words for what
becomes of an object.  Events stay together as they arrived, because handing on a batch costs as
little as handing on one event.  ``Put`` and ``Remove`` are the operations of a transaction.

Upstream: client-go/tools/cache/reflector.go, ReflectorStore;
client-go/tools/cache/store.go, Transaction, TransactionError
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, Literal, Protocol, TypeAlias, TypeVar

from reflet.api.meta import KubernetesObject
from reflet.api.watch_events import WatchEvent
from reflet.errors import RefletError
from reflet.store.keys import Tombstone

T = TypeVar("T", bound=KubernetesObject)


@dataclass(frozen=True)  # with slots, Python 3.11 cannot make a Replaced[ConfigMap](…)
class Replaced(Generic[T]):
    """The whole collection, as it was at *version*: what is not in it is gone.

    With *namespace* it is all of that namespace, and says nothing of the others.

    - *items*: every object of the collection
    """

    items: Sequence[T]
    version: str
    namespace: str | None = None


@dataclass(frozen=True)  # with slots, Python 3.11 cannot make a Changed[ConfigMap](…)
class Changed(Generic[T]):
    """Events that arrived together, in the server's order, bookmarks included.

    - *events*: the events
    """

    events: Sequence[WatchEvent[T]]


@dataclass(frozen=True, slots=True)
class Resynced:
    """Nothing changed: handlers get the present state again."""


ChangeType: TypeAlias = Literal["ADDED", "UPDATED", "DELETED"]
"""What becomes of an object when a delta is applied: that depends on what was there before."""

Delta: TypeAlias = Replaced[T] | Changed[T] | Resynced
"""Everything that can happen to a collection, matched exhaustively."""


class Sink(Protocol[T]):
    """Where a reflector puts what it learns."""

    def apply(self, delta: Delta[T], /) -> None:
        """Take one delta; deltas come in order and one at a time."""
        ...


@dataclass(frozen=True)  # with slots, Python 3.11 cannot make a Put[ConfigMap](…)
class Put(Generic[T]):
    """Store the object, whether or not there was one.

    - *object*: the object
    """

    object: T


@dataclass(frozen=True)  # with slots, Python 3.11 cannot make a Remove[ConfigMap](…)
class Remove(Generic[T]):
    """Remove the object, or what a tombstone names.

    - *object*: the object, or its tombstone
    """

    object: T | Tombstone[T]


Operation: TypeAlias = Put[T] | Remove[T]


class TransactionError(RefletError):
    """Some operations were not carried out; ``successful`` has the positions of those that were.

    - *successful*: positions of the operations that were carried out
    - *total*: number of all operations
    - *errors*: why the others were not
    """

    def __init__(self, successful: Sequence[int], total: int, errors: Sequence[Exception]) -> None:
        self.successful = tuple(successful)
        self.total = total
        self.errors = tuple(errors)
        causes = " ".join(str(error) for error in errors)
        super().__init__(
            f"failed to execute ({total - len(successful)}/{total}) transactions failed due to: "
            f"[{causes}]"
        )
