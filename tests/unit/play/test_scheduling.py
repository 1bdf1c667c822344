from __future__ import annotations

from typing import Any

import pytest

from reflet.play.scheduling import AFFINITY, TAINTS, UNSCHEDULABLE, chosen_node, refusal
from tests.unit.play.documents_scene import pod


def node(name: str = "one", labels: dict[str, str] | None = None, **spec: Any) -> dict[str, Any]:
    return {"metadata": {"name": name, "labels": labels or {}}, "spec": spec}


def required(*expressions: dict[str, Any], field: str = "matchExpressions") -> dict[str, Any]:
    terms = {"nodeSelectorTerms": [{field: list(expressions)}]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}


def test_the_node_with_the_fewest_pods_takes_it() -> None:
    counts = {"one": 2, "two": 1}

    assert chosen_node(pod(), [node("one"), node("two")], counts) == ("two", "")


def test_a_pod_that_fits_nowhere_is_told_of_in_the_schedulers_words() -> None:
    nodes = [node("one"), node("two", unschedulable=True), node("three")]

    assert chosen_node(pod(nodeSelector={"disk": "ssd"}), nodes, {}) == (
        "",
        (
            "0/3 nodes are available: 1 node(s) were unschedulable, "
            "2 node(s) didn't match Pod's node affinity/selector."
        ),
    )


GPU = {"key": "gpu", "value": "yes", "effect": "NoSchedule"}


@pytest.mark.parametrize(
    ("spec", "on", "why"),
    [
        ({"nodeSelector": {"disk": "ssd"}}, node(labels={"disk": "ssd"}), ""),
        ({"nodeSelector": {"disk": "ssd"}}, node(labels={"disk": "hdd"}), AFFINITY),
        ({}, node(unschedulable=True), UNSCHEDULABLE),
        ({"tolerations": [{"operator": "Exists"}]}, node(unschedulable=True), ""),
        ({}, node(taints=[GPU]), TAINTS),
        ({}, node(taints=[{**GPU, "effect": "PreferNoSchedule"}]), ""),
        ({"tolerations": [{"key": "gpu", "value": "yes"}]}, node(taints=[GPU]), ""),
        ({"tolerations": [{"key": "gpu", "value": "no"}]}, node(taints=[GPU]), TAINTS),
        ({"tolerations": [{**GPU, "effect": "NoExecute"}]}, node(taints=[GPU]), TAINTS),
    ],
)
def test_selectors_cordons_and_taints_keep_pods_away(
    spec: dict[str, Any], on: dict[str, Any], why: str
) -> None:
    assert refusal(pod(**spec), on) == why


@pytest.mark.parametrize(
    ("operator", "values", "fits"),
    [
        ("In", ["4", "8"], True),
        ("NotIn", ["4"], False),
        ("Exists", [], True),
        ("DoesNotExist", [], False),
        ("Gt", ["3"], True),
        ("Lt", ["4"], False),
        ("Lt", ["5"], True),
    ],
)
def test_required_affinity_is_looked_at(operator: str, values: list[str], fits: bool) -> None:
    wanted = required({"key": "cpus", "operator": operator, "values": values})

    assert (not refusal(pod(affinity=wanted), node(labels={"cpus": "4"}))) is fits


def test_a_pod_may_want_a_node_by_its_name() -> None:
    wanted = required(
        {"key": "metadata.name", "operator": "In", "values": ["two"]}, field="matchFields"
    )

    assert refusal(pod(affinity=wanted), node("one")) == AFFINITY
    assert not refusal(pod(affinity=wanted), node("two"))
