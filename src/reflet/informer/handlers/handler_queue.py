"""What waits for one handler, in order and bounded.

client-go keeps it in a ring buffer that grows until memory ends (pendingNotifications); here
changes of one key merge once too many wait, and a deletion is never lost.

Upstream: client-go/tools/cache/shared_informer.go, processorListener.pop
"""

from __future__ import annotations

import logging
from collections import OrderedDict, deque
from collections.abc import Iterable, Sequence
from typing import Final, Generic, TypeVar

import msgspec

from reflet.api.meta import KubernetesObject
from reflet.informer.handlers.changes import Change
from reflet.informer.queues.delta_fifo import QueueClosed
from reflet.runtime.waits import Arrivals

T = TypeVar("T", bound=KubernetesObject)

BACKLOG_LIMIT: Final = 10_000
"""Changes that may wait for a handler one by one; beyond it, changes of one key merge."""
AT_A_TIME: Final = 1024
"""Changes that a handler is given before the others get their turn: more than a busy stream
brings in its own turn, so that a quick handler keeps up."""

logger = logging.getLogger(__name__)


class Backlog(Generic[T]):
    """Changes that wait for a slow handler, at most three for each key.

    What comes out is equivalent to what went in: each key's changes in order, ending in the same
    state, no deletion of an object that the handler knows left out.  Successive updates become one
    (the first old, the last new).  An object that came and went before it was delivered is left
    out: of a key that the handler does not know, nothing waits once it is gone, but for objects
    that were there when the handler began, which it is promised to hear of.  ``merged`` counts what
    was left out.  Keys come out in the order in which they first went in.
    """

    def __init__(self) -> None:
        # Not a plain dict: its first key is found behind the places of all that were taken before.
        self._by_key: OrderedDict[str, list[Change[T]]] = OrderedDict()
        self._size = 0
        self.merged = 0

    def __len__(self) -> int:
        return self._size

    def add(self, change: Change[T]) -> None:
        """Let one more change wait."""
        key = change.key
        waiting = self._by_key.get(key)
        if waiting is None:
            if change.type == "DELETED" and change.old is None:
                self.merged += 1  # of what nobody knew
                return
            self._by_key[key] = [change]
            self._size += 1
            return
        last = waiting[-1]
        match last.type, change.type:
            case "ADDED", "UPDATED":
                waiting[-1] = msgspec.structs.replace(last, object=change.object)
            case "UPDATED", "UPDATED":
                waiting[-1] = msgspec.structs.replace(change, old=last.old)
            case "UPDATED", "DELETED":
                # What the handler knows is the state before the update.
                waiting[-1] = msgspec.structs.replace(change, old=last.old)
            case "DELETED", "DELETED":
                # Once gone is gone; who saw the end knows more than who missed it.
                if last.stale:
                    waiting[-1] = msgspec.structs.replace(change, old=last.old)
            case "ADDED", "DELETED" if not last.initial:
                # Unheard of; a deletion before it stays the end of what the handler knows.
                waiting.pop()
                if not waiting:
                    del self._by_key[key]
                self._size -= 1
                self.merged += 1
            case _:
                waiting.append(change)
                self._size += 1
                return
        self.merged += 1

    def pop(self) -> list[Change[T]]:
        """The changes of the key that waits longest."""
        _, waiting = self._by_key.popitem(last=False)
        self._size -= len(waiting)
        return waiting


class HandlerQueue(Generic[T]):
    """Changes in order, without bound in time and with a bound in memory.

    *limit* changes may wait one by one, or twice as many as once came together: a list of a
    large collection is no sign of a slow handler.  Beyond that, changes of one key merge (see
    ``Backlog``).  ``put`` never waits.  Once ``closed``, nothing comes out any more.  Used by
    one event loop; ``closed`` may be read from any thread.
    """

    def __init__(self, name: str, *, limit: int = BACKLOG_LIMIT) -> None:
        self._name = name
        self._limit = limit
        self._bound = limit
        self._waiting: deque[Change[T]] = deque()
        self._backlog: Backlog[T] = Backlog()
        self._merging = False  # also while the backlog has nothing left
        self._merged_before = 0
        self._arrivals = Arrivals()
        self.closed = False

    def __len__(self) -> int:
        return len(self._waiting) + len(self._backlog)

    @property
    def merged(self) -> int:
        """How many changes were left out because later ones made them needless."""
        return self._merged_before + self._backlog.merged

    def put(self, changes: Iterable[Change[T]]) -> None:
        """Let *changes* wait behind those that wait already."""
        if self.closed:
            return
        waiting = self._waiting
        if self._merging:
            for change in changes:
                self._backlog.add(change)
        elif waiting:
            waiting.extend(changes)
            if len(waiting) > self._bound:
                self._compact()
        else:
            waiting.extend(changes)
            self._bound = max(self._limit, 2 * len(waiting))
        self._arrivals.wake()

    async def get(self) -> Sequence[Change[T]]:
        """The next changes, at least one, in order; waits for them when there are none.

        Raises QueueClosed after ``close``.
        """
        while not self.closed:
            if len(self):
                return self._take()
            await self._arrivals.wait()
        raise QueueClosed

    def close(self) -> None:
        """Drop what waits, and wake whoever waits for more."""
        self.closed = True
        self._waiting.clear()
        self._forget_backlog()
        self._arrivals.wake()

    def _take(self) -> Sequence[Change[T]]:
        if self._merging:
            changes: list[Change[T]] = []
            while len(self._backlog) and len(changes) < AT_A_TIME:
                changes += self._backlog.pop()
            if not len(self._backlog):
                self._forget_backlog()
            return changes
        waiting = self._waiting
        if len(waiting) > AT_A_TIME:
            return [waiting.popleft() for _ in range(AT_A_TIME)]
        changes = list(waiting)
        waiting.clear()
        return changes

    def _forget_backlog(self) -> None:
        self._merging = False
        self._merged_before += self._backlog.merged
        self._backlog = Backlog()

    def _compact(self) -> None:
        self._merging = True
        for change in self._waiting:
            self._backlog.add(change)
        self._waiting.clear()
        logger.warning(
            "handler %s is slow: more than %d changes wait, so changes of one key merge now",
            self._name,
            self._bound,
        )
