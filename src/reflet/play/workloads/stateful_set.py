"""``statefulsets`` of play: pods with names that stay, one after the other.

Updates go one pod at a time (``maxUnavailable`` is not looked at), and claims stay when pods go.

Upstream: pkg/controller/statefulset/stateful_set_control.go, updateStatefulSet
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any

from reflet.api.resources import (
    CONTROLLER_REVISIONS,
    PERSISTENT_VOLUME_CLAIMS,
    PODS,
    STATEFUL_SETS,
)
from reflet.play.actions import Action, Create, Delete, Document, NextActions, status_update
from reflet.play.cluster_view import ClusterView
from reflet.play.controller import PlayedController, its_controller, itself
from reflet.play.pod_lifecycle import FINISHED
from reflet.play.workloads.revisions import HASH_LABEL, LABEL, Revisions, revisions_of
from reflet.play.workloads.workload_pods import available, is_ready, phase_of, pod_of


async def decide(view: ClusterView, key: str) -> NextActions:
    """Look at one StatefulSet."""
    stateful_set = view.get(STATEFUL_SETS, key)
    if stateful_set is None or "deletionTimestamp" in stateful_set["metadata"]:
        return NextActions()
    uid, namespace = stateful_set["metadata"]["uid"], stateful_set["metadata"]["namespace"]
    pods = view.owned(PODS, uid)
    status = stateful_set.get("status", {})
    used = {status.get("currentRevision", ""), *map(_revision, pods)}
    revisions = revisions_of(stateful_set, view.owned(CONTROLLER_REVISIONS, uid), used, HASH_LABEL)
    claims = {
        seen.metadata.name for seen in view.seen(PERSISTENT_VOLUME_CLAIMS, "namespace", namespace)
    }
    return decide_ordered(stateful_set, pods, revisions, claims, view.now())


def _revision(pod: Document) -> str:
    return str(pod["metadata"].get("labels", {}).get(LABEL, ""))


def decide_ordered(
    stateful_set: Document,
    pods: Sequence[Document],
    revisions: Revisions,
    claims: Collection[str],
    now: datetime,
) -> NextActions:
    """The next pod to make, to delete or to wait for, and the status."""
    current = stateful_set.get("status", {}).get("currentRevision") or revisions.name
    status, again = _status(stateful_set, pods, revisions, current, now)
    steps = _steps(stateful_set, pods, revisions, current, claims, now=now)
    return NextActions(
        [*revisions.actions, *steps, *status_update(STATEFUL_SETS, stateful_set, status)], again
    )


def _status(
    stateful_set: Document,
    pods: Sequence[Document],
    revisions: Revisions,
    current: str,
    now: datetime,
) -> tuple[Document, float | None]:
    spec = stateful_set["spec"]
    alive = [pod for pod in pods if "deletionTimestamp" not in pod["metadata"]]
    updated = sum(_revision(pod) == revisions.name for pod in alive)
    free, again = available(pods, spec.get("minReadySeconds", 0), now)
    ready = sum(map(is_ready, pods))
    if updated == len(pods) == ready == spec["replicas"] and not _partition(stateful_set):
        current = revisions.name
    counted = {
        "readyReplicas": ready,
        "currentReplicas": sum(_revision(pod) == current for pod in alive),
        "updatedReplicas": updated,
    }
    return {
        "observedGeneration": stateful_set["metadata"].get("generation", 1),
        "replicas": len(pods),
        **{name: number for name, number in counted.items() if number},
        "availableReplicas": free,
        "currentRevision": current,
        "updateRevision": revisions.name,
        "collisionCount": 0,
    }, again


def _partition(stateful_set: Document) -> int:
    rolling = stateful_set["spec"].get("updateStrategy", {}).get("rollingUpdate") or {}
    return int(rolling.get("partition") or 0)


def _steps(
    stateful_set: Document,
    pods: Sequence[Document],
    revisions: Revisions,
    current: str,
    claims: Collection[str],
    *,
    now: datetime,
) -> list[Action]:
    spec, name = stateful_set["spec"], stateful_set["metadata"]["name"]
    first = spec.get("ordinals", {}).get("start", 0)
    wanted = range(first, first + spec["replicas"])
    in_turn = spec.get("podManagementPolicy", "OrderedReady") == "OrderedReady"
    by_ordinal = {int(pod["metadata"]["name"].rpartition("-")[2]): pod for pod in pods}

    def is_fine(pod: Document) -> bool:
        is_there = available([pod], spec.get("minReadySeconds", 0), now)[0]
        return bool(is_there) and "deletionTimestamp" not in pod["metadata"]

    steps: list[Action] = []
    for ordinal in wanted:
        pod = by_ordinal.get(ordinal)
        if pod is None:
            is_old = ordinal < first + _partition(stateful_set)
            revision = current if is_old else revisions.name
            steps += _new_pod(stateful_set, f"{name}-{ordinal}", revision, revisions, claims)
        elif phase_of(pod) in FINISHED and "deletionTimestamp" not in pod["metadata"]:
            steps.append(Delete(PODS, pod))
        elif is_fine(pod) or not in_turn:
            continue
        if in_turn:
            return steps
    surplus = sorted((each for each in by_ordinal if each not in wanted), reverse=True)
    for ordinal in surplus:
        if "deletionTimestamp" not in by_ordinal[ordinal]["metadata"]:
            steps.append(Delete(PODS, by_ordinal[ordinal]))
        if in_turn:
            return steps
    if steps or spec.get("updateStrategy", {}).get("type") == "OnDelete":
        return steps
    for ordinal in reversed(wanted[_partition(stateful_set) :]):
        pod = by_ordinal[ordinal]
        if _revision(pod) != revisions.name and "deletionTimestamp" not in pod["metadata"]:
            return [Delete(PODS, pod)]
        if not is_fine(pod):
            return []
    return []


def _new_pod(
    stateful_set: Document,
    name: str,
    revision: str,
    revisions: Revisions,
    claims: Collection[str],
) -> list[Action]:
    spec = stateful_set["spec"]
    steps: list[Action] = []
    volumes: list[Document] = []
    for claim in spec.get("volumeClaimTemplates") or ():
        claimed = f"{claim['metadata']['name']}-{name}"
        source = {"persistentVolumeClaim": {"claimName": claimed}}
        volumes.append({"name": claim["metadata"]["name"], **source})
        if claimed not in claims:
            labels = spec["selector"].get("matchLabels") or {}
            given = {**claim["metadata"], "name": claimed, "labels": labels}
            given["namespace"] = stateful_set["metadata"]["namespace"]
            made = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "spec": claim["spec"]}
            steps.append(Create(PERSISTENT_VOLUME_CLAIMS, {**made, "metadata": given}))
    template = revisions.template(revision, stateful_set)
    labels = {
        LABEL: revision,
        "statefulset.kubernetes.io/pod-name": name,
        "apps.kubernetes.io/pod-index": name.rpartition("-")[2],
    }
    pod: dict[str, Any] = pod_of(stateful_set, template, name=name, labels=labels)
    named = {each["name"] for each in volumes}
    others = [each for each in pod["spec"].get("volumes") or () if each["name"] not in named]
    pod["spec"] = {**pod["spec"], "hostname": name, "subdomain": spec.get("serviceName", "")}
    if volumes or others:
        pod["spec"]["volumes"] = [*volumes, *others]
    return [*steps, Create(PODS, pod)]


CONTROLLER = PlayedController(
    "statefulsets",
    {
        STATEFUL_SETS: itself,
        PODS: its_controller("StatefulSet"),
        CONTROLLER_REVISIONS: its_controller("StatefulSet"),
        PERSISTENT_VOLUME_CLAIMS: lambda *_: (),
    },
    decide,
)
