"""``deployments`` of play: one ReplicaSet for each template, and the way from one to the next.

Scaling in the middle of a rollout goes to the newest ReplicaSet; the real controller shares it out
between the old ones too.  There is no deadline for progress.

Upstream: pkg/controller/deployment/{sync,rolling,recreate,progress}.go; util/deployment_util.go
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from reflet.api.resources import DEPLOYMENTS, REPLICA_SETS
from reflet.controllers.object_writes import set_condition
from reflet.play.actions import Action, Delete, Document, Plan, Save, status_saved, with_metadata
from reflet.play.cluster_view import ClusterView
from reflet.play.owned_pods import counted, is_going, owner_of, scaled, template_hash
from reflet.play.running_play import Player

HASH: Final = "pod-template-hash"
REVISION: Final = "deployment.kubernetes.io/revision"
_OWN: Final = frozenset({REVISION, "kubectl.kubernetes.io/last-applied-configuration"})


@dataclass(frozen=True, slots=True)
class Limits:
    """How far a rollout may be from the number that is wanted."""

    replicas: int
    surge: int = 0
    unavailable: int = 0

    @classmethod
    def of(cls, deployment: Document) -> Limits:
        """Read them; both zero would stand still, so one may then be unavailable."""
        replicas, strategy = deployment["spec"]["replicas"], deployment["spec"]["strategy"]
        if strategy["type"] != "RollingUpdate":
            return cls(replicas)
        rolling = strategy.get("rollingUpdate") or {}
        surge = scaled(rolling.get("maxSurge"), replicas, up=True)
        unavailable = scaled(rolling.get("maxUnavailable"), replicas, up=False)
        return cls(replicas, surge, min(unavailable or int(not surge), replicas))


def roll_out(view: ClusterView, deployment: Document) -> Plan:
    """The next step of a rollout, and the status."""
    sets, limits = view.owned(REPLICA_SETS, deployment), Limits.of(deployment)
    name = f"{deployment['metadata']['name']}-{template_hash(deployment)}"
    new = next((each for each in sets if each["metadata"]["name"] == name), None)
    old = [each for each in sets if each is not new]
    revision = str(max(map(revision_of, old), default=0) + 1)
    if new is None and not deployment["spec"].get("paused"):
        new = _new_set(deployment, name)
    actions: list[Action] = []
    if new is not None and not is_going(deployment):
        sizes = next_sizes(deployment, new, old, limits)
        for each in (new, *old):
            number = sizes.get(each["metadata"]["name"], _wanted(each))
            mark = revision if each is new and revision_of(new) < int(revision) else ""
            if mark or number != _wanted(each):
                actions.append(Save(REPLICA_SETS, _resized(each, number, mark)))
    status = rollout_status(view, deployment, new, sets)
    if new is not None and not actions and _is_complete(deployment, status):
        empty = [each for each in old if not _wanted(each) and not _alive(each)]
        surplus = max(len(empty) - deployment["spec"].get("revisionHistoryLimit", 10), 0)
        gone = sorted(empty, key=revision_of)[:surplus]
        actions += [Delete(REPLICA_SETS, each) for each in gone]
    if new is not None and revision_of(new) and revision_of(new) != revision_of(deployment):
        # Together with the status, where annotations do not count as another generation.
        annotations = deployment["metadata"].get("annotations") or {}
        marked = {**annotations, REVISION: str(revision_of(new))}
        document = {**with_metadata(deployment, annotations=marked), "status": status}
        return Plan([*actions, Save(DEPLOYMENTS, document, "status")])
    return Plan([*actions, *status_saved(DEPLOYMENTS, deployment, status)])


# Sizes: the arithmetic of a rollout


def next_sizes(
    deployment: Document, new: Document, old: Sequence[Document], limits: Limits
) -> Mapping[str, int]:
    """How many pods each ReplicaSet should have now, by name; those that stay are left out."""
    name = new["metadata"]["name"]
    if deployment["spec"].get("paused"):
        return {name: limits.replicas} if not any(map(_wanted, old)) else {}
    if deployment["spec"]["strategy"]["type"] == "Recreate":
        is_empty = not any(_wanted(each) or _alive(each) for each in old)
        grown = {name: limits.replicas} if is_empty else {}
        return {each["metadata"]["name"]: 0 for each in old} | grown
    total = sum(map(_wanted, (new, *old)))
    if _wanted(new) > limits.replicas:
        return {name: limits.replicas}
    room = limits.replicas + limits.surge - total
    if _wanted(new) < limits.replicas and room > 0:
        return {name: min(_wanted(new) + room, limits.replicas)}
    return _smaller_old_sets(new, old, limits, total)


def _smaller_old_sets(
    new: Document, old: Sequence[Document], limits: Limits, total: int
) -> dict[str, int]:
    least = limits.replicas - limits.unavailable
    may_go = total - least - (_wanted(new) - _count(new, "availableReplicas"))
    spare = sum(_count(each, "availableReplicas") for each in (new, *old)) - least
    sizes: dict[str, int] = {}
    # Pods that are not there for anybody go first, and cost no availability.
    for each in old if may_go > 0 else ():
        useless = max(min(may_go, _wanted(each) - _count(each, "availableReplicas")), 0)
        taken = max(min(spare, _wanted(each) - useless), 0)
        sizes[each["metadata"]["name"]] = _wanted(each) - useless - taken
        may_go, spare = may_go - useless, spare - taken
    return sizes


def _wanted(replica_set: Document) -> int:
    return int(replica_set["spec"]["replicas"])


def _count(replica_set: Document, name: str) -> int:
    return int(replica_set.get("status", {}).get(name) or 0)


def _alive(replica_set: Document) -> int:
    return _count(replica_set, "replicas") + _count(replica_set, "terminatingReplicas")


# ReplicaSets


def revision_of(document: Document) -> int:
    """The revision of a Deployment or ReplicaSet; 0 before it has one."""
    return int(document["metadata"].get("annotations", {}).get(REVISION) or 0)


def _new_set(deployment: Document, name: str) -> Document:
    spec, metadata = deployment["spec"], deployment["metadata"]
    given, selector = spec["template"].get("metadata") or {}, spec["selector"]
    own = {HASH: name.rpartition("-")[2]}
    labels = {**(given.get("labels") or {}), **own}
    annotations = metadata.get("annotations") or {}
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {
            "name": name,
            "namespace": metadata["namespace"],
            "labels": labels,
            # `kubectl rollout undo` gives a Deployment the annotations of the set that it takes.
            "annotations": {key: annotations[key] for key in annotations if key not in _OWN},
            "ownerReferences": owner_of(deployment),
        },
        "spec": {
            "replicas": 0,
            "minReadySeconds": spec.get("minReadySeconds", 0),
            "selector": {**selector, "matchLabels": {**selector.get("matchLabels", {}), **own}},
            "template": {**spec["template"], "metadata": {**given, "labels": labels}},
        },
    }


def _resized(replica_set: Document, number: int, revision: str) -> Document:
    annotations = {**(replica_set["metadata"].get("annotations") or {})}
    annotations |= {REVISION: revision} if revision else {}
    resized = {**replica_set, "spec": {**replica_set["spec"], "replicas": number}}
    return with_metadata(resized, annotations=annotations)


# Status


def rollout_status(
    view: ClusterView, deployment: Document, new: Document | None, sets: Sequence[Document]
) -> Document:
    """How many there are, and the conditions Available and Progressing."""
    limits, now = Limits.of(deployment), view.now()
    free = sum(_count(each, "availableReplicas") for each in sets)
    status = counted(
        deployment,
        {},
        replicas=sum(_count(each, "replicas") for each in sets),
        updatedReplicas=0 if new is None else _count(new, "replicas"),
        readyReplicas=sum(_count(each, "readyReplicas") for each in sets),
        availableReplicas=free,
        unavailableReplicas=max(sum(map(_wanted, sets)) - free, 0),
        terminatingReplicas=sum(_count(each, "terminatingReplicas") for each in sets),
    )
    is_there = free >= limits.replicas - limits.unavailable
    reason = "MinimumReplicasAvailable" if is_there else "MinimumReplicasUnavailable"
    message = f"Deployment {'has' if is_there else 'does not have'} minimum availability."
    before = deployment.get("status", {}).get("conditions") or ()
    conditions = set_condition(
        before, "Available", is_there, reason=reason, message=message, now=now
    )
    what = "Deployment" if new is None else f'ReplicaSet "{new["metadata"]["name"]}"'
    words: tuple[bool | str, str, str]
    if deployment["spec"].get("paused"):
        words = ("Unknown", "DeploymentPaused", "Deployment is paused")
    elif _is_complete(deployment, status):
        words = (True, "NewReplicaSetAvailable", f"{what} has successfully progressed.")
    else:
        words = (True, "ReplicaSetUpdated", f"{what} is progressing.")
    status["conditions"] = set_condition(
        conditions, "Progressing", words[0], reason=words[1], message=words[2], now=now
    )
    return status


def _is_complete(deployment: Document, status: Document) -> bool:
    replicas = deployment["spec"]["replicas"]
    names = ("updatedReplicas", "replicas", "availableReplicas")
    return all(status.get(name, 0) == replicas for name in names)


PLAYER = Player(DEPLOYMENTS, roll_out, owns=(REPLICA_SETS,))
