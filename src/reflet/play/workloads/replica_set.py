"""``replicasets`` of play: as many pods as are wanted, and the status that says so.

Upstream: pkg/controller/replicaset/replica_set.go, syncReplicaSet; replica_set_utils.go
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from reflet.api.resources import PODS, REPLICA_SETS
from reflet.play.actions import Action, Create, Delete, Document, NextActions, status_update
from reflet.play.cluster_view import ClusterView
from reflet.play.controller import PlayedController, its_controller, itself
from reflet.play.workloads.workload_pods import (
    available,
    deletion_order,
    is_active,
    is_going,
    is_ready,
    pod_of,
)


async def decide(view: ClusterView, key: str) -> NextActions:
    """Look at one ReplicaSet."""
    replica_set = view.get(REPLICA_SETS, key)
    if replica_set is None:
        return NextActions()
    pods = view.owned(PODS, replica_set["metadata"]["uid"])
    return decide_replicas(replica_set, pods, view.now())


def decide_replicas(replica_set: Document, pods: Sequence[Document], now: datetime) -> NextActions:
    """Make or delete pods until there are as many active ones as wanted."""
    spec, template = replica_set["spec"], replica_set["spec"]["template"]
    active = [pod for pod in pods if is_active(pod)]
    missing = spec["replicas"] - len(active)
    changes: list[Action] = []
    if "deletionTimestamp" not in replica_set["metadata"]:
        changes = [Create(PODS, pod_of(replica_set, template)) for _ in range(missing)]
        if missing < 0:
            surplus = sorted(active, key=deletion_order)[:-missing]
            changes = [Delete(PODS, pod) for pod in surplus]
    wanted = (template.get("metadata", {}).get("labels") or {}).items()
    ready = [pod for pod in active if is_ready(pod)]
    is_available, again = available(ready, spec.get("minReadySeconds", 0), now)
    counted = {
        "fullyLabeledReplicas": sum(
            wanted <= (pod["metadata"].get("labels") or {}).items() for pod in active
        ),
        "readyReplicas": len(ready),
        "availableReplicas": is_available,
    }
    # Kept although it is zero, as the real controller does.
    status: dict[str, Any] = {
        "replicas": len(active),
        **{name: number for name, number in counted.items() if number},
        "terminatingReplicas": sum(map(is_going, pods)),
        "observedGeneration": replica_set["metadata"].get("generation", 1),
    }
    return NextActions(status_update(REPLICA_SETS, replica_set, status), again, at_once=changes)


CONTROLLER = PlayedController(
    "replicasets", {REPLICA_SETS: itself, PODS: its_controller("ReplicaSet")}, decide
)
