"""``deployments`` of play: one ReplicaSet for each template, and the way from one to the next.

Scaling in the middle of a rollout goes to the newest ReplicaSet; the real controller shares it out
between the old ones too.

Upstream: pkg/controller/deployment/{sync,rolling,recreate,progress}.go; util/deployment_util.go
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from reflet.api.resources import DEPLOYMENTS, PODS, REPLICA_SETS
from reflet.gotext.times import time_text
from reflet.play.actions import (
    Action,
    Create,
    Delete,
    Document,
    NextActions,
    Update,
    status_update,
)
from reflet.play.cluster_view import ClusterView, SeenObject
from reflet.play.controller import PlayedController, its_controller, itself
from reflet.play.pod_lifecycle import moment
from reflet.play.workloads.workload_pods import (
    is_active,
    is_going,
    owner_reference,
    scaled,
    template_hash,
    with_condition,
)

HASH: Final = "pod-template-hash"
_PREFIX: Final = "deployment.kubernetes.io/"
REVISION: Final = f"{_PREFIX}revision"
HISTORY: Final = f"{_PREFIX}revision-history"
DESIRED: Final = f"{_PREFIX}desired-replicas"
MOST: Final = f"{_PREFIX}max-replicas"
_OWN: Final = frozenset(
    {
        *(REVISION, HISTORY, DESIRED, MOST),
        "kubectl.kubernetes.io/last-applied-configuration",
        "deprecated.deployment.rollback.to",
    }
)
NO_DEADLINE: Final = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Limits:
    """How far a rollout may be from the number that is wanted."""

    replicas: int
    surge: int
    unavailable: int

    @classmethod
    def of(cls, deployment: Document) -> Limits:
        """Read them; both zero would stand still, so one may then be unavailable."""
        spec = deployment["spec"]
        if spec["strategy"]["type"] != "RollingUpdate":
            return cls(spec["replicas"], 0, 0)
        rolling = spec["strategy"].get("rollingUpdate") or {}
        surge = scaled(rolling.get("maxSurge"), spec["replicas"], up=True)
        unavailable = scaled(rolling.get("maxUnavailable"), spec["replicas"], up=False)
        if not surge and not unavailable:
            unavailable = 1
        return cls(spec["replicas"], surge, min(unavailable, spec["replicas"]))


async def decide(view: ClusterView, key: str) -> NextActions:
    """Look at one Deployment."""
    deployment = view.get(DEPLOYMENTS, key)
    if deployment is None:
        return NextActions()
    sets = view.owned(REPLICA_SETS, deployment["metadata"]["uid"])
    pods = (
        [pod for each in sets for pod in view.owned(PODS, each["metadata"]["uid"])]
        if deployment["spec"]["strategy"]["type"] == "Recreate"
        else []
    )
    return decide_rollout(deployment, sets, pods, view.now())


def decide_rollout(
    deployment: Document, sets: Sequence[Document], pods: Sequence[Document], now: datetime
) -> NextActions:
    """The next step of a rollout, and the status."""
    if "deletionTimestamp" in deployment["metadata"]:
        status, again = rollout_status(deployment, newest_set(deployment, sets), sets, now)
        return NextActions(status_update(DEPLOYMENTS, deployment, status), again)
    new = newest_set(deployment, sets)
    old = [each for each in sets if each is not new]
    is_paused = deployment["spec"].get("paused", False)
    limits = Limits.of(deployment)
    steps: list[Action] = []
    if new is None and not is_paused:
        is_recreate = deployment["spec"]["strategy"]["type"] == "Recreate"
        if is_recreate and any(is_active(pod) or is_going(pod) for pod in pods):
            steps += [_resized(each, 0, limits) for each in old if _wanted(each)]
        else:
            steps.append(Create(REPLICA_SETS, _new_set(deployment, sets, limits)))
    elif new is not None:
        revised = _revised(deployment, new, old, limits)
        if revised is not new and not is_paused:
            steps.append(Update(REPLICA_SETS, revised))
        else:
            sizes = next_sizes(deployment, new, old, limits)
            steps += [
                _resized(each, size, limits)
                for each in sets
                if (size := sizes.get(each["metadata"]["name"])) is not None
                and size != _wanted(each)
            ]
    status, again = rollout_status(deployment, new, sets, now)
    if not steps and new is not None and _is_complete(deployment, status):
        steps += _cleanup(deployment, old)
    marked = _with_revision(deployment, new)
    if marked is not deployment:
        # Together with the status, where annotations do not count as another generation.
        update = Update(DEPLOYMENTS, {**marked, "status": status}, "status")
        return NextActions([*steps, update], again)
    return NextActions([*steps, *status_update(DEPLOYMENTS, deployment, status)], again)


# Sizes: the arithmetic of a rollout


def next_sizes(
    deployment: Document, new: Document, old: Sequence[Document], limits: Limits
) -> Mapping[str, int]:
    """How many pods each ReplicaSet should have now, by name; those that stay are left out."""
    name = new["metadata"]["name"]
    if deployment["spec"].get("paused"):
        return {name: limits.replicas} if not any(map(_wanted, old)) else {}
    if deployment["spec"]["strategy"]["type"] == "Recreate":
        is_empty = not any(_wanted(each) or _count(each, "replicas") for each in old)
        return {each["metadata"]["name"]: 0 for each in old} | (
            {name: limits.replicas} if is_empty else {}
        )
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
    unavailable_new = _wanted(new) - _count(new, "availableReplicas")
    may_go = total - least - unavailable_new
    if may_go <= 0:
        return {}
    sizes: dict[str, int] = {}
    by_age = sorted(old, key=lambda each: str(each["metadata"].get("creationTimestamp")))
    # Pods that are not there for anybody go first, and cost no availability.
    for each in by_age:
        unhealthy = min(may_go, _wanted(each) - _count(each, "availableReplicas"))
        if unhealthy > 0:
            sizes[each["metadata"]["name"]] = _wanted(each) - unhealthy
            may_go -= unhealthy
    spare = sum(_count(each, "availableReplicas") for each in (new, *old)) - least
    for each in by_age:
        held = sizes.get(each["metadata"]["name"], _wanted(each))
        taken = min(spare, held)
        if taken > 0:
            sizes[each["metadata"]["name"]] = held - taken
            spare -= taken
    return sizes


def _wanted(replica_set: Document) -> int:
    return int(replica_set["spec"]["replicas"])


def _count(replica_set: Document, name: str) -> int:
    return int(replica_set.get("status", {}).get(name) or 0)


# ReplicaSets


def newest_set(deployment: Document, sets: Sequence[Document]) -> Document | None:
    """The ReplicaSet whose template is the Deployment's; the oldest, if there are several."""
    wanted = _without_hash(deployment["spec"]["template"])
    same = [each for each in sets if _without_hash(each["spec"]["template"]) == wanted]
    return min(same, key=lambda each: str(each["metadata"]["creationTimestamp"]), default=None)


def _without_hash(template: Document) -> Document:
    metadata = {**(template.get("metadata") or {})}
    labels = {key: value for key, value in (metadata.get("labels") or {}).items() if key != HASH}
    return {**template, "metadata": {**metadata, "labels": labels}}


def revision_of(document: Document) -> int:
    """The revision of a Deployment or ReplicaSet; 0 before it has one."""
    return int(document["metadata"].get("annotations", {}).get(REVISION) or 0)


def _new_set(deployment: Document, sets: Sequence[Document], limits: Limits) -> Document:
    spec, metadata = deployment["spec"], deployment["metadata"]
    name = template_hash(spec["template"])
    given = spec["template"].get("metadata") or {}
    labels = {**(given.get("labels") or {}), HASH: name}
    selector = spec["selector"]
    old_total = sum(map(_wanted, sets))
    room = max(limits.replicas + limits.surge - old_total, 0)
    is_rolling = spec["strategy"]["type"] == "RollingUpdate"
    revision = max(map(revision_of, sets), default=0) + 1
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {
            "name": f"{metadata['name']}-{name}",
            "namespace": metadata["namespace"],
            "labels": labels,
            "annotations": {
                **_handed_down(deployment),
                **_sizes(limits),
                REVISION: str(revision),
            },
            "ownerReferences": [owner_reference(deployment)],
        },
        "spec": {
            "replicas": min(limits.replicas, room) if is_rolling else limits.replicas,
            "minReadySeconds": spec.get("minReadySeconds", 0),
            "selector": {
                **selector,
                "matchLabels": {**(selector.get("matchLabels") or {}), HASH: name},
            },
            "template": {**spec["template"], "metadata": {**given, "labels": labels}},
        },
    }


def _handed_down(deployment: Document) -> dict[str, str]:
    annotations = deployment["metadata"].get("annotations") or {}
    return {key: value for key, value in annotations.items() if key not in _OWN}


def _sizes(limits: Limits) -> dict[str, str]:
    return {DESIRED: str(limits.replicas), MOST: str(limits.replicas + limits.surge)}


def _revised(
    deployment: Document, new: Document, old: Sequence[Document], limits: Limits
) -> Document:
    """The newest ReplicaSet with the newest revision: an old one becomes it by a rollback."""
    annotations = new["metadata"].get("annotations") or {}
    revision = max(map(revision_of, old), default=0) + 1
    made = {**annotations, **_handed_down(deployment)}
    if revision_of(new) < revision:
        made[REVISION] = str(revision)
        if revision_of(new):
            earlier = annotations.get(HISTORY, "")
            before = str(revision_of(new))
            made[HISTORY] = f"{earlier},{before}" if earlier else before
    if _wanted(new) == limits.replicas:
        made |= _sizes(limits)
    seconds = deployment["spec"].get("minReadySeconds", 0)
    if made == annotations and new["spec"].get("minReadySeconds", 0) == seconds:
        return new
    metadata = {**new["metadata"], "annotations": made}
    return {**new, "metadata": metadata, "spec": {**new["spec"], "minReadySeconds": seconds}}


def _resized(replica_set: Document, size: int, limits: Limits) -> Update:
    annotations = {**(replica_set["metadata"].get("annotations") or {}), **_sizes(limits)}
    metadata = {**replica_set["metadata"], "annotations": annotations}
    spec = {**replica_set["spec"], "replicas": size}
    return Update(REPLICA_SETS, {**replica_set, "metadata": metadata, "spec": spec})


def _with_revision(deployment: Document, new: Document | None) -> Document:
    if new is None or revision_of(new) == revision_of(deployment) or not revision_of(new):
        return deployment
    annotations = {**(deployment["metadata"].get("annotations") or {})}
    annotations[REVISION] = str(revision_of(new))
    return {**deployment, "metadata": {**deployment["metadata"], "annotations": annotations}}


def _cleanup(deployment: Document, old: Sequence[Document]) -> list[Action]:
    """Delete the ReplicaSets of revisions that nobody is to go back to."""
    limit = deployment["spec"].get("revisionHistoryLimit", 10)
    unused = [
        each
        for each in old
        if not _wanted(each)
        and not _count(each, "replicas")
        and "deletionTimestamp" not in each["metadata"]
    ]
    surplus = len(unused) - limit
    return [
        Delete(REPLICA_SETS, each) for each in sorted(unused, key=revision_of)[: max(surplus, 0)]
    ]


# Status


def rollout_status(
    deployment: Document, new: Document | None, sets: Sequence[Document], now: datetime
) -> tuple[Document, float | None]:
    """The status, and when the rollout will be too late."""
    before, limits = deployment.get("status", {}), Limits.of(deployment)
    total, ready = sum(map(_wanted, sets)), sum(_count(each, "readyReplicas") for each in sets)
    free = sum(_count(each, "availableReplicas") for each in sets)
    counted = {
        "replicas": sum(_count(each, "replicas") for each in sets),
        "updatedReplicas": 0 if new is None else _count(new, "replicas"),
        "readyReplicas": ready,
        "availableReplicas": free,
        "unavailableReplicas": max(total - free, 0),
    }
    status: dict[str, Any] = {
        "observedGeneration": deployment["metadata"].get("generation", 1),
        **{name: number for name, number in counted.items() if number},
        "terminatingReplicas": sum(_count(each, "terminatingReplicas") for each in sets),
    }
    conditions = list(before.get("conditions") or ())
    if free >= limits.replicas - limits.unavailable:
        found = ("True", "MinimumReplicasAvailable", "Deployment has minimum availability.")
    else:
        found = (
            "False",
            "MinimumReplicasUnavailable",
            "Deployment does not have minimum availability.",
        )
    conditions = _set_condition(conditions, now, "Available", found)
    conditions, again = _progress(deployment, new, status, conditions, now)
    status["conditions"] = conditions
    return status, again


def _progress(
    deployment: Document,
    new: Document | None,
    status: Document,
    conditions: list[Document],
    now: datetime,
) -> tuple[list[Document], float | None]:
    spec = deployment["spec"]
    deadline = spec.get("progressDeadlineSeconds", NO_DEADLINE)
    held = next((each for each in conditions if each["type"] == "Progressing"), None)
    if deadline == NO_DEADLINE:
        return [each for each in conditions if each is not held], None
    if spec.get("paused"):
        if held is not None and held["reason"] in {"DeploymentPaused", "ProgressDeadlineExceeded"}:
            return conditions, None
        words = ("Unknown", "DeploymentPaused", "Deployment is paused")
        return _set_condition(conditions, now, "Progressing", words), None
    if held is not None and held["reason"] == "DeploymentPaused":
        words = ("Unknown", "DeploymentResumed", "Deployment is resumed")
        return _set_condition(conditions, now, "Progressing", words), 0.0
    name = deployment["metadata"]["name"] if new is None else new["metadata"]["name"]
    what = f'{"Deployment" if new is None else "ReplicaSet"} "{name}"'
    if _is_complete(deployment, status):
        words = ("True", "NewReplicaSetAvailable", f"{what} has successfully progressed.")
        return _set_condition(conditions, now, "Progressing", words), None
    before = deployment.get("status", {})
    if (
        held is None
        or _has_progressed(before, status)
        or held["reason"] == "NewReplicaSetAvailable"
    ):
        words = ("True", "ReplicaSetUpdated", f"{what} is progressing.")
        moved = _set_condition(conditions, now, "Progressing", words, moved=True)
        return moved, float(deadline)
    if held["reason"] == "ProgressDeadlineExceeded":
        return conditions, None
    end = moment(held["lastUpdateTime"]) + timedelta(seconds=deadline)
    left = (end - now).total_seconds()
    if left > 0:
        return conditions, left
    words = ("False", "ProgressDeadlineExceeded", f"{what} has timed out progressing.")
    return _set_condition(conditions, now, "Progressing", words), None


def _is_complete(deployment: Document, status: Document) -> bool:
    replicas = deployment["spec"]["replicas"]
    return all(
        status.get(name, 0) == replicas
        for name in ("updatedReplicas", "replicas", "availableReplicas")
    )


def _has_progressed(before: Document, status: Document) -> bool:
    def old_ones(counts: Document) -> int:
        return int(counts.get("replicas", 0)) - int(counts.get("updatedReplicas", 0))

    return old_ones(status) < old_ones(before) or any(
        status.get(name, 0) > before.get(name, 0)
        for name in ("updatedReplicas", "readyReplicas", "availableReplicas")
    )


def _set_condition(
    conditions: Sequence[Document],
    now: datetime,
    kind: str,
    found: tuple[str, str, str],
    *,
    moved: bool = False,
) -> list[Document]:
    """Set it unless it says so already; *moved* renews the time of its last update all the same.

    *found* is its status, its reason and its message.
    """
    status, reason, message = found
    held = next((each for each in conditions if each["type"] == kind), None)
    if held and not moved and (held["status"], held["reason"]) == (status, reason):
        return list(conditions)
    rest = {"reason": reason, "message": message, "lastUpdateTime": time_text(now)}
    return with_condition(conditions, now, kind, status, **rest)


def _of_pod(view: ClusterView, seen: SeenObject) -> list[str]:
    """The Deployment of a pod that goes: Recreate waits for the last one."""
    found: list[str] = []
    if seen.metadata.deletion_timestamp is None:
        return found
    for reference in seen.metadata.owner_references:
        if reference.controller and reference.kind == "ReplicaSet":
            owner = view.get(REPLICA_SETS, f"{seen.metadata.namespace}/{reference.name}")
            found += [
                f"{seen.metadata.namespace}/{each['name']}"
                for each in (owner or {}).get("metadata", {}).get("ownerReferences") or ()
                if each.get("controller") and each["kind"] == "Deployment"
            ]
    return found


CONTROLLER = PlayedController(
    "deployments",
    {DEPLOYMENTS: itself, REPLICA_SETS: its_controller("Deployment"), PODS: _of_pod},
    decide,
)
