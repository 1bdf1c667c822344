"""``garbage`` of play: objects go with their owners, in whichever way the owner was deleted.

Every kind that the server serves is followed, custom kinds as soon as they come.  An owner that
the view does not show is asked for before anybody is deleted for its absence.

Upstream: pkg/controller/garbagecollector/garbagecollector.go, attemptToDeleteItem,
processDeletingDependentsItem and orphanDependents
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from reflet.api.meta import OwnerReference
from reflet.api.options import PropagationPolicy
from reflet.api.resource_versions import rank
from reflet.api.resources import EVENTS, Resource
from reflet.errors import NotFound
from reflet.informer.handlers.changes import Change
from reflet.play.actions import Action, Delete, NextActions, Patch
from reflet.play.cluster_view import ClusterView, SeenObject
from reflet.play.controller import PlayedController

FOREGROUND: Final = "foregroundDeletion"
ORPHAN: Final = "orphan"
KNOWN_TO_BE_GONE: Final = 1000  # uids of owners that are remembered

OwnerState = Literal["solid", "waiting", "absent", "unknown"]
"""Is there, waits for its dependents, is not there, or nobody can tell."""


@dataclass(frozen=True, slots=True)
class GraphNode:
    """An object, what became of each of its owners, and who depends on it."""

    resource: Resource
    seen: SeenObject
    owners: Sequence[tuple[OwnerReference, OwnerState]]
    dependents: Sequence[tuple[Resource, SeenObject]]


def decide_deletion(item: GraphNode) -> list[Action]:
    """What has to be done about an object because of its owners, or of its dependents."""
    metadata, document = item.seen.metadata, item.seen.document
    if metadata.deletion_timestamp is not None:
        if ORPHAN in metadata.finalizers:
            freed = [_without_owners(*each, {metadata.uid}) for each in item.dependents]
            return [*freed, _without_finalizer(item, ORPHAN)]
        if FOREGROUND in metadata.finalizers and not _blocking(item):
            return [_without_finalizer(item, FOREGROUND)]
        return []
    states = {state for _, state in item.owners}
    if not states or "unknown" in states:
        return []
    if "solid" in states:
        dropped = {each.uid for each, state in item.owners if state != "solid"}
        return [_without_owners(item.resource, item.seen, dropped)] if dropped else []
    if "waiting" in states and item.dependents:
        # Whoever waits for this one waits for what depends on it too.
        return [Delete(item.resource, document, policy="Foreground")]
    return [Delete(item.resource, document, policy=_policy(metadata.finalizers))]


def _policy(finalizers: Iterable[str]) -> PropagationPolicy:
    if ORPHAN in finalizers:
        return "Orphan"
    return "Foreground" if FOREGROUND in finalizers else "Background"


def _blocking(item: GraphNode) -> bool:
    return any(
        reference.block_owner_deletion and reference.uid == item.seen.metadata.uid
        for _, dependent in item.dependents
        for reference in dependent.metadata.owner_references
    )


def _without_owners(resource: Resource, seen: SeenObject, uids: set[str]) -> Patch:
    document = seen.document
    kept = [each for each in document["metadata"]["ownerReferences"] if each["uid"] not in uids]
    return _patched(resource, seen, {"ownerReferences": kept or None})


def _without_finalizer(item: GraphNode, name: str) -> Patch:
    kept = [each for each in item.seen.metadata.finalizers if each != name]
    return _patched(item.resource, item.seen, {"finalizers": kept or None})


def _patched(resource: Resource, seen: SeenObject, changed: dict[str, object]) -> Patch:
    meant = {"uid": seen.metadata.uid, "resourceVersion": seen.metadata.resource_version}
    return Patch(resource, seen.document, {"metadata": {**meant, **changed}})


# The graph, as the view shows it


@dataclass(slots=True)
class GarbageCollector:
    """Finds owners and dependents, and remembers the owners that are gone."""

    resources: dict[str, Resource] = field(default_factory=dict)
    # From the uid of an owner that is gone to a version that is newer than its end.  An object
    # that is newer still may have come with an owner that came back: a server can be restored.
    _gone: dict[str, float] = field(default_factory=dict)

    def controller(self) -> PlayedController:
        """The controller; whom it watches is up to who follows the resources."""
        return PlayedController("garbage", {}, self.decide)

    def keys(
        self, view: ClusterView, resource: Resource, change: Change[SeenObject]
    ) -> Iterable[str]:
        """Who has to be looked at after a change: the object, its owners, its dependents."""
        seen = change.object
        if resource.full_name == EVENTS.full_name:
            return
        metadata = seen.metadata
        if change.type == "DELETED":
            self._remember(metadata.uid, metadata.resource_version)
            yield from (_key(*each) for each in self._dependents(view, metadata.uid))
        elif metadata.deletion_timestamp is not None and _is_held(metadata.finalizers):
            yield _key(resource, seen)
            yield from (_key(*each) for each in self._dependents(view, metadata.uid))
        elif metadata.owner_references:
            yield _key(resource, seen)
        if change.type == "DELETED" or metadata.deletion_timestamp is not None or change.old:
            yield from self._waiting_owners(view, seen)
            if change.old is not None:
                yield from self._waiting_owners(view, change.old)

    async def decide(self, view: ClusterView, key: str) -> NextActions:
        """Look at one object."""
        name, _, rest = key.partition("|")
        resource = self.resources.get(name)
        found = None if resource is None else view.seen_at(resource, rest)
        if resource is None or found is None:
            return NextActions()
        owners = [
            (reference, await self._state(view, resource, found, reference))
            for reference in found.metadata.owner_references
        ]
        dependents = list(self._dependents(view, found.metadata.uid))
        actions = decide_deletion(GraphNode(resource, found, owners, dependents))
        if len(actions) > 1:  # the dependents first, all at once; then the finalizer
            return NextActions(actions[-1:], at_once=actions[:-1])
        return NextActions(actions)

    def _remember(self, uid: str, version: str) -> None:
        self._gone[uid] = rank(version)
        if len(self._gone) > KNOWN_TO_BE_GONE:
            del self._gone[next(iter(self._gone))]

    def _dependents(self, view: ClusterView, uid: str) -> Iterable[tuple[Resource, SeenObject]]:
        for resource in self.resources.values():
            for seen in view.seen(resource, "owner", uid):
                yield resource, seen

    def _waiting_owners(self, view: ClusterView, seen: SeenObject) -> Iterable[str]:
        for reference in seen.metadata.owner_references:
            resource = self._resource(reference)
            owner = None if resource is None else self._owner(view, resource, seen, reference)
            if resource is not None and owner is not None and owner.metadata.deletion_timestamp:
                yield _key(resource, owner)

    def _resource(self, reference: OwnerReference) -> Resource | None:
        group = reference.api_version.rpartition("/")[0]
        for resource in self.resources.values():
            if resource.kind == reference.kind and resource.group == group:
                return resource
        return None

    def _owner(
        self, view: ClusterView, resource: Resource, seen: SeenObject, reference: OwnerReference
    ) -> SeenObject | None:
        namespace = f"{seen.metadata.namespace}/" if resource.namespaced else ""
        owner = view.seen_at(resource, f"{namespace}{reference.name}")
        return owner if owner is not None and owner.metadata.uid == reference.uid else None

    async def _state(
        self, view: ClusterView, of: Resource, seen: SeenObject, reference: OwnerReference
    ) -> OwnerState:
        version = seen.metadata.resource_version
        if rank(version) <= self._gone.get(reference.uid, 0):
            return "absent"
        resource = self._resource(reference)
        if resource is None or (resource.namespaced and not of.namespaced):
            return "unknown"
        owner = self._owner(view, resource, seen, reference)
        if owner is None:
            namespace = seen.metadata.namespace if resource.namespaced else None
            objects = view.client.resource(resource, namespace=namespace, raw=True)
            try:
                found = await objects.get(reference.name)
            except NotFound:
                found = None
            if found is None or found.metadata.uid != reference.uid:
                self._remember(reference.uid, version)
                return "absent"
            owner = SeenObject(found)
        metadata = owner.metadata
        is_waiting = metadata.deletion_timestamp is not None and FOREGROUND in metadata.finalizers
        return "waiting" if is_waiting else "solid"


def _is_held(finalizers: Iterable[str]) -> bool:
    return any(each in {FOREGROUND, ORPHAN} for each in finalizers)


def _key(resource: Resource, seen: SeenObject) -> str:
    return f"{resource.full_name}|{seen.key}"
