from __future__ import annotations

from typing import Any

from reflet.play.actions import Create, Delete, Update
from reflet.play.workloads.replica_set import decide_replicas
from tests.unit.play.documents_scene import NOW, metadata, pod, ready_pod, template


def replica_set(replicas: int, **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": metadata("web"),
        "spec": {"replicas": replicas, "template": template(), **spec},
    }


def test_missing_pods_are_made_from_the_template_and_belong_to_the_set() -> None:
    decided = decide_replicas(replica_set(2), [], NOW)

    assert [type(each) for each in decided.at_once] == [Create, Create]
    made = decided.at_once[0]
    assert isinstance(made, Create)
    assert made.document["metadata"]["generateName"] == "web-"
    assert made.document["metadata"]["labels"] == {"app": "web"}
    assert made.document["metadata"]["ownerReferences"][0]["uid"] == "uid of web"


def test_pods_that_end_or_go_are_replaced() -> None:
    going = ready_pod("going", metadata={"deletionTimestamp": "now"})

    decided = decide_replicas(replica_set(1), [pod("done", phase="Failed"), going], NOW)

    assert [type(each) for each in decided.at_once] == [Create]


def test_of_too_many_the_ones_that_are_least_use_go() -> None:
    bound: dict[str, Any] = {"nodeName": "one"}
    pods = [
        ready_pod("best", **bound),
        pod("unbound"),
        pod("starting", **bound),
        pod("unready", phase="Running", **bound),
    ]

    decided = decide_replicas(replica_set(1), pods, NOW)

    deleted = [each.of["metadata"]["name"] for each in decided.at_once if isinstance(each, Delete)]
    assert deleted == ["unbound", "starting", "unready"]


def test_a_pod_is_available_when_it_has_been_ready_for_long_enough() -> None:
    pods = [ready_pod("new", since=4), ready_pod("old", since=20)]

    decided = decide_replicas(replica_set(2, minReadySeconds=10), pods, NOW)

    (update,) = decided.actions
    assert isinstance(update, Update)
    status = update.document["status"]
    assert (status["readyReplicas"], status["availableReplicas"]) == (2, 1)
    assert decided.again == 6.0


def test_a_set_that_is_going_makes_no_pods() -> None:
    going = replica_set(3)
    going["metadata"]["deletionTimestamp"] = "now"

    assert not decide_replicas(going, [], NOW).at_once
