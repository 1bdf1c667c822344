"""What handlers are told.

Owns: the change that a handler gets, and how several changes of one key become fewer.  Must
not know who tells whom.
"""

from __future__ import annotations

from typing import Generic, TypeVar

import msgspec

from reflet.api.meta import KubernetesObject
from reflet.store.deltas import ChangeType
from reflet.store.keys import key_of

T = TypeVar("T", bound=KubernetesObject)


class Change(msgspec.Struct, Generic[T], frozen=True, gc=False):
    """An object came, changed or went; the store shows it already.

    ``old`` is the state before: the one that an update replaced, or that a deletion ended; None
    for a deletion of what nobody knew.  ``initial`` marks objects that were there when the
    informer, or the handler, began.  ``stale`` marks a deletion whose moment was not seen: it was
    missed and noticed later, or the transform cannot digest what the object has become.
    ``object`` is then the last state that was known.
    """

    type: ChangeType
    object: T
    old: T | None = None
    initial: bool = False
    stale: bool = False

    @property
    def key(self) -> str:
        """``namespace/name``, or ``name``."""
        return key_of(self.object)

    @property
    def is_resync(self) -> bool:
        """Nothing changed: the present state is told again."""
        old = self.old
        if old is None or self.type != "UPDATED":
            return False
        version = self.object.metadata.resource_version
        # Without a version, which a transform may have left out, the contents decide.
        return old.metadata.resource_version == version and (version != "" or old == self.object)


class Backlog(Generic[T]):
    """Changes that wait for a slow handler, at most three for each key.

    What comes out tells the same story as what went in: each key's changes in order, ending in
    the same state, no deletion of an object that the handler knows left out.  Successive updates
    become one (the first old, the last new).  An object that came and went unheard is not told:
    of a key that the handler does not know, nothing waits once it is gone, but for objects that
    were there when the handler began, which it is promised to hear of.  ``merged`` counts what
    was left out.  Keys come out in the order in which they first went in.
    """

    def __init__(self) -> None:
        self._by_key: dict[str, list[Change[T]]] = {}
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
        key = next(iter(self._by_key))
        waiting = self._by_key.pop(key)
        self._size -= len(waiting)
        return waiting
