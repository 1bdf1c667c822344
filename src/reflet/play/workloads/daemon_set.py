"""``daemonsets`` of play: one pod on each node that can take it.

Upstream: pkg/controller/daemon/{daemon_controller,update}.go; util/daemonset_util.go
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, Final

from reflet.api.resources import CONTROLLER_REVISIONS, DAEMON_SETS, NODES, PODS
from reflet.play.actions import Action, Create, Delete, Document, NextActions, status_update
from reflet.play.cluster_view import ClusterView, SeenObject
from reflet.play.controller import PlayedController, its_controller, itself
from reflet.play.pod_lifecycle import FINISHED
from reflet.play.scheduling import refusal
from reflet.play.workloads.revisions import LABEL, Revisions, revisions_of
from reflet.play.workloads.workload_pods import available, is_ready, phase_of, pod_of, scaled

GENERATION: Final = "deprecated.daemonset.template.generation"
_TOLERATED: Final = (
    *(("not-ready", "NoExecute"), ("unreachable", "NoExecute"), ("disk-pressure", "NoSchedule")),
    *(("memory-pressure", "NoSchedule"), ("pid-pressure", "NoSchedule")),
    ("unschedulable", "NoSchedule"),
)


async def decide(view: ClusterView, key: str) -> NextActions:
    """Look at one DaemonSet."""
    daemon_set = view.get(DAEMON_SETS, key)
    if daemon_set is None or "deletionTimestamp" in daemon_set["metadata"]:
        return NextActions()
    uid = daemon_set["metadata"]["uid"]
    pods = view.owned(PODS, uid)
    used = {f"{daemon_set['metadata']['name']}-{_hash(pod)}" for pod in pods}
    revisions = revisions_of(daemon_set, view.owned(CONTROLLER_REVISIONS, uid), used, LABEL)
    return decide_daemons(daemon_set, pods, view.all(NODES), revisions, view.now())


def _hash(pod: Document) -> str:
    return str(pod["metadata"].get("labels", {}).get(LABEL, ""))


def decide_daemons(
    daemon_set: Document,
    pods: Sequence[Document],
    nodes: Sequence[Document],
    revisions: Revisions,
    now: datetime,
) -> NextActions:
    """Make the pods that are missing, delete those in the wrong place, update the others."""
    spec = daemon_set["spec"]
    wanted = {
        node["metadata"]["name"]: pod
        for node in nodes
        if not refusal(pod := _new_pod(daemon_set, node, revisions), node)
    }
    alive = [pod for pod in pods if "deletionTimestamp" not in pod["metadata"]]
    on_node: dict[str, list[Document]] = {}
    for held in alive:
        on_node.setdefault(_node_of(held), []).append(held)
    misplaced = [pod for pod in alive if _node_of(pod) not in wanted]
    finished = [pod for pod in alive if phase_of(pod) in FINISHED and pod not in misplaced]
    going = {_node_of(pod) for pod in pods if "deletionTimestamp" in pod["metadata"]}
    steps: list[Action] = [
        Create(PODS, pod)
        for name, pod in wanted.items()
        if name not in on_node and name not in going
    ]
    steps += [Delete(PODS, pod) for pod in (*misplaced, *finished)]
    if not steps:
        steps = _updated(spec, on_node, len(wanted), revisions, now)
    placed = [found[0] for name, found in on_node.items() if name in wanted]
    free, again = available(placed, spec.get("minReadySeconds", 0), now)
    counted = {
        "updatedNumberScheduled": sum(_hash(pod) == revisions.hash for pod in placed),
        "numberAvailable": free,
        "numberUnavailable": len(wanted) - free,
    }
    status = {
        "currentNumberScheduled": len(placed),
        "numberMisscheduled": len(misplaced),
        "desiredNumberScheduled": len(wanted),
        "numberReady": sum(map(is_ready, placed)),
        "observedGeneration": daemon_set["metadata"].get("generation", 1),
        **{name: number for name, number in counted.items() if number},
    }
    update = status_update(DAEMON_SETS, daemon_set, status)
    return NextActions([*revisions.actions, *update], again, at_once=steps)


def _updated(
    spec: Document,
    on_node: dict[str, list[Document]],
    total: int,
    revisions: Revisions,
    now: datetime,
) -> list[Action]:
    """Delete old pods, as many as may be away at a time; those that are of no use anyway first."""
    strategy = spec.get("updateStrategy", {})
    if strategy.get("type") != "RollingUpdate":
        return []
    old = [found[0] for found in on_node.values() if _hash(found[0]) != revisions.hash]
    rolling = strategy.get("rollingUpdate") or {}
    may_be_away = max(scaled(rolling.get("maxUnavailable", 1), total, up=True), 1)
    seconds = spec.get("minReadySeconds", 0)
    away = total - available((found[0] for found in on_node.values()), seconds, now)[0]
    useless = [pod for pod in old if not is_ready(pod)]
    useful = [pod for pod in old if is_ready(pod)]
    chosen = [*useless, *useful[: max(may_be_away - away, 0)]]
    return [Delete(PODS, pod) for pod in chosen]


def _new_pod(daemon_set: Document, node: Document, revisions: Revisions) -> dict[str, Any]:
    annotations = daemon_set["metadata"].get("annotations", {})
    labels = {LABEL: revisions.hash, "pod-template-generation": annotations.get(GENERATION, "1")}
    pod = pod_of(daemon_set, daemon_set["spec"]["template"], labels=labels)
    spec = pod["spec"]
    field = {"key": "metadata.name", "operator": "In", "values": [node["metadata"]["name"]]}
    affinity = spec.get("affinity") or {}
    name = "requiredDuringSchedulingIgnoredDuringExecution"
    required = affinity.get("nodeAffinity", {}).get(name) or {}
    terms = [{**term, "matchFields": [field]} for term in required.get("nodeSelectorTerms") or [{}]]
    on_nodes = {**affinity.get("nodeAffinity", {}), name: {"nodeSelectorTerms": terms}}
    tolerated = [
        {"key": f"node.kubernetes.io/{key}", "operator": "Exists", "effect": effect}
        for key, effect in _TOLERATED
    ]
    pod["spec"] = {
        **spec,
        "affinity": {**affinity, "nodeAffinity": on_nodes},
        "tolerations": [*(spec.get("tolerations") or ()), *tolerated],
    }
    return pod


def _node_of(pod: Document) -> str:
    """The node that a pod is meant for, before it is bound too."""
    if pod["spec"].get("nodeName"):
        return str(pod["spec"]["nodeName"])
    terms = (
        pod["spec"]
        .get("affinity", {})
        .get("nodeAffinity", {})
        .get("requiredDuringSchedulingIgnoredDuringExecution", {})
        .get("nodeSelectorTerms", ())
    )
    for term in terms:
        for field in term.get("matchFields") or ():
            return str(field["values"][0])
    return ""


def _all(view: ClusterView, _: SeenObject) -> Iterable[str]:
    return [seen.key for seen in view.seen(DAEMON_SETS)]


CONTROLLER = PlayedController(
    "daemonsets",
    {
        DAEMON_SETS: itself,
        PODS: its_controller("DaemonSet"),
        CONTROLLER_REVISIONS: its_controller("DaemonSet"),
        NODES: _all,
    },
    decide,
)
