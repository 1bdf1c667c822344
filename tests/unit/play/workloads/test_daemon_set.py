from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from reflet.play.actions import Create, Delete, Update
from reflet.play.workloads.daemon_set import decide_daemons
from reflet.play.workloads.revisions import LABEL, revisions_of
from tests.unit.play.documents_scene import NOW, Document, metadata, ready_pod, template


def daemon_set(image: str = "agent:1", **spec: Any) -> Document:
    rolling = {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1}}
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": metadata("agent"),
        "spec": {"template": template(image), "updateStrategy": rolling, **spec},
    }


def node(name: str, **spec: Any) -> Document:
    return {"metadata": {"name": name, "labels": {}}, "spec": spec}


def on(wanted: Document, *nodes: str) -> list[Document]:
    short = revisions_of(wanted, [], (), LABEL).hash
    labels = {"labels": {LABEL: short}}
    return [ready_pod(f"agent-{name}", nodeName=name, metadata=labels) for name in nodes]


def steps(wanted: Document, pods: Sequence[Document], *nodes: Document) -> list[str]:
    revisions = revisions_of(wanted, [], (), LABEL)
    found = []
    for each in decide_daemons(wanted, pods, nodes, revisions, NOW).at_once:
        match each:
            case Create():
                affinity = each.document["spec"]["affinity"]["nodeAffinity"]
                (required,) = affinity.values()
                fields = required["nodeSelectorTerms"][0]["matchFields"]
                found.append(f"make on {fields[0]['values'][0]}")
            case Delete():
                found.append(f"delete {each.of['metadata']['name']}")
            case _:
                raise AssertionError(each)
    return found


def test_each_node_that_can_take_one_gets_one_and_cordons_do_not_count() -> None:
    taint = {"key": "gpu", "effect": "NoSchedule"}
    nodes = [node("a"), node("b", unschedulable=True), node("c", taints=[taint])]

    assert steps(daemon_set(), [], *nodes) == ["make on a", "make on b"]


def test_a_pod_on_a_node_that_is_gone_is_deleted() -> None:
    wanted = daemon_set()

    assert steps(wanted, on(wanted, "a", "b"), node("a")) == ["delete agent-b"]


def test_an_update_takes_as_many_pods_at_a_time_as_may_be_away() -> None:
    old, new = daemon_set(), daemon_set("agent:2")
    nodes = [node("a"), node("b"), node("c")]

    assert steps(new, on(old, "a", "b", "c"), *nodes) == ["delete agent-a"]
    assert steps(new, [*on(new, "a"), *on(old, "b", "c")], *nodes) == ["delete agent-b"]
    assert steps(new, on(new, "a", "b", "c"), *nodes) == []


def test_on_delete_updates_nothing_by_itself() -> None:
    old, new = daemon_set(), daemon_set("agent:2", updateStrategy={"type": "OnDelete"})

    assert steps(new, on(old, "a"), node("a")) == []


def test_the_status_counts_nodes() -> None:
    wanted = daemon_set()
    revisions = revisions_of(wanted, [], (), LABEL)

    decided = decide_daemons(wanted, on(wanted, "a"), [node("a"), node("b")], revisions, NOW)

    update = decided.actions[-1]
    assert isinstance(update, Update)
    assert update.document["status"] == {
        "currentNumberScheduled": 1,
        "numberMisscheduled": 0,
        "desiredNumberScheduled": 2,
        "numberReady": 1,
        "observedGeneration": 1,
        "updatedNumberScheduled": 1,
        "numberAvailable": 1,
        "numberUnavailable": 1,
    }
