"""Those who look at every kind: ``garbage`` of play, and who tells ``namespaces`` what is left.

Objects go with their owners, in whichever way the owner was deleted.  Every kind that the server
serves is followed, custom kinds as soon as they come.  An owner that the view does not show is
asked for before anybody is deleted for its absence.

Upstream: pkg/controller/garbagecollector/garbagecollector.go, attemptToDeleteItem,
processDeletingDependentsItem, orphanDependents and GetDeletableResources
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Final, Literal, TypeAlias

from reflet.api.meta import ObjectMeta, OwnerReference
from reflet.api.options import PropagationPolicy
from reflet.api.resources import (
    CUSTOM_RESOURCE_DEFINITIONS,
    EVENTS,
    GROUPED_EVENTS,
    NAMESPACES,
    Resource,
)
from reflet.controllers.reconciler import Controller
from reflet.errors import NotFound
from reflet.informer.handlers.changes import Change
from reflet.play.actions import Action, Delete, Plan, Save, with_metadata
from reflet.play.cluster_view import SeenObject
from reflet.play.running_play import RunningPlay
from reflet.store.keys import key_of

FOREGROUND: Final = "foregroundDeletion"
ORPHAN: Final = "orphan"
NOT_STORED: Final = frozenset({"Binding", "ComponentStatus"})

OwnerState: TypeAlias = Literal["solid", "waiting", "absent", "unknown"]
"""Is there, waits for its dependents, is not there, or nobody can tell."""
Found: TypeAlias = tuple[Resource, SeenObject]


def decide_deletion(
    item: Found, owners: Sequence[OwnerState], dependents: Sequence[Found]
) -> list[Action]:
    """What has to be done about an object because of its owners, or of its dependents.

    *owners* says what became of each owner, in the order of the references.
    """
    resource, seen = item
    metadata = seen.metadata
    if metadata.deletion_timestamp is not None:
        if ORPHAN in metadata.finalizers:
            # The finalizer goes when they have: who is not freed yet must not be collected.
            freed = [_without_owners(*each, {metadata.uid}) for each in dependents]
            return [*freed] or [_without_finalizer(item, ORPHAN)]
        if FOREGROUND in metadata.finalizers and not any(
            reference.block_owner_deletion and reference.uid == metadata.uid
            for _, dependent in dependents
            for reference in dependent.metadata.owner_references
        ):
            return [_without_finalizer(item, FOREGROUND)]
        return []
    if not owners or "unknown" in owners:
        return []
    if "solid" in owners:
        pairs = zip(metadata.owner_references, owners, strict=True)
        dropped = {each.uid for each, state in pairs if state != "solid"}
        return [_without_owners(resource, seen, dropped)] if dropped else []
    if FOREGROUND in metadata.finalizers or ("waiting" in owners and dependents):
        # Whoever waits for this one waits for what depends on it too.
        return [Delete(resource, seen.document, policy="Foreground")]
    policy: PropagationPolicy = "Orphan" if ORPHAN in metadata.finalizers else "Background"
    return [Delete(resource, seen.document, policy=policy)]


def _without_owners(resource: Resource, seen: SeenObject, uids: set[str]) -> Save:
    references = seen.document["metadata"]["ownerReferences"]
    kept = [each for each in references if each["uid"] not in uids]
    return Save(resource, with_metadata(seen.document, ownerReferences=kept))


def _without_finalizer(item: Found, name: str) -> Save:
    kept = [each for each in item[1].metadata.finalizers if each != name]
    return Save(item[0], with_metadata(item[1].document, finalizers=kept))


def is_deletable(resource: Resource) -> bool:
    """Whether the server keeps objects of a resource; Events are shown under two names."""
    is_answered = resource.kind in NOT_STORED or resource.kind.endswith("Review")
    return not is_answered and resource.full_name != GROUPED_EVENTS.full_name


class GarbageCollector:
    """Follows every kind; *ending* is told the namespaces that are going and have changed.

    Its keys are ``resource|key``, and the names of definitions of kinds.
    """

    def __init__(self, play: RunningPlay, ending: Controller | None, *, collects: bool) -> None:
        self._play = play
        self._view = play.view
        self._ending = ending
        self._collects = collects
        self._followed: set[str] = set()
        self._following = asyncio.Lock()  # what was served a moment ago must not undo what is now
        self._own: Controller | None = None

    async def start(self) -> None:
        """Follow what there is, and begin."""
        self._own = await self._play.controller(CUSTOM_RESOURCE_DEFINITIONS, self._look)
        async with self._following:
            await self._follow()

    async def _look(self, key: str) -> Plan:
        name, mark, rest = key.partition("|")
        if not mark:
            async with self._following:
                await self._follow()
            return Plan()
        resource = self._view.resources.get(name)
        seen = None if resource is None else self._view.seen_at(resource, rest)
        if resource is None or seen is None:
            return Plan()
        references = seen.metadata.owner_references
        owners = [await self._state(resource, seen.metadata, each) for each in references]
        is_asked = seen.metadata.deletion_timestamp is not None or "waiting" in owners
        dependents = list(self._dependents(seen.metadata.uid)) if is_asked else []
        return Plan(decide_deletion((resource, seen), owners, dependents))

    # Every kind

    async def _follow(self) -> None:
        """Follow what is served now, and leave what no longer is."""
        served = {
            each.full_name: each
            for each in reversed(await self._play.cluster.resources(refresh=True))
            if is_deletable(each)
        }
        for name in served.keys() - self._followed:
            self._followed.add(name)
            mirror = await self._play.mirror(served[name])
            mirror.add_handler(partial(self._told, served[name]), name="play garbage")
        for name in self._followed - served.keys():
            self._followed.discard(name)
            await self._play.leave(self._view.resources[name])

    def _told(self, resource: Resource, change: Change[SeenObject]) -> None:
        metadata = change.object.metadata
        if self._ending is not None:
            name = metadata.namespace or (
                resource.full_name == NAMESPACES.full_name and metadata.name
            )
            namespace = self._view.seen_at(NAMESPACES, name) if name else None
            if namespace is not None and namespace.metadata.deletion_timestamp is not None:
                self._ending.queue.add(namespace.metadata.name)
        if self._collects and self._own is not None and resource.full_name != EVENTS.full_name:
            for key in self._keys(resource, change):
                self._own.queue.add(key)

    # The graph of owners

    def _keys(self, resource: Resource, change: Change[SeenObject]) -> Iterable[str]:
        """Who has to be looked at after a change: the object, its owners, its dependents."""
        metadata = change.object.metadata
        is_held = not {FOREGROUND, ORPHAN}.isdisjoint(metadata.finalizers)
        old = () if change.old is None else change.old.metadata.owner_references
        if is_held or metadata.owner_references != old:
            yield _key(resource, change.object)
        if change.type == "DELETED" or (metadata.deletion_timestamp is not None and is_held):
            yield from (_key(*each) for each in self._dependents(metadata.uid))
        if change.old is not None and change.old.metadata.uid != metadata.uid:
            # It went and came back while the watch was away: to a list that is an update.
            yield from (_key(*each) for each in self._dependents(change.old.metadata.uid))
        for state in (change.object, change.old):
            for reference in () if state is None else state.metadata.owner_references:
                owner = self._owner(metadata, reference)
                if owner is not None and owner[1].metadata.deletion_timestamp is not None:
                    yield _key(*owner)

    def _dependents(self, uid: str) -> Iterable[Found]:
        for resource in self._view.resources.values():
            for seen in self._view.seen(resource, "owner", uid):
                yield resource, seen

    def _resource(self, reference: OwnerReference) -> Resource | None:
        group = reference.api_version.rpartition("/")[0]
        for resource in self._view.resources.values():
            if (resource.kind, resource.group) == (reference.kind, group):
                return resource
        return None

    def _owner(self, of: ObjectMeta, reference: OwnerReference) -> Found | None:
        resource = self._resource(reference)
        if resource is not None:
            key = f"{of.namespace}/{reference.name}" if resource.namespaced else reference.name
            owner = self._view.seen_at(resource, key)
            if owner is not None and owner.metadata.uid == reference.uid:
                return resource, owner
        return None

    async def _state(
        self, of: Resource, metadata: ObjectMeta, reference: OwnerReference
    ) -> OwnerState:
        resource = self._resource(reference)
        if resource is None or (resource.namespaced and not of.namespaced):
            return "unknown"
        owner = self._owner(metadata, reference)
        if owner is not None:
            found = owner[1].metadata
        else:
            namespace = metadata.namespace if resource.namespaced else None
            objects = self._play.cluster.resource(resource, namespace=namespace, raw=True)
            try:
                found = (await objects.get(reference.name)).metadata
            except NotFound:
                return "absent"
            if found.uid != reference.uid:
                return "absent"
        is_waiting = found.deletion_timestamp is not None and FOREGROUND in found.finalizers
        return "waiting" if is_waiting else "solid"


def _key(resource: Resource, seen: SeenObject) -> str:
    return f"{resource.full_name}|{key_of(seen)}"
