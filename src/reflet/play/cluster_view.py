"""What the controllers know of the cluster: one informer for each resource, shared by all.

Objects are documents, decoded once and never changed.  Who follows a resource is told of every
change; who has written can wait until the view shows it, so that no decision is taken twice.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Self

from reflet.api.meta import ObjectMeta
from reflet.api.resource_versions import rank
from reflet.api.resources import Resource
from reflet.api.unstructured import AnyObject
from reflet.client.client import ALL_NAMESPACES, Client
from reflet.informer.handlers.changes import Change
from reflet.informer.shared_informer import SharedInformer
from reflet.play.actions import Document
from reflet.runtime.clock import Clock
from reflet.runtime.tasks import Failure, TaskOwner
from reflet.runtime.waits import Arrivals
from reflet.store.keys import key_of

LONGEST_LAG: Final = 5.0  # seconds that a view may be behind before it is believed all the same


class SeenObject:
    """An object as the view keeps it: decoded when it is first looked at, and then once."""

    __slots__ = ("_document", "_object", "api_version", "kind", "metadata")

    def __init__(self, found: AnyObject) -> None:
        self.api_version = found.api_version
        self.kind = found.kind
        self.metadata: ObjectMeta = found.metadata
        self._object: AnyObject | None = found
        self._document: Document | None = None

    @property
    def key(self) -> str:
        """``namespace/name``, or ``name``."""
        return key_of(self)

    @property
    def document(self) -> Document:
        """The whole object; not to be changed."""
        if self._document is None:
            assert self._object is not None  # noqa: S101 - one of the two is always there
            self._document, self._object = self._object.to_dict(), None
        return self._document


Follower = Callable[[Change[Any]], None]


def _owners(seen: SeenObject) -> Iterable[str]:
    return {reference.uid for reference in seen.metadata.owner_references}


def _node(seen: SeenObject) -> Iterable[str]:
    return (str(seen.document.get("spec", {}).get("nodeName", "")),) if seen.kind == "Pod" else ()


_INDEXERS: Final[Any] = {"owner": _owners, "node": _node}  # stores know namespaces already


@dataclass(slots=True)
class _Followed:
    resource: Resource
    informer: SharedInformer[Any]
    followers: list[Follower]
    news: Arrivals = field(default_factory=Arrivals)
    task: asyncio.Task[None] | None = None

    def tell(self, change: Change[Any]) -> None:
        self.news.wake()
        for follower in self.followers:
            follower(change)


class ClusterView:
    """The present state of whatever somebody follows, and of nothing else.

    Belongs to one event loop.  Leaving the context ends every informer.
    """

    def __init__(self, client: Client, clock: Clock) -> None:
        self.client = client
        self.clock = clock
        self._followed: dict[str, _Followed] = {}
        self._tasks = TaskOwner("informers of play")

    async def __aenter__(self) -> Self:
        await self._tasks.__aenter__()
        return self

    async def __aexit__(self, *failure: *Failure) -> None:
        await self._tasks.__aexit__(*failure)

    # Following

    def follow(self, resource: Resource, follower: Follower | None = None) -> None:
        """Keep the objects of a resource, and tell of every change of them."""
        known = self._followed.get(resource.full_name)
        if known is None:
            informer: SharedInformer[Any] = SharedInformer(
                self.client.resource(resource, namespace=ALL_NAMESPACES, raw=True),
                name=f"play {resource.full_name}",
                transform=SeenObject,
                indexers=_INDEXERS,
                clock=self.clock,
            )
            known = _Followed(resource, informer, [])
            self._followed[resource.full_name] = known
            informer.add_handler(known.tell, name="play")
            known.task = self._tasks.start(informer.run(), name=f"informer of {resource}")
        if follower is not None:
            known.followers.append(follower)

    async def leave(self, resource: Resource) -> None:
        """Follow a resource no longer."""
        left = self._followed.pop(resource.full_name, None)
        if left is not None and left.task is not None:
            await self._tasks.stop(left.task)

    @property
    def resources(self) -> list[Resource]:
        """Everything that is followed."""
        return [each.resource for each in self._followed.values()]

    async def synced(self) -> None:
        """Return when everything that is followed has been seen once."""
        for each in list(self._followed.values()):
            await each.informer.wait_synced()

    async def caught_up(self, resource: Resource, version: int) -> None:
        """Return when a version of a resource's objects is shown; at the latest after a while."""
        followed = self._followed.get(resource.full_name)
        if followed is None or not version:
            return
        try:
            async with asyncio.timeout(LONGEST_LAG):
                while rank(followed.informer.store.version) < version:
                    await followed.news.wait()
        except TimeoutError:
            return

    # Reading

    def now(self) -> datetime:
        """The time, as objects carry it."""
        return self.clock.now().replace(microsecond=0)

    def get(self, resource: Resource, key: str) -> Document | None:
        """The object at ``namespace/name``, or ``name``."""
        seen = self.seen_at(resource, key)
        return None if seen is None else seen.document

    def seen_at(self, resource: Resource, key: str) -> SeenObject | None:
        """The object at a key; not decoded."""
        followed = self._followed.get(resource.full_name)
        return None if followed is None else followed.informer.store.get(key)

    def all(self, resource: Resource, namespace: str = "") -> list[Document]:
        """Every object of a resource, or those of one namespace."""
        return [seen.document for seen in self.seen(resource, "namespace", namespace)]

    def seen(self, resource: Resource, index: str = "", value: str = "") -> list[SeenObject]:
        """Every object of a resource, or those that an index has under a value; not decoded."""
        followed = self._followed.get(resource.full_name)
        if followed is None:
            return []
        store = followed.informer.store
        return store.by_index(index, value) if value else store.objects()

    def owned(self, resource: Resource, uid: str) -> list[Document]:
        """The objects whose controller is the one with that uid."""
        return [
            seen.document
            for seen in self.seen(resource, "owner", uid)
            if any(each.uid == uid and each.controller for each in seen.metadata.owner_references)
        ]

    def pods_on(self, node: str) -> int:
        """How many pods a node has."""
        followed = self._followed["pods"]
        return len(followed.informer.store.index_keys("node", node))
