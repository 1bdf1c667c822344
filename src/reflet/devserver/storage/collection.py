"""The objects of one resource in order, and the recent past of them: a watch cache's window.

What falls out of the window is gone: a watch from there is answered with 410.

Upstream: apiserver/pkg/storage/cacher/watch_cache.go
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections import Counter
from collections.abc import Sequence
from operator import attrgetter
from typing import Final, final

from reflet.apirules import refusals
from reflet.devserver.storage.stored import Stored, StoredChange

SNAPSHOTS_KEPT: Final = 8
"""Past lists that are remembered: whoever reads a list in pages asks for the same one again."""

SLACK: Final = 0.1
"""The share of the window by which it may grow before it is cut: cutting is done in bulk."""

_AFTER_SLASH: Final = chr(ord("/") + 1)
_revision_of: Final = attrgetter("revision")


@final
class Collection:
    """Everything of one resource.

    ``floor`` is the oldest revision whose state is still known.  Every change after it is in
    the history, so a watch may begin at it and a list may be read at it.
    """

    __slots__ = (
        "_by_path",
        "_bytes",
        "_history",
        "_most_bytes",
        "_most_changes",
        "_objects",
        "_paths",
        "_snapshots",
        "floor",
    )

    def __init__(self, floor: int, *, most_changes: int, most_bytes: int) -> None:
        self.floor = floor
        self._most_changes = most_changes
        self._most_bytes = most_bytes
        self._objects: dict[str, Stored] = {}
        self._paths: list[str] = []
        self._history: list[StoredChange] = []
        self._by_path: dict[str, list[StoredChange]] = {}
        self._bytes = 0
        self._snapshots: dict[tuple[str | None, int], tuple[Stored, ...]] = {}

    # Now

    def get(self, path: str) -> Stored | None:
        """Find an object as it is now."""
        return self._objects.get(path)

    def list(self, namespace: str | None) -> tuple[Stored, ...]:
        """Give the objects as they are now, of one namespace or of all, in order."""
        if namespace is None:
            paths = self._paths
        else:
            begin = bisect_left(self._paths, f"{namespace}/")
            end = bisect_left(self._paths, f"{namespace}{_AFTER_SLASH}", begin)
            paths = self._paths[begin:end]
        return tuple([self._objects[path] for path in paths])

    def snapshot(self) -> dict[str, Stored]:
        """Give all objects as they are now, by path."""
        return dict(self._objects)

    # The past

    def list_at(self, namespace: str | None, revision: int) -> tuple[Stored, ...]:
        """Give the objects as they were right after a revision; raise Expired before the floor."""
        if revision < self.floor:
            raise refusals.expired("The resourceVersion for the provided list is too old.")
        position = bisect_right(self._history, revision, key=_revision_of)
        if position == len(self._history):
            return self.list(namespace)
        # Revisions between two changes of this resource mean the same state.
        last = self._history[position - 1].revision if position else self.floor
        snapshot = self._snapshots.get((namespace, last))
        if snapshot is None:
            snapshot = self._undone(namespace, position)
            while len(self._snapshots) >= SNAPSHOTS_KEPT:
                del self._snapshots[next(iter(self._snapshots))]
            self._snapshots[namespace, last] = snapshot
        return snapshot

    def changes_since(self, revision: int, path: str | None = None) -> Sequence[StoredChange]:
        """Give the changes after a revision, of one object or of all, oldest first.

        Raises Expired when some of them are forgotten.
        """
        if revision < self.floor:
            raise refusals.expired(f"too old resource version: {revision} ({self.floor})")
        history = self._history if path is None else self._by_path.get(path, [])
        return history[bisect_right(history, revision, key=_revision_of) :]

    # Writing

    def restore(self, objects: Sequence[Stored], changes: Sequence[StoredChange]) -> None:
        """Begin with what an earlier life left: the present objects and the changes to them."""
        self._objects = {stored.key.path: stored for stored in objects}
        self._paths = sorted(self._objects)
        for change in changes:
            self._remember(change)

    def floor_after(self, change: StoredChange) -> int | None:
        """Say where the floor will be if a change is added, or None if it stays."""
        count = len(self._history) + 1
        size = self._bytes + len(change.stored.encoded)
        allowance = 1 + SLACK
        if count <= self._most_changes * allowance and size <= self._most_bytes * allowance:
            return None
        floor = None
        for old in self._history:
            if count <= self._most_changes and size <= self._most_bytes:
                break
            count -= 1
            size -= len(old.stored.encoded)
            floor = old.revision
        return floor

    def apply(self, change: StoredChange) -> None:
        """Make a change, which is newer than all before."""
        path = change.key.path
        if change.type == "DELETED":
            del self._objects[path]
            del self._paths[bisect_left(self._paths, path)]
        else:
            if path not in self._objects:
                insort(self._paths, path)
            self._objects[path] = change.stored
        self._remember(change)

    def forget(self, floor: int) -> None:
        """Forget the changes up to a revision, which becomes the oldest that is known."""
        position = bisect_right(self._history, floor, key=_revision_of)
        forgotten = self._history[:position]
        del self._history[:position]
        for path, count in Counter(change.key.path for change in forgotten).items():
            changes = self._by_path[path]
            del changes[:count]
            if not changes:
                del self._by_path[path]
        self._bytes -= sum(len(change.stored.encoded) for change in forgotten)
        self._snapshots.clear()
        self.floor = floor

    def _remember(self, change: StoredChange) -> None:
        self._history.append(change)
        self._by_path.setdefault(change.key.path, []).append(change)
        self._bytes += len(change.stored.encoded)

    def _undone(self, namespace: str | None, position: int) -> tuple[Stored, ...]:
        """Take back every change from a position on, the newest first."""
        objects = {stored.key.path: stored for stored in self.list(namespace)}
        for change in reversed(self._history[position:]):
            if namespace is not None and change.key.namespace != namespace:
                continue
            if change.previous is None:
                objects.pop(change.key.path)
            else:
                objects[change.key.path] = change.previous
        return tuple([objects[path] for path in sorted(objects)])
