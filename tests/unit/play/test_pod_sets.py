from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from reflet.play.owned_pods import REVISION_HASH, template_hash
from reflet.play.pod_sets import keep_daemons, keep_ordered, keep_replicas
from tests.unit.play.documents_scene import (
    GOING,
    Document,
    metadata,
    pod,
    ready_pod,
    status_of,
    template,
    view_of,
    words,
)

# ReplicaSets


def replica_set(replicas: int, **spec: Any) -> Document:
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": metadata("web"),
        "spec": {"replicas": replicas, "template": template(), **spec},
    }


def test_pods_that_end_or_go_are_replaced() -> None:
    wanted = replica_set(2)
    pods = [pod("done", phase="Failed"), ready_pod("going", metadata=GOING), ready_pod("here")]

    assert words(keep_replicas(view_of(*pods, owner=wanted), wanted)) == ["make web-"]


def test_of_too_many_the_ones_that_are_least_use_go() -> None:
    wanted = replica_set(1)
    bound: Document = {"nodeName": "one"}
    unready = pod("unready", phase="Running", **bound)
    pods = [ready_pod("best", **bound), pod("unbound"), pod("starting", **bound), unready]

    found = words(keep_replicas(view_of(*pods, owner=wanted), wanted))

    assert found == ["delete unbound", "delete starting", "delete unready"]


def test_the_status_counts_who_is_ready_available_and_going() -> None:
    wanted = replica_set(2, minReadySeconds=10)
    pods = [ready_pod("new", since=4), ready_pod("old", since=20), pod("x", metadata=GOING)]

    decided = keep_replicas(view_of(*pods, owner=wanted), wanted)

    assert status_of(decided) == {
        "observedGeneration": 1,
        "replicas": 2,
        "fullyLabeledReplicas": 2,
        "readyReplicas": 2,
        "availableReplicas": 1,
        "terminatingReplicas": 1,
    }
    assert decided.again == 6.0


def test_a_set_that_is_going_makes_no_pods() -> None:
    going = replica_set(3)
    going["metadata"] |= GOING

    assert words(keep_replicas(view_of(), going)) == []


# StatefulSets


def stateful_set(replicas: int = 3, *, image: str = "db:1", **spec: Any) -> Document:
    return {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": metadata("db"),
        "spec": {
            "replicas": replicas,
            "serviceName": "db",
            "selector": {"matchLabels": {"app": "db"}},
            "template": template(image),
            **spec,
        },
    }


def members(wanted: Document, *ordinals: int, **more: Any) -> list[Document]:
    labels = {"labels": {REVISION_HASH: f"db-{template_hash(wanted)}"}}
    return [ready_pod(f"db-{each}", metadata={**labels, **more}) for each in ordinals]


def ordered(wanted: Document, pods: Sequence[Document]) -> list[str]:
    return words(keep_ordered(view_of(*pods, owner=wanted), wanted))


def test_pods_are_made_one_after_the_other() -> None:
    wanted = stateful_set()

    assert ordered(wanted, []) == ["make db-0"]
    assert ordered(wanted, [pod("db-0")]) == []
    assert ordered(wanted, members(wanted, 0)) == ["make db-1"]


def test_in_parallel_they_are_made_together() -> None:
    wanted = stateful_set(podManagementPolicy="Parallel")

    assert ordered(wanted, [pod("db-1")]) == ["make db-0", "make db-2"]


def test_the_highest_go_first_one_at_a_time() -> None:
    wanted = stateful_set(1)

    assert ordered(wanted, members(wanted, 0, 1, 2)) == ["delete db-2"]
    assert ordered(wanted, [*members(wanted, 0, 1), *members(wanted, 2, **GOING)]) == []


def test_an_update_goes_from_the_highest_to_the_partition_and_waits_for_each() -> None:
    old, new = stateful_set(), stateful_set(image="db:2")
    partitioned = stateful_set(image="db:2", updateStrategy={"rollingUpdate": {"partition": 2}})

    assert ordered(new, members(old, 0, 1, 2)) == ["delete db-2"]
    assert ordered(new, [*members(old, 0, 1), *members(new, 2)]) == ["delete db-1"]
    assert ordered(partitioned, [*members(old, 0, 1), *members(partitioned, 2)]) == []


def test_a_pod_that_has_ended_is_made_again() -> None:
    assert ordered(stateful_set(1), [pod("db-0", phase="Failed")]) == ["delete db-0"]


def test_each_pod_gets_its_claims_and_finds_them_again() -> None:
    claims = [{"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"]}}]
    wanted = stateful_set(1, volumeClaimTemplates=claims)
    held = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata("data-db-0")}

    assert ordered(wanted, []) == ["make data-db-0", "make db-0"]
    assert words(keep_ordered(view_of(held), wanted)) == ["make db-0"]


def test_the_status_says_when_the_update_is_done() -> None:
    wanted = stateful_set(2)
    wanted["status"] = {"currentRevision": "db-old"}

    early = keep_ordered(view_of(*members(wanted, 0), owner=wanted), wanted)
    done = status_of(keep_ordered(view_of(*members(wanted, 0, 1), owner=wanted), wanted))

    assert status_of(early)["currentRevision"] == "db-old"
    assert done["currentRevision"] == done["updateRevision"] != "db-old"


# DaemonSets


def daemon_set(image: str = "agent:1", **spec: Any) -> Document:
    rolling = {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1}}
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": metadata("agent"),
        "spec": {"template": template(image), "updateStrategy": rolling, **spec},
    }


def node(name: str, **spec: Any) -> Document:
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "spec": spec}


def on(wanted: Document, *nodes: str) -> list[Document]:
    labels = {"labels": {REVISION_HASH: template_hash(wanted)}}
    return [ready_pod(f"agent-{name}", nodeName=name, metadata=labels) for name in nodes]


def daemons(wanted: Document, pods: Sequence[Document], *nodes: Document) -> list[str]:
    decided = keep_daemons(view_of(*pods, *nodes, owner=wanted), wanted)
    made = [each.document["spec"].get("nodeName") for each in decided.actions]
    pairs = zip(words(decided), made, strict=False)
    return [f"make on {name}" if said.startswith("make") else said for said, name in pairs]


def test_each_node_that_can_take_one_gets_one_and_cordons_do_not_count() -> None:
    taint = {"key": "gpu", "effect": "NoSchedule"}
    nodes = [node("a"), node("b", unschedulable=True), node("c", taints=[taint])]

    assert daemons(daemon_set(), [], *nodes) == ["make on a", "make on b"]


def test_a_pod_on_a_node_that_is_gone_is_deleted() -> None:
    wanted = daemon_set()

    assert daemons(wanted, on(wanted, "a", "b"), node("a")) == ["delete agent-b"]


def test_an_update_takes_as_many_pods_at_a_time_as_may_be_away() -> None:
    old, new = daemon_set(), daemon_set("agent:2")
    nodes = [node("a"), node("b"), node("c")]

    assert daemons(new, on(old, "a", "b", "c"), *nodes) == ["delete agent-a"]
    assert daemons(new, [*on(new, "a"), *on(old, "b", "c")], *nodes) == ["delete agent-b"]
    assert daemons(new, on(new, "a", "b", "c"), *nodes) == []


def test_on_delete_updates_nothing_by_itself() -> None:
    old, new = daemon_set(), daemon_set("agent:2", updateStrategy={"type": "OnDelete"})

    assert daemons(new, on(old, "a"), node("a")) == []


def test_the_status_counts_nodes() -> None:
    wanted = daemon_set()

    decided = keep_daemons(view_of(*on(wanted, "a"), node("a"), node("b"), owner=wanted), wanted)

    assert status_of(decided) == {
        "observedGeneration": 1,
        "currentNumberScheduled": 1,
        "numberMisscheduled": 0,
        "desiredNumberScheduled": 2,
        "numberReady": 1,
        "updatedNumberScheduled": 1,
        "numberAvailable": 1,
        "numberUnavailable": 1,
    }
