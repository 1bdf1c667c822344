"""Objects by key, indexed, read from any thread.

client-go calls it Indexer: ``get`` is its GetByKey, ``put`` its Add and Update, ``replace`` its
Replace, ``by_index`` its ByIndex.

Upstream: client-go/tools/cache/store.go, Store; client-go/tools/cache/index.go, Indexer;
client-go/tools/cache/thread_safe_store.go, threadSafeMap
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable, Mapping, Sequence
from typing import Generic, Protocol, TypeVar, assert_never

from reflet.api.meta import KubernetesObject
from reflet.api.watch_events import WatchEvent
from reflet.errors import RefletError
from reflet.runtime.metrics import NO_METRICS, Metrics
from reflet.store.deltas import (
    Changed,
    ChangeType,
    Delta,
    Operation,
    Put,
    Remove,
    Replaced,
    Resynced,
    TransactionError,
)
from reflet.store.indexes import NAMESPACE, FunctionIndex, Index, IndexFunction, NamespaceIndex
from reflet.store.keys import (
    ExplicitKey,
    KeyFailure,
    Tombstone,
    key_of,
    key_of_deleted,
    namespace_of,
)
from reflet.store.sharing import Sharing
from reflet.store.transforms import LeftOut, Transform, Transforming

T = TypeVar("T", bound=KubernetesObject)

T_contra = TypeVar("T_contra", bound=KubernetesObject, contravariant=True)
Made = TypeVar("Made")
Made_co = TypeVar("Made_co", covariant=True)

logger = logging.getLogger(__name__)


class Note(Protocol[T_contra, Made_co]):
    """Makes of each change whatever is wanted of it.

    *old* is the state before, None when there was none.  *stale* says that the end of the object
    was not seen: *item* is then the last state that was known.
    """

    def __call__(
        self,
        what: ChangeType,
        item: T_contra,
        old: T_contra | None = None,
        /,
        *,
        stale: bool = False,
    ) -> Made_co:
        """Make it."""
        ...


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
    on their way in; keys are taken before.  Code of others, transforms and index functions, is
    called before anything changes.  An object that an index function cannot digest is left out
    of that index alone, one that the transform cannot digest is left out of the store; both are
    logged and counted, under *resource*, and everything else goes on.
    """

    def __init__(
        self,
        *,
        indexers: Mapping[str, IndexFunction[T]] | None = None,
        transform: Transform[T] | None = None,
        resource: str = "store",
        metrics: Metrics = NO_METRICS,
    ) -> None:
        self._lock = threading.RLock()
        self._items: dict[str, T] = {}
        self._version = ""
        self._resource = resource
        self._metrics = metrics
        self.set_transform(transform)
        self._sharing = Sharing()
        self._namespaces = NamespaceIndex(self._items)
        self._indexes: dict[str, FunctionIndex[T]] = {}
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
            return list(self._index(name).values()) if name in self.indexes else []

    def index_values_of(self, name: str, item: T) -> tuple[str, ...]:
        """The values that *item* has, or would have, in the index *name*."""
        return tuple(self._index(name).values_of(key_of(item), item))

    @property
    def indexes(self) -> frozenset[str]:
        """The names of the indexes."""
        return frozenset((NAMESPACE, *self._indexes))

    # Writing

    def add_indexers(self, indexers: Mapping[str, IndexFunction[T]]) -> None:
        """Add indexes, and index what is there; a known name is an IndexConflict, nothing added."""
        with self._lock:
            known = self.indexes & indexers.keys()
            if known:
                raise IndexConflict(f"indexer conflict: {', '.join(sorted(known))}")
            made = {
                name: FunctionIndex(function, self._items, self._left_out_of(name))
                for name, function in indexers.items()
            }
            # A new dictionary: writers may be walking through the old one.
            self._indexes = {**self._indexes, **made}
        self._tell_left_out()

    def set_transform(self, transform: Transform[T] | None) -> None:
        """Change objects that come from now on; None leaves them as they are."""
        self._transform = Transforming.of(transform, resource=self._resource, metrics=self._metrics)

    def apply(self, delta: Delta[T], /) -> None:
        """Take what a reflector learned."""
        match delta:
            case Changed(events=events):
                self.change(events, _nothing)
            case Replaced(items=items, version=version, namespace=namespace):
                self.replace(items, version, namespace=namespace)
            case Resynced():
                pass  # nobody follows a store
            case _:
                assert_never(delta)

    def change(
        self, events: Sequence[WatchEvent[T]], note: Note[T, Made]
    ) -> tuple[list[Made], bool]:
        """Apply a batch of events in order.

        The answer is what *note* made of each change, and whether any of them brought a version
        that was there already.  The store's version becomes that of the last event, whatever it
        is: the server decides.

        - *events*: the events, in order
        """
        made: list[Made] = []
        add = made.append
        repeated = False
        with self._lock:
            items = self._items
            get = items.get
            transform = self._transform
            indexed = bool(self._indexes)
            for event in events:
                kind: str = event.type  # a source may be anybody's
                item = event.object
                metadata = item.metadata
                namespace = metadata.namespace
                key = f"{namespace}/{metadata.name}" if namespace else metadata.name
                if kind == "MODIFIED" or kind == "ADDED":  # noqa: PLR1714 - the hot path
                    old = get(key)
                    if transform is not None:
                        digested = transform.digested(key, item)
                        if digested is None:
                            made += self._end(key, None, note)
                            continue
                        item = digested
                        metadata = item.metadata
                    if indexed:
                        self._reindex(key, old, item)
                    if old is None:
                        # Before others can read it, which takes no lock: without a GIL the
                        # labels that are swapped for shared ones could be freed under a reader.
                        self._sharing.share(metadata)
                        items[key] = item
                        self._namespaces.arrived(key)
                        add(note("ADDED", item))
                    else:
                        items[key] = item
                        add(note("UPDATED", item, old))
                        if old.metadata.resource_version == metadata.resource_version:
                            repeated = True
                elif kind == "DELETED":
                    last = item if transform is None else transform.last(key, item)
                    made += self._end(key, last, note)
                elif kind != "BOOKMARK":
                    logger.error(
                        "%s: unable to understand watch event of type %r", self._resource, kind
                    )
            if events:
                self._version = events[-1].object.metadata.resource_version
        if indexed or transform is not None:
            self._tell_left_out()
        return made, repeated

    def put(self, item: T) -> None:
        """Store one object, whether or not there was one; a transform that fails is raised."""
        key = self._key(item)
        transformed = self._transformed(item)
        with self._lock:
            self._put(key, transformed)
            self._take_version(item)
        self._tell_left_out()

    def delete(self, item: T | Tombstone[T] | ExplicitKey) -> None:
        """Remove an object; the version becomes the given object's, even when nothing was there.

        - *item*: the object, its tombstone, or its key
        """
        try:
            key = key_of_deleted(item)
        except RefletError as error:
            raise KeyFailure(item, error) from error
        with self._lock:
            self._remove(key)
            self._take_version(item.object if isinstance(item, Tombstone) else item)

    def replace(
        self, items: Iterable[T], version: str, *, namespace: str | None = None
    ) -> Mapping[str, T]:
        """Swap everything for *items*, or nothing at all; the answer is what was there before.

        With *namespace* all other namespaces keep what they have.

        - *version*: the ``resourceVersion`` of the list
        """
        fresh = {self._key(item): item for item in items}
        if self._transform is not None:
            fresh = self._transform.digested_list(fresh)
        with self._lock:
            if namespace is not None:
                present = self._items.items()
                others = {key: item for key, item in present if namespace_of(key) != namespace}
                fresh = others | fresh
            namespaces = NamespaceIndex(fresh)
            indexes = {name: index.rebuilt(fresh) for name, index in self._indexes.items()}
            before, self._items = self._items, fresh
            self._namespaces = namespaces
            self._indexes = indexes
            self._version = version
        self._tell_left_out()
        return before

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
        self._tell_left_out()
        if errors:
            successful = [position for position, _, _ in ready]
            raise TransactionError(successful, len(operations), errors)

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
        self._reindex(key, old, item)
        self._items[key] = item
        if old is None:
            self._namespaces.arrived(key)

    def _remove(self, key: str) -> T | None:
        """What was there."""
        old = self._items.get(key)
        if old is not None:
            self._reindex(key, old, None)
            del self._items[key]
            self._namespaces.departed(key)
        return old

    def _end(self, key: str, last: T | None, note: Note[T, Made]) -> list[Made]:
        """Remove an object; *last* is its last state, None when that is not known."""
        old = self._remove(key)
        if last is not None:
            return [note("DELETED", last, old)]
        return [] if old is None else [note("DELETED", old, old, stale=True)]

    def _reindex(self, key: str, old: T | None, new: T | None) -> None:
        """Bring every index up to date, or none."""
        moves = [(index, index.plan(key, old, new)) for index in self._indexes.values()]
        for index, move in moves:
            if move is not None:
                index.carry_out(key, new, move)

    def _left_out_of(self, index: str) -> LeftOut:
        why = f'of the index "{index}", because its function failed'
        return LeftOut(f"index {index}", why, resource=self._resource, metrics=self._metrics)

    def _tell_left_out(self) -> None:
        """Not while the lock is held: a log may take its time."""
        if self._transform is not None:
            self._transform.tell()
        for index in self._indexes.values():
            index.tell()

    def _take_version(self, item: object) -> None:
        """Objects without metadata leave the version alone."""
        metadata = getattr(item, "metadata", None)
        if metadata is not None:
            self._version = metadata.resource_version

    def _index(self, name: str) -> Index[T]:
        index = self._namespaces if name == NAMESPACE else self._indexes.get(name)
        if index is None:
            raise IndexMissing(f"Index with name {name} does not exist")
        return index


def _nothing(
    what: ChangeType,
    item: object,
    old: object = None,
    /,
    *,
    stale: bool = False,
) -> None:
    """What a store that nobody follows tells."""
