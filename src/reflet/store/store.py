"""Objects by key, indexed, read from any thread.

Owns: the objects, their indexes and the version they show.  Must not know where objects come
from, nor who is told about changes.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Generic, TypeVar, assert_never

from reflet.api.meta import KubernetesObject
from reflet.api.watch_events import WatchEvent
from reflet.errors import RefletError
from reflet.store.deltas import Changed, Delta, Replaced, Resynced
from reflet.store.indexes import NAMESPACE, FunctionIndex, Index, IndexFunction, NamespaceIndex
from reflet.store.keys import ExplicitKey, KeyFailure, Tombstone, key_of, key_of_deleted
from reflet.store.transactions import Operation, Put, Remove, TransactionError

T = TypeVar("T", bound=KubernetesObject)

Transform = Callable[[T], T]
"""What is done to an object before it is stored; doing it twice must change nothing more."""


class IndexMissing(RefletError):
    """There is no index of that name."""


class IndexConflict(RefletError):
    """An index of that name is there already."""


class Store(Generic[T]):
    """A mirror's memory.  Is a ``Sink``.

    ``get`` is one look-up and never waits.  Every other query sees one consistent state: it
    shares a lock with writers, who hold it for one batch at a time.  Objects are frozen, so
    they are handed out as they are.  One thread writes at a time; any number may read.

    The store has the index ``namespace`` and those of *indexers*.  *transform* changes objects
    on their way in; keys are taken before.
    """

    def __init__(
        self,
        *,
        indexers: Mapping[str, IndexFunction[T]] | None = None,
        transform: Transform[T] | None = None,
    ) -> None:
        self._lock = threading.RLock()
        self._items: dict[str, T] = {}
        self._version = ""
        self._transform = transform
        self._indexes: dict[str, Index[T]] = {NAMESPACE: NamespaceIndex()}
        self.add_indexers(indexers or {})

    # Reading

    @property
    def version(self) -> str:
        """The server's version that the store shows; empty before anything is known."""
        return self._version

    def __len__(self) -> int:
        return len(self._items)

    def __contains__(self, key: object) -> bool:
        return key in self._items

    def get(self, key: str) -> T | None:
        """The object at *key*, if there is one."""
        return self._items.get(key)

    def objects(self) -> list[T]:
        """Every object, in no particular order."""
        with self._lock:
            return list(self._items.values())

    def keys(self) -> list[str]:
        """Every key, in no particular order."""
        with self._lock:
            return list(self._items)

    def snapshot(self) -> tuple[dict[str, T], str]:
        """Everything by key, and the version it shows."""
        with self._lock:
            return dict(self._items), self._version

    def by_index(self, name: str, value: str) -> list[T]:
        """The objects that have *value* in the index *name*."""
        with self._lock:
            return [self._items[key] for key in self._index(name).keys(value)]

    def sharing_index(self, name: str, item: T) -> list[T]:
        """The objects that share at least one value with *item* in the index *name*."""
        with self._lock:
            index = self._index(name)
            found: dict[str, None] = {}
            for value in index.values_of(key_of(item), item):
                found.update(dict.fromkeys(index.keys(value)))
            return [self._items[key] for key in found]

    def index_keys(self, name: str, value: str) -> list[str]:
        """The keys that have *value* in the index *name*, sorted."""
        with self._lock:
            return sorted(self._index(name).keys(value))

    def index_values(self, name: str) -> list[str]:
        """Every value that the index *name* has an object for; nothing for an unknown index."""
        with self._lock:
            index = self._indexes.get(name)
            return [] if index is None else list(index.values())

    @property
    def indexes(self) -> frozenset[str]:
        """The names of the indexes."""
        return frozenset(self._indexes)

    # Writing

    def add_indexers(self, indexers: Mapping[str, IndexFunction[T]]) -> None:
        """Add indexes, and index what is there; a known name is an IndexConflict, nothing added."""
        with self._lock:
            known = self._indexes.keys() & indexers.keys()
            if known:
                raise IndexConflict(f"indexer conflict: {', '.join(sorted(known))}")
            made = {name: FunctionIndex(name, function) for name, function in indexers.items()}
            for index in made.values():
                index.rebuild(self._items)
            self._indexes.update(made)

    def apply(self, delta: Delta[T], /) -> None:
        """Take what a reflector learned."""
        match delta:
            case Changed(events=events):
                self.change(events)
            case Replaced(items=items, version=version):
                self.replace(items, version)
            case Resynced():
                pass  # nobody follows a store
            case _:
                assert_never(delta)

    def change(self, events: Sequence[WatchEvent[T]]) -> list[T | None]:
        """Apply a batch of events in order; the answer is what each one found before it.

        The version becomes that of the last event, whatever it is: the server decides.
        """
        found: list[T | None] = []
        note = found.append
        transform = self._transform
        with self._lock:
            items = self._items
            indexes = tuple(self._indexes.values())
            for event in events:
                item = event.object
                metadata = item.metadata
                kind = event.type
                if kind == "BOOKMARK":
                    note(None)
                    continue
                namespace = metadata.namespace
                key = f"{namespace}/{metadata.name}" if namespace else metadata.name
                if kind == "DELETED":
                    old = items.pop(key, None)
                    note(old)
                    if old is not None:
                        for index in indexes:
                            index.change(key, old, None)
                    continue
                if transform is not None:
                    item = transform(item)
                old = items.get(key)
                items[key] = item
                note(old)
                for index in indexes:
                    index.change(key, old, item)
            if events:
                self._version = events[-1].object.metadata.resource_version
        return found

    def put(self, item: T) -> None:
        """Store one object, whether or not there was one."""
        key = self._key(item)
        transformed = self._transformed(item)
        with self._lock:
            self._put(key, transformed)
            self._take_version(transformed)

    def delete(self, item: T | Tombstone[T] | ExplicitKey) -> None:
        """Remove an object; the version becomes the given object's, even when nothing was there."""
        try:
            key = key_of_deleted(item)
        except RefletError as error:
            raise KeyFailure(item, error) from error
        with self._lock:
            self._remove(key)
            self._take_version(item.object if isinstance(item, Tombstone) else item)

    def replace(self, items: Iterable[T], version: str) -> None:
        """Swap everything for *items*; a key that cannot be made changes nothing."""
        fresh = {self._key(item): self._transformed(item) for item in items}
        with self._lock:
            self._items = fresh
            self._version = version
            for index in self._indexes.values():
                index.rebuild(fresh)

    def transaction(self, operations: Sequence[Operation[T]]) -> None:
        """Carry out *operations* in order, at once for every reader; objects are not transformed.

        Those whose key cannot be made are skipped and reported by a TransactionError.  The
        version becomes that of the last one carried out.
        """
        ready: list[tuple[int, str, Operation[T]]] = []
        errors: list[Exception] = []
        for position, operation in enumerate(operations):
            try:
                ready.append((position, key_of_deleted(operation.object), operation))
            except RefletError as error:
                failure = KeyFailure(operation.object, error)
                failure.__cause__ = error
                errors.append(failure)
        with self._lock:
            for _, key, operation in ready:
                match operation:
                    case Put(object=item):
                        self._put(key, item)
                    case Remove():
                        self._remove(key)
                    case _:
                        assert_never(operation)
            if ready:
                last = ready[-1][2].object
                self._take_version(last.object if isinstance(last, Tombstone) else last)
        if errors:
            positions = [position for position, _, _ in ready]
            raise TransactionError(positions, len(operations), errors)

    def bookmark(self, version: str) -> None:
        """The store shows *version* too: nothing changed up to there."""
        self._version = version

    # inside

    def _key(self, item: T) -> str:
        try:
            return key_of(item)
        except RefletError as error:
            raise KeyFailure(item, error) from error

    def _transformed(self, item: T) -> T:
        if self._transform is None:
            return item
        try:
            return self._transform(item)
        except Exception as error:
            raise RefletError(f"transforming: {error}") from error

    def _put(self, key: str, item: T) -> None:
        old = self._items.get(key)
        self._items[key] = item
        for index in self._indexes.values():
            index.change(key, old, item)

    def _remove(self, key: str) -> None:
        old = self._items.pop(key, None)
        if old is not None:
            for index in self._indexes.values():
                index.change(key, old, None)

    def _take_version(self, item: object) -> None:
        """Objects without metadata leave the version alone."""
        metadata = getattr(item, "metadata", None)
        if metadata is not None:
            self._version = metadata.resource_version

    def _index(self, name: str) -> Index[T]:
        index = self._indexes.get(name)
        if index is None:
            raise IndexMissing(f"Index with name {name} does not exist")
        return index
