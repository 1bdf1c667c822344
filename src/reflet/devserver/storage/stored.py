"""What is stored and what happens to it: keys, stored states and changes.

States and changes are values that everybody shares, so nobody may change the objects in them.

Upstream: apiserver/pkg/storage/cacher/watch_cache.go, watchCacheEvent
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import msgspec

JsonObject = dict[str, Any]
ChangeType = Literal["ADDED", "MODIFIED", "DELETED"]


class Key(NamedTuple):
    """Where an object lives; ``namespace`` is empty for what belongs to the whole cluster.

    ``resource`` is the plural with its group, ``configmaps`` or ``deployments.apps``: the form
    in which the server's messages name it.
    """

    resource: str
    namespace: str
    name: str

    @property
    def path(self) -> str:
        """The text by which the objects of a resource are ordered, as etcd orders them.

        It is not the order of pairs: namespace ``a-b`` comes before ``a``, because ``-``
        comes before ``/``.
        """
        return f"{self.namespace}/{self.name}" if self.namespace else self.name


class Stored(msgspec.Struct, frozen=True, gc=False):
    """One state of one object.

    ``object`` carries ``revision`` as its resourceVersion, and ``encoded`` is its JSON.
    ``created`` is the revision at which the object came to be.
    """

    key: Key
    object: JsonObject
    encoded: bytes
    revision: int
    created: int


class StoredChange(msgspec.Struct, frozen=True, gc=False):
    """One write: the state after it and, unless the object is new, the state before.

    After a deletion ``stored`` is the last state, which carries the deletion's revision.
    """

    type: ChangeType
    stored: Stored
    previous: Stored | None = None

    @property
    def key(self) -> Key:
        """The key of the object that changed."""
        return self.stored.key

    @property
    def revision(self) -> int:
        """The revision that this write made."""
        return self.stored.revision


def stored_at(key: Key, content: JsonObject, revision: int, created: int) -> Stored:
    """Make the state that ``content`` becomes when it is written at a revision."""
    labelled = with_version(content, revision)
    return Stored(key, labelled, msgspec.json.encode(labelled), revision, created)


def moved_to(state: Stored, revision: int) -> Stored:
    """Make the same state carry another revision, as the last state of a deleted object does."""
    return stored_at(state.key, state.object, revision, state.created)


def with_version(content: JsonObject, revision: int) -> JsonObject:
    """Copy an object as far as needed to give it a resourceVersion."""
    metadata = {**content.get("metadata", {}), "resourceVersion": str(revision)}
    return {**content, "metadata": metadata}
