"""The recorded values of a pod's fields and of its containers' resources."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from reflet.api import codec
from reflet.api.core.containers import Container, ResourceFieldSelector
from reflet.api.core.nodes import Node
from reflet.api.core.pods import Pod, PodSpec
from reflet.gotext.quoting import quoted, quoted_map
from reflet.resolution.pod_fields import accepted_path, file_field, split_subscript
from reflet.resolution.problems import Refused
from reflet.resolution.resource_fields import file_resource, variable_resource

RECORDED = json.loads((Path(__file__).parent / "data" / "field_paths.json").read_text())
NOT_AN_OBJECT = [case for case in RECORDED["extract"] if case["metadata"] is None]
EXTRACTED = [case for case in RECORDED["extract"] if case["metadata"] is not None]


@pytest.mark.parametrize("case", EXTRACTED, ids=lambda case: case["name"])
def test_recorded_field(case: dict[str, Any]) -> None:
    named = {"name": "unnamed", **case["metadata"]}
    pod = codec.decode(json.dumps({"metadata": named}).encode(), Pod)

    value = file_field(pod, case["fieldPath"])

    if "expect" in case:
        assert value == case["expect"]
    else:
        assert isinstance(value, Refused)
        assert case["expectErrorContains"] in value.text


@pytest.mark.parametrize("case", NOT_AN_OBJECT, ids=lambda case: case["name"])
def test_recorded_field_of_what_is_not_an_object(case: dict[str, Any]) -> None:
    nothing: Any = None

    with pytest.raises(AttributeError):
        file_field(nothing, case["fieldPath"])


@pytest.mark.parametrize("case", RECORDED["subscript"], ids=lambda case: case["fieldPath"])
def test_recorded_subscript(case: dict[str, Any]) -> None:
    expected = (case["path"], case["subscript"] if case["ok"] else None)

    assert split_subscript(case["fieldPath"]) == expected


@pytest.mark.parametrize(
    "case", RECORDED["convertLabel"], ids=lambda case: f"{case['label']} of {case['version']}"
)
def test_recorded_path(case: dict[str, Any]) -> None:
    path = accepted_path(case["version"], case["label"])

    if case.get("error"):
        assert isinstance(path, Refused)
    else:
        assert path == case["expect"]


@pytest.mark.parametrize("case", RECORDED["quote"]["cases"], ids=lambda case: repr(case[0]))
def test_recorded_quotes(case: list[str]) -> None:
    assert quoted(case[0]) == case[1]


@pytest.mark.parametrize("case", RECORDED["formatMap"], ids=lambda case: repr(case["map"]))
def test_recorded_map(case: dict[str, Any]) -> None:
    assert quoted_map(case["map"] or {}) == case["expect"]


@pytest.mark.parametrize(
    "case",
    RECORDED["resource"],
    ids=lambda case: f"{case['resource']} of {case['containerName']} by {case['divisor']}",
)
def test_recorded_resource(case: dict[str, Any]) -> None:
    containers = {
        name: codec.decode(json.dumps({"name": name, "resources": resources}).encode(), Container)
        for name, resources in case["containers"].items()
    }
    pod = Pod(
        spec=PodSpec(
            containers=(containers["test-container"],),
            init_containers=(containers["init-test-container"],),
        )
    )
    selector = ResourceFieldSelector(
        container_name=case["containerName"], resource=case["resource"], divisor=case["divisor"]
    )

    shown = (
        variable_resource(pod, pod.spec.containers[0], selector, node=Node()),
        file_resource(pod, selector, node=Node()),
    )

    assert shown == (case["expect"], case["expect"])
