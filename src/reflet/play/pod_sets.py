"""``replicasets``, ``statefulsets`` and ``daemonsets`` of play: so many pods, and a status.

Pods of a StatefulSet or DaemonSet carry a hash of the template; those with another one are
deleted and made again.  ControllerRevisions are not kept, so there is no way back to a template.

Upstream: pkg/controller/replicaset/replica_set.go, syncReplicaSet;
pkg/controller/statefulset/stateful_set_control.go, updateStatefulSet;
pkg/controller/daemon/{daemon_controller,update}.go
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from reflet.api.resources import (
    DAEMON_SETS,
    NODES,
    PERSISTENT_VOLUME_CLAIMS,
    PODS,
    REPLICA_SETS,
    STATEFUL_SETS,
)
from reflet.play.actions import Action, Delete, Document, Plan, Save, status_saved
from reflet.play.cluster_view import ClusterView, SeenObject
from reflet.play.owned_pods import (
    REVISION_HASH,
    available,
    counted,
    is_going,
    is_ready,
    phase_of,
    pod_of,
    revision_of_pod,
    scaled,
    template_hash,
)
from reflet.play.pod_lifecycle import FINISHED
from reflet.play.running_play import Player
from reflet.play.scheduling import refusal
from reflet.store.keys import key_of

# ReplicaSets


def keep_replicas(view: ClusterView, replica_set: Document) -> Plan:
    """Make or delete pods until there are as many active ones as wanted."""
    alive = [pod for pod in view.owned(PODS, replica_set) if phase_of(pod) not in FINISHED]
    active = [pod for pod in alive if not is_going(pod)]
    ready = [pod for pod in active if is_ready(pod)]
    missing = replica_set["spec"]["replicas"] - len(active)
    actions: list[Action] = []
    if missing > 0 and not is_going(replica_set):
        actions += [Save(PODS, pod_of(replica_set)) for _ in range(missing)]
    elif missing < 0 and not is_going(replica_set):
        actions += [Delete(PODS, pod) for pod in sorted(active, key=_usefulness)[:-missing]]
    free, again = available(replica_set, ready, view.now())
    status = counted(
        replica_set,
        {"replicas": len(active)},
        fullyLabeledReplicas=len(active),
        readyReplicas=len(ready),
        availableReplicas=len(free),
        terminatingReplicas=len(alive) - len(active),
    )
    return Plan([*actions, *status_saved(REPLICA_SETS, replica_set, status)], again)


def _usefulness(pod: Document) -> tuple[Any, ...]:
    """Scaling down takes first who has no node, who does not run, who is not ready."""
    cost = pod["metadata"].get("annotations", {}).get("controller.kubernetes.io/pod-deletion-cost")
    is_running = phase_of(pod) == "Running"
    return bool(pod["spec"].get("nodeName")), is_running, is_ready(pod), int(cost or 0)


# StatefulSets


def keep_ordered(view: ClusterView, stateful_set: Document) -> Plan:
    """Make, delete or wait for the next pod; updates go one pod at a time."""
    if is_going(stateful_set):
        return Plan()
    spec, metadata = stateful_set["spec"], stateful_set["metadata"]
    pods = {each["metadata"]["name"]: each for each in view.owned(PODS, stateful_set)}
    first = spec.get("ordinals", {}).get("start", 0)
    wanted = [f"{metadata['name']}-{first + number}" for number in range(spec["replicas"])]
    revision = f"{metadata['name']}-{template_hash(stateful_set)}"
    free, again = available(stateful_set, filter(is_ready, pods.values()), view.now())
    fine = {pod["metadata"]["name"] for pod in free if not is_going(pod)}
    in_turn = spec.get("podManagementPolicy", "OrderedReady") == "OrderedReady"
    actions: list[Action] = []
    for name in wanted:
        if name in fine:
            continue
        if name not in pods:
            actions += _next_ordered(view, stateful_set, name, revision)
        elif phase_of(pods[name]) in FINISHED and not is_going(pods[name]):
            actions.append(Delete(PODS, pods[name]))
        if in_turn:
            break
    else:
        surplus = sorted((name for name in pods if name not in wanted), key=_ordinal, reverse=True)
        gone = [pods[name] for name in (surplus[:1] if in_turn else surplus)]
        actions += [Delete(PODS, pod) for pod in gone if not is_going(pod)]
        if not actions and not surplus:
            actions += _outdated(spec, [pods[name] for name in wanted], revision, fine)
    updated = sum(revision_of_pod(pod) == revision for pod in pods.values())
    ready = sum(map(is_ready, pods.values()))
    current = stateful_set.get("status", {}).get("currentRevision") or revision
    if updated == len(pods) == ready == spec["replicas"]:
        current = revision
    status = counted(
        stateful_set,
        {"replicas": len(pods), "availableReplicas": len(free)},
        readyReplicas=ready,
        currentReplicas=sum(revision_of_pod(pod) == current for pod in pods.values()),
        updatedReplicas=updated,
    )
    status |= {"currentRevision": current, "updateRevision": revision, "collisionCount": 0}
    return Plan([*actions, *status_saved(STATEFUL_SETS, stateful_set, status)], again)


def _ordinal(name: str) -> int:
    return int(name.rpartition("-")[2])


def _outdated(
    spec: Document, pods: list[Document], revision: str, fine: Iterable[str]
) -> list[Action]:
    strategy = spec.get("updateStrategy", {})
    if strategy.get("type") == "OnDelete":
        return []
    partition = int((strategy.get("rollingUpdate") or {}).get("partition") or 0)
    for pod in reversed(pods[partition:]):
        if revision_of_pod(pod) != revision:
            return [] if is_going(pod) else [Delete(PODS, pod)]
        if pod["metadata"]["name"] not in fine:
            return []
    return []


def _next_ordered(
    view: ClusterView, stateful_set: Document, name: str, revision: str
) -> list[Action]:
    """A pod of that name, and the claims that it uses, which stay when it goes."""
    spec, namespace = stateful_set["spec"], stateful_set["metadata"]["namespace"]
    actions: list[Action] = []
    volumes: list[Document] = []
    for claim in spec.get("volumeClaimTemplates") or ():
        volume = claim["metadata"]["name"]
        claimed = f"{volume}-{name}"
        volumes.append({"name": volume, "persistentVolumeClaim": {"claimName": claimed}})
        if view.get(PERSISTENT_VOLUME_CLAIMS, f"{namespace}/{claimed}") is None:
            labels = spec["selector"].get("matchLabels") or {}
            own = {"name": claimed, "namespace": namespace, "labels": labels}
            made = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "spec": claim["spec"]}
            document = {**made, "metadata": {**claim["metadata"], **own}}
            actions.append(Save(PERSISTENT_VOLUME_CLAIMS, document))
    labels = {
        REVISION_HASH: revision,
        "statefulset.kubernetes.io/pod-name": name,
        "apps.kubernetes.io/pod-index": str(_ordinal(name)),
    }
    pod = pod_of(stateful_set, name=name, **labels)
    named = {each["name"] for each in volumes}
    volumes += [each for each in pod["spec"].get("volumes") or () if each["name"] not in named]
    identity = {"hostname": name, "subdomain": spec.get("serviceName", "")}
    pod["spec"] = {**pod["spec"], **identity, "volumes": volumes}
    return [*actions, Save(PODS, pod)]


# DaemonSets

_TOLERATED: Final = (
    *(("not-ready", "NoExecute"), ("unreachable", "NoExecute"), ("disk-pressure", "NoSchedule")),
    *(("memory-pressure", "NoSchedule"), ("pid-pressure", "NoSchedule")),
    ("unschedulable", "NoSchedule"),
)


def keep_daemons(view: ClusterView, daemon_set: Document) -> Plan:
    """One pod on each node that can take it; old ones go as many at a time as may be away."""
    if is_going(daemon_set):
        return Plan()
    revision = template_hash(daemon_set)
    wanted = {
        node["metadata"]["name"]: pod
        for node in view.all(NODES)
        if not refusal(pod := _daemon(daemon_set, node["metadata"]["name"], revision), node)
    }
    pods = [(pod["spec"]["nodeName"], pod) for pod in view.owned(PODS, daemon_set)]
    placed = {name: pod for name, pod in pods if name in wanted and not is_going(pod)}
    useless = [pod for pod in placed.values() if phase_of(pod) in FINISHED]
    misplaced = [pod for name, pod in pods if name not in wanted and not is_going(pod)]
    free, again = available(daemon_set, filter(is_ready, placed.values()), view.now())
    missing = wanted.keys() - {name for name, _ in pods}
    actions: list[Action] = [Save(PODS, wanted[name]) for name in sorted(missing)]
    actions += [Delete(PODS, pod) for pod in (*misplaced, *useless)]
    strategy = daemon_set["spec"].get("updateStrategy", {})
    if not actions and strategy.get("type") == "RollingUpdate":
        most = (strategy.get("rollingUpdate") or {}).get("maxUnavailable", 1)
        room = max(scaled(most, len(wanted), up=True), 1) - (len(wanted) - len(free))
        old = [pod for pod in placed.values() if revision_of_pod(pod) != revision]
        useless = [pod for pod in old if not is_ready(pod)]  # they cost nobody anything
        chosen = [*useless, *list(filter(is_ready, old))[: max(room, 0)]]
        actions += [Delete(PODS, pod) for pod in chosen]
    status = counted(
        daemon_set,
        {
            "currentNumberScheduled": len(placed),
            "numberMisscheduled": len(misplaced),
            "desiredNumberScheduled": len(wanted),
            "numberReady": sum(map(is_ready, placed.values())),
        },
        updatedNumberScheduled=sum(revision_of_pod(pod) == revision for pod in placed.values()),
        numberAvailable=len(free),
        numberUnavailable=len(wanted) - len(free),
    )
    return Plan([*actions, *status_saved(DAEMON_SETS, daemon_set, status)], again)


def _daemon(daemon_set: Document, node: str, revision: str) -> dict[str, Any]:
    """A pod that is bound when it is made: nobody else chooses its node."""
    pod = pod_of(daemon_set, **{REVISION_HASH: revision})
    tolerated = [
        {"key": f"node.kubernetes.io/{key}", "operator": "Exists", "effect": effect}
        for key, effect in _TOLERATED
    ]
    tolerations = [*(pod["spec"].get("tolerations") or ()), *tolerated]
    pod["spec"] = {**pod["spec"], "nodeName": node, "tolerations": tolerations}
    return pod


def _daemon_sets(view: ClusterView, _: SeenObject) -> Iterable[str]:
    return map(key_of, view.seen(DAEMON_SETS))


REPLICA_SET_PLAYER = Player(REPLICA_SETS, keep_replicas, owns=(PODS,))
STATEFUL_SET_PLAYER = Player(
    STATEFUL_SETS, keep_ordered, owns=(PODS,), watches={PERSISTENT_VOLUME_CLAIMS: lambda *_: ()}
)
DAEMON_SET_PLAYER = Player(DAEMON_SETS, keep_daemons, owns=(PODS,), watches={NODES: _daemon_sets})
