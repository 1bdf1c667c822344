"""``namespaces`` of play: what is in a namespace goes, then the namespace.

Upstream: pkg/controller/namespace/deletion/namespaced_resources_deleter.go, Delete;
status_condition_utils.go
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from reflet.api.resources import NAMESPACES, Resource
from reflet.play.actions import Action, Delete, Document, NextActions, Update, status_update
from reflet.play.cluster_view import ClusterView, SeenObject
from reflet.play.controller import PlayedController
from reflet.play.workloads.workload_pods import with_condition

FINALIZER: Final = "kubernetes"
_CONDITIONS: Final = (
    (
        "NamespaceDeletionDiscoveryFailure",
        "ResourcesDiscovered",
        "All resources successfully discovered",
    ),
    (
        "NamespaceDeletionGroupVersionParsingFailure",
        "ParsedGroupVersions",
        "All legacy kube types successfully parsed",
    ),
    (
        "NamespaceDeletionContentFailure",
        "ContentDeleted",
        "All content successfully deleted, may be waiting on finalization",
    ),
)


def decide_emptying(
    namespace: Document, contents: Mapping[Resource, list[SeenObject]], now: datetime
) -> NextActions:
    """Delete what is in a namespace that is going; when nothing is left, let it go."""
    finalizers = namespace["spec"].get("finalizers") or []
    if "deletionTimestamp" not in namespace["metadata"] or FINALIZER not in finalizers:
        return NextActions()
    deletions: list[Action] = [
        Delete(resource, seen.document, policy="Background")
        for resource, found in contents.items()
        for seen in found
        if seen.metadata.deletion_timestamp is None
    ]
    status = _status(namespace, contents, now)
    actions = status_update(NAMESPACES, namespace, status)
    if not any(contents.values()) and not actions:
        rest = [each for each in finalizers if each != FINALIZER]
        released = {**namespace, "spec": {**namespace["spec"], "finalizers": rest}}
        actions = [Update(NAMESPACES, released, "finalize")]
    return NextActions(actions, at_once=deletions)


def _status(
    namespace: Document, contents: Mapping[Resource, list[SeenObject]], now: datetime
) -> Document:
    conditions = list(namespace.get("status", {}).get("conditions") or ())
    for kind, reason, message in _CONDITIONS:
        conditions = with_condition(conditions, now, kind, "False", reason=reason, message=message)
    left = {f"{each.plural}.{each.group}": len(found) for each, found in contents.items() if found}
    held: dict[str, int] = {}
    for found in contents.values():
        for seen in found:
            for finalizer in seen.metadata.finalizers:
                held[finalizer] = held.get(finalizer, 0) + 1
    if left:
        shown = ", ".join(
            f"{name} has {count} resource instances" for name, count in sorted(left.items())
        )
        remaining = ("True", "SomeResourcesRemain", f"Some resources are remaining: {shown}")
    else:
        remaining = ("False", "ContentRemoved", "All content successfully removed")
    if held:
        shown = ", ".join(
            f"{name} in {count} resource instances" for name, count in sorted(held.items())
        )
        waiting = (
            "True",
            "SomeFinalizersRemain",
            f"Some content in the namespace has finalizers remaining: {shown}",
        )
    else:
        waiting = ("False", "ContentHasNoFinalizers", "All content-preserving finalizers finished")
    for kind, (status, reason, message) in (
        ("NamespaceContentRemaining", remaining),
        ("NamespaceFinalizersRemaining", waiting),
    ):
        conditions = with_condition(conditions, now, kind, status, reason=reason, message=message)
    return {**namespace.get("status", {}), "phase": "Terminating", "conditions": conditions}


@dataclass(slots=True)
class NamespaceDeletion:
    """Finds what is in a namespace, of every kind that is followed."""

    resources: dict[str, Resource] = field(default_factory=dict)

    def controller(self) -> PlayedController:
        """The controller; whom it watches is up to who follows the resources."""
        return PlayedController("namespaces", {}, self.decide)

    def keys(self, view: ClusterView, resource: Resource, seen: SeenObject) -> list[str]:
        """The namespace, or that of an object, if it is going."""
        is_one = resource.full_name == NAMESPACES.full_name
        name = seen.metadata.name if is_one else seen.metadata.namespace
        found = view.seen_at(NAMESPACES, name) if name else None
        return [name] if found is not None and found.metadata.deletion_timestamp else []

    async def decide(self, view: ClusterView, key: str) -> NextActions:
        """Look at one namespace."""
        namespace = view.get(NAMESPACES, key)
        if namespace is None:
            return NextActions()
        contents = {
            resource: view.seen(resource, "namespace", key)
            for resource in self.resources.values()
            if resource.namespaced
        }
        return decide_emptying(namespace, contents, view.now())
