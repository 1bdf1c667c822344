"""Why no node takes a pod."""

from __future__ import annotations

from typing import Any

import pytest

from reflet.api.core.nodes import Node
from reflet.api.core.pods import Pod
from reflet.insight.why.placement_reasons import NoNodeFits, no_node_fits, requests_of
from reflet.insight.why.reasons import ObjectName
from tests.unit.insight.why.scenes import node, pod

EXAMPLE = ObjectName(kind="Pod", namespace="shop", name="web-1")
SSD = {"disk": "ssd"}
GPU = {"taints": [{"key": "gpu", "value": "true", "effect": "NoSchedule"}]}


def asking(**requests: str) -> dict[str, Any]:
    return {"resources": {"requests": requests}}


def reason_for(waiting: Pod, *nodes: Node, words: str = "") -> NoNodeFits:
    return no_node_fits(waiting, {each.metadata.name: each for each in nodes}, words)


def affinity(*expressions: dict[str, Any]) -> dict[str, Any]:
    terms = {"nodeSelectorTerms": [{"matchExpressions": list(expressions)}]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}


def test_a_label_that_no_node_has() -> None:
    reason = reason_for(
        pod(nodeSelector=SSD),
        node("a"),
        node("b", labels={"disk": "hdd"}),
        words="0/2 nodes are available: 2 node(s) didn't match Pod's node affinity/selector. "
        "preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.",
    )

    assert (
        reason.message == "no node takes the pod: none has the label disk=ssd of its nodeSelector"
    )
    assert reason.advice(EXAMPLE) == "label a node: kubectl label node NODE disk=ssd"


@pytest.mark.parametrize(
    "words",
    [
        "0/1 nodes are available: 1 node(s) had untolerated taint {gpu: true}. preemption: x",
        (
            "0/1 nodes are available: 1 node(s) had untolerated taint(s). no new claims to "
            "deallocate, preemption: 0/1 nodes are available: 1 Preemption is not helpful for "
            "scheduling."
        ),
    ],
)
def test_a_taint_that_is_not_tolerated(words: str) -> None:
    reason = reason_for(pod(), node(spec=GPU), words=words)

    assert reason.message == (
        "no node takes the pod: all have the taint gpu=true:NoSchedule, which it does not tolerate"
    )
    assert "kubectl taint node NODE gpu-" in reason.advice(EXAMPLE)


@pytest.mark.parametrize(
    ("toleration", "tolerates"),
    [
        ({"key": "gpu", "operator": "Equal", "value": "true"}, True),
        ({"key": "gpu", "operator": "Equal", "value": "false"}, False),
        ({"key": "gpu", "operator": "Exists", "effect": "NoSchedule"}, True),
        ({"key": "gpu", "operator": "Exists", "effect": "NoExecute"}, False),
        ({"operator": "Exists"}, True),
        ({"key": "other", "operator": "Exists"}, False),
    ],
)
def test_tolerations_are_read_as_the_scheduler_reads_them(
    toleration: dict[str, str], tolerates: bool
) -> None:
    reason = reason_for(pod(tolerations=[toleration]), node(spec=GPU))

    assert (not reason.obstacles) is tolerates


def test_a_taint_that_only_asks_is_no_obstacle() -> None:
    taint = {"key": "old", "effect": "PreferNoSchedule"}

    assert not reason_for(pod(), node(spec={"taints": [taint]})).obstacles


def test_nodes_that_are_cordoned() -> None:
    reason = reason_for(pod(), node("a", spec={"unschedulable": True}))

    assert reason.message == "no node takes the pod: all are cordoned"
    assert reason.advice(EXAMPLE) == "kubectl uncordon NODE"


def test_a_request_larger_than_any_node() -> None:
    reason = reason_for(
        pod(container=asking(cpu="64")),
        node("a"),
        node("b", allocatable={"cpu": "16", "memory": "1Gi"}),
        words="0/2 nodes are available: 2 Insufficient cpu.",
    )

    assert reason.message == (
        "no node takes the pod: it asks for 64 cpu, and the largest node has 16"
    )
    assert reason.advice(EXAMPLE) == "ask for less cpu, or add a larger node"


def test_nodes_that_are_full_are_the_schedulers_word() -> None:
    reason = reason_for(
        pod(container=asking(cpu="1")),
        node("a"),
        node("b"),
        node("c", spec=GPU),
        words="0/3 nodes are available: 1 node(s) had untolerated taint {gpu: true}, "
        "2 Insufficient cpu. preemption: 0/3 nodes are available: 3 no.",
    )

    assert reason.message == (
        "none of 3 nodes takes the pod: 1 with the taint gpu=true:NoSchedule, which it does not "
        "tolerate, 2 with too little cpu left"
    )
    assert "scale something down or add a node" in reason.advice(EXAMPLE)


def test_what_only_the_scheduler_knows_is_repeated() -> None:
    words = "0/1 nodes are available: 1 node(s) didn't match pod anti-affinity rules."
    reason = reason_for(pod(), node(), words=words)

    assert reason.message == (
        "no node takes the pod: 1 node(s) didn't match pod anti-affinity rules"
    )
    assert reason.advice(EXAMPLE) == "kubectl describe pod/web-1 -n shop; kubectl get nodes"


def test_without_the_nodes_there_are_the_schedulers_words() -> None:
    reason = no_node_fits(pod(), None, "0/3 nodes are available: 3 Insufficient cpu.")

    assert reason.message == "none of 3 nodes takes the pod: 3 Insufficient cpu"


def test_a_cluster_without_nodes() -> None:
    words = "no nodes available to schedule pods"

    assert reason_for(pod(), words=words).message == f"no node takes the pod: {words}"


@pytest.mark.parametrize(
    ("expression", "fits"),
    [
        ({"key": "zone", "operator": "In", "values": ["a", "b"]}, True),
        ({"key": "zone", "operator": "In", "values": ["c"]}, False),
        ({"key": "zone", "operator": "NotIn", "values": ["a"]}, False),
        ({"key": "zone", "operator": "Exists"}, True),
        ({"key": "zone", "operator": "DoesNotExist"}, False),
        ({"key": "cores", "operator": "Gt", "values": ["7"]}, True),
        ({"key": "cores", "operator": "Lt", "values": ["7"]}, False),
        ({"key": "zone", "operator": "Gt", "values": ["7"]}, False),
    ],
)
def test_required_affinity_is_read_as_the_scheduler_reads_it(
    expression: dict[str, Any], fits: bool
) -> None:
    found = reason_for(pod(affinity=affinity(expression)), node(labels={"zone": "a", "cores": "8"}))

    assert (not found.obstacles) is fits


def test_affinity_is_told_in_short() -> None:
    expression = {"key": "zone", "operator": "In", "values": ["c"]}

    reason = reason_for(pod(affinity=affinity(expression)), node("a"))

    assert reason.message == (
        "no node takes the pod: none is as its nodeAffinity requires (zone=c)"
    )


def test_many_obstacles_are_a_few_and_the_rest() -> None:
    taints = [{"taints": [{"key": f"t{number}", "effect": "NoSchedule"}]} for number in range(6)]

    reason = reason_for(pod(), *(node(f"n{n}", spec=spec) for n, spec in enumerate(taints)))

    assert reason.message.endswith("which it does not tolerate, 2 for other reasons")


def test_a_pod_asks_for_all_containers_together_or_for_the_largest_before_them() -> None:
    waiting = pod(
        container=asking(cpu="1", memory="1Gi"),
        initContainers=[
            {"name": "sidecar", "restartPolicy": "Always", **asking(cpu="500m")},
            {"name": "migrate", **asking(cpu="4")},
        ],
        overhead={"memory": "1Gi"},
    )

    asked = {name: str(amount) for name, amount in requests_of(waiting).items()}

    assert asked == {"cpu": "4500m", "memory": "2Gi"}


def test_resources_of_the_whole_pod_count_instead() -> None:
    waiting = pod(container=asking(cpu="1"), resources={"requests": {"cpu": "3"}})

    assert str(requests_of(waiting)["cpu"]) == "3"
