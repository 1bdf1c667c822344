"""The whole state of the server, with one counter of revisions for everything, as in etcd.

A write is checked, counted and safe in the journal before anybody hears of it.  Calls are plain
functions and everything runs on one thread, so each of them is atomic.

Upstream: apiserver/pkg/storage/etcd3/store.go;
apiserver/pkg/storage/cacher/watch_cache.go, waitUntilFreshAndBlock
"""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict, deque
from collections.abc import Callable, Mapping, Sequence
from typing import Final, Protocol, final

import msgspec

from reflet.apirules import refusals
from reflet.devserver.storage.collection import Collection
from reflet.devserver.storage.stored import (
    JsonObject,
    Key,
    Stored,
    StoredChange,
    moved_to,
    stored_at,
    with_version,
)
from reflet.errors import ApiError

FIRST_REVISION: Final = 1  # of a server in which nothing was written yet, as in etcd
HISTORY_CHANGES: Final = 10_000
HISTORY_BYTES: Final = 32 * 2**20

logger = logging.getLogger(__name__)

Subscriber = Callable[[StoredChange], None]
FRESH_TIMEOUT: Final = 3.0  # seconds, as the real server


class JournalContents(msgspec.Struct, frozen=True, gc=False):
    """Everything that a journal gives back.

    ``floors`` are the oldest revisions known, by resource; ``expired`` is that of every
    resource which has none there.
    """

    revision: int = FIRST_REVISION
    expired: int = 0
    floors: dict[str, int] = {}
    objects: tuple[Stored, ...] = ()
    changes: tuple[StoredChange, ...] = ()


class StorageSnapshot(msgspec.Struct, frozen=True, gc=False):
    """All objects at a moment, by resource and path; for ``Storage.restore``."""

    objects: Mapping[str, Mapping[str, Stored]]


class Journal(Protocol):
    """Where a storage puts what must survive it; each call is durable when it returns."""

    def read(self) -> JournalContents:
        """Give back everything that was recorded, changes oldest first."""
        ...

    def record(self, change: StoredChange, /, *, floor: int | None) -> None:
        """Keep a change and, in the same step, forget its resource's changes up to a floor."""
        ...

    def expire(self, revision: int, /) -> None:
        """Forget the changes of all resources up to a revision, which is the newest."""
        ...


@final
class Storage:
    """All objects, and for each resource its changes of late.

    A revision is given to every write, one after the other, and is never used twice.  Objects
    handed in and out are shared: whoever wants another one makes a new one.

    The history of a resource reaches back ``history_changes`` changes, or as many as fit
    into ``history_bytes`` of JSON.
    """

    def __init__(
        self,
        journal: Journal | None = None,
        *,
        history_changes: int = HISTORY_CHANGES,
        history_bytes: int = HISTORY_BYTES,
    ) -> None:
        self._journal = journal
        self._history_changes = history_changes
        self._history_bytes = history_bytes
        self._revision = FIRST_REVISION
        self._expired = 0
        self._collections: dict[str, Collection] = {}
        self._subscribers: dict[object, tuple[str | None, Subscriber]] = {}
        self._unannounced: deque[StoredChange] = deque()
        self._announcing = False
        if journal is not None:
            self._restore(journal.read())

    @property
    def revision(self) -> int:
        """The revision of the last write; a list of the present carries it."""
        return self._revision

    # Reading

    def get(self, key: Key) -> Stored | None:
        """Find an object as it is now, or give None."""
        return self._collection(key.resource).get(key.path)

    def list(self, resource: str, namespace: str | None = None) -> tuple[Stored, ...]:
        """Give the objects as they are now, of one namespace or of all, in etcd's order."""
        return self._collection(resource).list(namespace)

    def list_at(self, resource: str, namespace: str | None, revision: int) -> tuple[Stored, ...]:
        """Give the objects as they were right after a revision.

        Raises Expired when the revision has left the history, and Timeout when it has not
        been reached.
        """
        if revision > self._revision:
            raise refusals.too_large_version(revision, self._revision)
        return self._collection(resource).list_at(namespace, revision)

    def changes_since(
        self, resource: str, revision: int, *, key: Key | None = None
    ) -> Sequence[StoredChange]:
        """Give the changes after a revision, oldest first; with ``key`` those of one object.

        Raises Expired when some of them have left the history.  After a revision that has not
        been reached there are none.
        """
        path = None if key is None else key.path
        return self._collection(resource).changes_since(revision, path)

    def oldest_revision(self, resource: str) -> int:
        """Give the oldest revision at which a list can be read and a watch can begin."""
        return self._collection(resource).floor

    # Writing

    def create(self, key: Key, content: JsonObject) -> Stored:
        """Store a new object; raises AlreadyExists."""
        if self.get(key) is not None:
            raise _refused(refusals.already_exists, key)
        revision = self._revision + 1
        return self._write(StoredChange("ADDED", stored_at(key, content, revision, revision)))

    def replace(
        self, key: Key, content: JsonObject, *, expected_revision: int | None = None
    ) -> Stored:
        """Store a new state of an object; raises NotFound and, by its revision, Conflict.

        A state equal to the present one is not written again, and keeps its revision.
        """
        previous = self._present(key, expected_revision)
        if with_version(content, previous.revision) == previous.object:
            return previous
        stored = stored_at(key, content, self._revision + 1, previous.created)
        return self._write(StoredChange("MODIFIED", stored, previous))

    def delete(self, key: Key, *, expected_revision: int | None = None) -> Stored:
        """Remove an object and give its last state, with the revision of the deletion.

        Raises NotFound and, by its revision, Conflict.
        """
        previous = self._present(key, expected_revision)
        last = moved_to(previous, self._revision + 1)
        return self._write(StoredChange("DELETED", last, previous))

    # Going back

    def snapshot(self) -> StorageSnapshot:
        """Remember all objects as they are now; nothing is copied but where they are."""
        collections = self._collections.items()
        return StorageSnapshot(
            {resource: collection.snapshot() for resource, collection in collections}
        )

    def restore(self, snapshot: StorageSnapshot, *, first: Sequence[str] = ()) -> None:
        """Write the difference to a snapshot: what came goes, what went and what changed is back.

        These are writes like others, with revisions of their own, so that watches hear of them and
        no reader sees a version twice.  Resources in ``first`` are put back before the others, in
        that order, and removed after them: the others need them.  A subscriber that writes may
        have done part of it.
        """
        present = self.snapshot().objects
        others = [each for each in {**present, **snapshot.objects} if each not in first]
        order = [*first, *others]
        for resource in order:
            self._put_back(snapshot.objects.get(resource, {}), present.get(resource, {}))
        for resource in reversed(order):
            wanted = snapshot.objects.get(resource, {})
            for path, stored in present.get(resource, {}).items():
                if path not in wanted and self.get(stored.key) is not None:
                    self.delete(stored.key)

    def _put_back(self, wanted: Mapping[str, Stored], present: Mapping[str, Stored]) -> None:
        for path, stored in wanted.items():
            now = present.get(path)
            if now is stored:
                continue
            if now is None or self.get(stored.key) is None:
                self.create(stored.key, stored.object)
            else:
                self.replace(stored.key, stored.object)

    def expire_history(self) -> None:
        """Forget every revision that anybody has seen: watches and lists must begin anew.

        It takes a new revision, as compaction after a write in etcd would, so that even the
        newest one seen is too old.
        """
        revision = self._revision + 1
        if self._journal is not None:
            self._journal.expire(revision)
        self._revision = self._expired = revision
        for collection in self._collections.values():
            collection.forget(revision)

    def subscribe(
        self, subscriber: Subscriber, *, resource: str | None = None
    ) -> Callable[[], None]:
        """Tell of every change from now on, of one resource or of all; return the way to stop.

        Subscribers are called in the order of revisions, before the write returns.  They may
        write themselves.  One that fails is logged; it harms neither the write nor the others.
        """
        token = object()
        self._subscribers[token] = (resource, subscriber)

        def unsubscribe() -> None:
            self._subscribers.pop(token, None)

        return unsubscribe

    def _collection(self, resource: str) -> Collection:
        collection = self._collections.get(resource)
        if collection is None:
            collection = self._collections[resource] = Collection(
                self._expired, most_changes=self._history_changes, most_bytes=self._history_bytes
            )
        return collection

    def _present(self, key: Key, expected_revision: int | None) -> Stored:
        stored = self.get(key)
        if stored is None:
            raise _refused(refusals.not_found, key)
        if expected_revision is not None and expected_revision != stored.revision:
            raise _refused(refusals.modified, key)
        return stored

    def _write(self, change: StoredChange) -> Stored:
        collection = self._collection(change.key.resource)
        floor = collection.floor_after(change)
        if self._journal is not None:
            # First: a write that cannot be kept has not happened.
            self._journal.record(change, floor=floor)
        self._revision = change.revision
        collection.apply(change)
        if floor is not None:
            collection.forget(floor)
        self._announce(change)
        return change.stored

    def _announce(self, change: StoredChange) -> None:
        self._unannounced.append(change)
        if self._announcing:
            return  # a subscriber writes: its change waits until all have heard of the last one
        self._announcing = True
        try:
            while self._unannounced:
                self._tell(self._unannounced.popleft())
        finally:
            self._announcing = False

    def _tell(self, change: StoredChange) -> None:
        for resource, subscriber in tuple(self._subscribers.values()):
            if resource is not None and resource != change.key.resource:
                continue
            try:
                subscriber(change)
            except Exception:
                # The write is done and kept; whoever made it must not be told otherwise.
                logger.exception(
                    "subscriber %r failed at revision %d of %s",
                    subscriber,
                    change.revision,
                    change.key.resource,
                )

    def _restore(self, kept: JournalContents) -> None:
        self._revision = kept.revision
        self._expired = kept.expired
        objects: defaultdict[str, list[Stored]] = defaultdict(list)
        changes: defaultdict[str, list[StoredChange]] = defaultdict(list)
        for stored in kept.objects:
            objects[stored.key.resource].append(stored)
        for change in kept.changes:
            changes[change.key.resource].append(change)
        for resource in {*objects, *changes, *kept.floors}:
            collection = self._collection(resource)
            collection.restore(objects[resource], changes[resource])
            collection.floor = kept.floors.get(resource, kept.expired)


def _refused(refusal: Callable[..., ApiError], key: Key) -> ApiError:
    plural, _, group = key.resource.partition(".")
    return refusal(plural, key.name, group=group)


async def wait_until_fresh(
    storage: Storage, revision: int, *, patience: float = FRESH_TIMEOUT
) -> None:
    """Return as soon as a revision is there, at once if it is; raise Timeout if it stays away.

    The refusal is the real server's "Too large resource version".
    """
    if storage.revision >= revision:
        return
    arrived: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def look(change: StoredChange) -> None:
        if change.revision >= revision and not arrived.done():
            arrived.set_result(None)

    unsubscribe = storage.subscribe(look)
    try:
        async with asyncio.timeout(patience):
            await arrived
    except TimeoutError:
        raise refusals.too_large_version(revision, storage.revision) from None
    finally:
        unsubscribe()
