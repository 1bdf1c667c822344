"""What the controllers know of the cluster: documents, decoded once and never changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Final

from reflet.api.meta import ObjectMeta
from reflet.api.resources import Resource
from reflet.api.unstructured import AnyObject
from reflet.play.actions import Document
from reflet.runtime.clock import Clock
from reflet.store.indexes import IndexFunction
from reflet.store.store import Store


class SeenObject:
    """An object as the view keeps it: typed metadata, and the whole of it as a document."""

    __slots__ = ("api_version", "document", "kind", "metadata")

    def __init__(self, found: AnyObject) -> None:
        self.api_version = found.api_version
        self.kind = found.kind
        self.metadata: ObjectMeta = found.metadata
        self.document: Document = found.to_dict()


def _owners(seen: SeenObject) -> Iterable[str]:
    return {reference.uid for reference in seen.metadata.owner_references}


def _controllers(seen: SeenObject) -> Iterable[str]:
    return {each.uid for each in seen.metadata.owner_references if each.controller}


def _node(seen: SeenObject) -> Iterable[str]:
    return (str(seen.document["spec"].get("nodeName", "")),) if seen.kind == "Pod" else ()


INDEXERS: Final[Mapping[str, IndexFunction[Any]]] = {
    "owner": _owners,
    "controller": _controllers,
    "node": _node,
}


class ClusterView:
    """The present state of the resources that somebody follows; of the others, nothing."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.resources: dict[str, Resource] = {}
        self.stores: dict[str, Store[Any]] = {}

    def now(self) -> datetime:
        """The time, as objects carry it."""
        return self.clock.now().replace(microsecond=0)

    def seen_at(self, resource: Resource, key: str) -> SeenObject | None:
        """The object at ``namespace/name``, or ``name``."""
        store = self.stores.get(resource.full_name)
        return None if store is None else store.get(key)

    def get(self, resource: Resource, key: str) -> Document | None:
        """The document at a key."""
        seen = self.seen_at(resource, key)
        return None if seen is None else seen.document

    def seen(self, resource: Resource, index: str = "", value: str = "") -> list[SeenObject]:
        """Every object of a resource, or those that an index has under a value."""
        store = self.stores.get(resource.full_name)
        if store is None:
            return []
        return store.by_index(index, value) if value else store.objects()

    def all(self, resource: Resource, namespace: str = "") -> list[Document]:
        """Every document of a resource, or those of one namespace."""
        return [seen.document for seen in self.seen(resource, "namespace", namespace)]

    def owned(self, resource: Resource, owner: Document) -> list[Document]:
        """The documents whose controller is *owner*."""
        uid = owner["metadata"]["uid"]
        return [seen.document for seen in self.seen(resource, "controller", uid)]
