"""Autoscalers in the version that knows processors alone, and back."""

from __future__ import annotations

import json
from typing import Any

import pytest

from reflet.devserver.verbs.autoscaler_versions import new_autoscaler, old_autoscaler
from reflet.devserver.verbs.conversion import in_storage_version, in_version, is_storage_version
from tests.unit.devserver.object_scene import kind_of

TARGET = {"kind": "Deployment", "name": "web"}
NOTES = "autoscaling.alpha.kubernetes.io/"
HALF = {"type": "Utilization", "averageUtilization": 50}
TEN = {"type": "AverageValue", "averageValue": "10"}
CPU = {"type": "Resource", "resource": {"name": "cpu", "target": HALF}}


def stored(*metrics: Any, status: Any = None, **spec: Any) -> dict[str, Any]:
    return {
        "kind": "HorizontalPodAutoscaler",
        "apiVersion": "autoscaling/v2",
        "metadata": {"name": "x", "labels": {"a": "b"}},
        "spec": {"scaleTargetRef": TARGET, "minReplicas": 1, "maxReplicas": 3}
        | spec
        | {"metrics": list(metrics)},
        "status": status or {"desiredReplicas": 0, "currentMetrics": None},
    }


def test_the_use_of_processors_is_a_field_of_its_own() -> None:
    old = old_autoscaler(stored(CPU))

    assert old["apiVersion"] == "autoscaling/v1"
    assert old["spec"] == {
        "scaleTargetRef": TARGET,
        "minReplicas": 1,
        "maxReplicas": 3,
        "targetCPUUtilizationPercentage": 50,
    }
    assert old["status"] == {"currentReplicas": 0, "desiredReplicas": 0}
    assert "annotations" not in old["metadata"]


MEMORY = {"type": "Resource", "resource": {"name": "memory", "target": HALF}}
PODS = {"type": "Pods", "pods": {"metric": {"name": "p"}, "target": TEN}}
OBJECT = {
    "type": "Object",
    "object": {"describedObject": TARGET, "metric": {"name": "o"}, "target": TEN},
}
EXTERNAL = {
    "type": "External",
    "external": {
        "metric": {"name": "e", "selector": {"matchLabels": {"a": "b"}}},
        "target": {"type": "Value", "value": "5"},
    },
}
CONTAINER = {
    "type": "ContainerResource",
    "containerResource": {"name": "cpu", "container": "c", "target": HALF},
}


@pytest.mark.parametrize(
    ("metric", "noted"),
    [
        (MEMORY, {"resource": {"name": "memory", "targetAverageUtilization": 50}}),
        (PODS, {"pods": {"metricName": "p", "targetAverageValue": "10"}}),
        (
            OBJECT,
            {
                "object": {
                    "target": TARGET,
                    "metricName": "o",
                    "targetValue": "0",
                    "averageValue": "10",
                }
            },
        ),
        (
            EXTERNAL,
            {
                "external": {
                    "metricName": "e",
                    "metricSelector": {"matchLabels": {"a": "b"}},
                    "targetValue": "5",
                }
            },
        ),
        (
            CONTAINER,
            {
                "containerResource": {
                    "name": "cpu",
                    "targetAverageUtilization": 50,
                    "container": "c",
                }
            },
        ),
    ],
    ids=lambda value: value.get("type", ""),
)
def test_other_metrics_are_noted_and_come_back(metric: Any, noted: Any) -> None:
    old = old_autoscaler(stored(metric))

    note = json.loads(old["metadata"]["annotations"][f"{NOTES}metrics"])
    assert note == [{"type": metric["type"], **noted}]
    assert new_autoscaler(old) == stored(metric)


def test_behavior_conditions_and_what_was_measured_are_noted_and_come_back() -> None:
    found = {"type": "Resource", "resource": {"name": "cpu", "current": {"averageUtilization": 7}}}
    since = "2024-01-01T00:00:00Z"
    condition = {"type": "AbleToScale", "status": "True", "lastTransitionTime": since}
    status = {
        "observedGeneration": 1,
        "currentReplicas": 2,
        "desiredReplicas": 3,
        "currentMetrics": [found],
        "conditions": [condition],
    }
    policies = [{"type": "Pods", "value": 1, "periodSeconds": 60}]
    behavior = {"scaleUp": {"selectPolicy": "Max", "policies": policies}}
    whole = stored(CPU, MEMORY, status=status, behavior=behavior)

    old = old_autoscaler(whole)

    notes = old["metadata"]["annotations"]
    assert json.loads(notes[f"{NOTES}behavior"]) == {
        "ScaleUp": {
            "StabilizationWindowSeconds": None,
            "SelectPolicy": "Max",
            "Policies": [{"Type": "Pods", "Value": 1, "PeriodSeconds": 60}],
            "Tolerance": None,
        },
        "ScaleDown": None,
    }
    assert old["status"]["currentCPUUtilizationPercentage"] == 7
    again = new_autoscaler(old)
    assert again["status"] == status
    assert again["spec"]["behavior"] == behavior
    # The metric that has a field of its own comes last.
    assert again["spec"]["metrics"] == [MEMORY, CPU]
    assert "annotations" not in again["metadata"]


def test_without_any_metric_processors_are_watched() -> None:
    old = old_autoscaler(stored())

    metrics = new_autoscaler(old)["spec"]["metrics"]

    assert metrics[0]["resource"]["target"]["averageUtilization"] == 80


@pytest.mark.parametrize(
    "note",
    [
        *("{", "5", '{"a": 1}', '["x"]', '[{"pods": "x"}]', '[{"resource": []}]'),
        '[{"type": "Object", "object": {"target": 5, "metricName": []}}]',
        *('{"ScaleUp": {"Policies": 5}}', '{"ScaleUp": {"Policies": ["x"]}}'),
        '{"ScaleDown": {"Policies": [{"Value": "many"}]}}',
    ],
)
def test_a_note_that_is_not_well_formed_says_nothing(note: str) -> None:
    old = old_autoscaler(stored(CPU))
    names = ("metrics", "behavior", "current-metrics")
    old["metadata"]["annotations"] = {f"{NOTES}{name}": note for name in names} | {"a": "b"}

    new = new_autoscaler(old)

    assert new["spec"]["metrics"] == [CPU]
    assert "behavior" not in new["spec"]
    assert new["status"].keys() <= {"currentReplicas", "desiredReplicas", "currentMetrics"}
    assert not new["status"].get("currentMetrics")
    assert new["metadata"]["annotations"] == {"a": "b"}


def test_both_versions_are_stored_as_the_newer() -> None:
    old_kind = kind_of("horizontalpodautoscalers", "autoscaling", "v1")
    new_kind = kind_of("horizontalpodautoscalers", "autoscaling", "v2")

    assert old_kind.storage_key == new_kind.storage_key
    assert (is_storage_version(old_kind), is_storage_version(new_kind)) == (False, True)
    shown = in_version(old_kind, stored(CPU))
    assert in_storage_version(old_kind, shown) == stored(CPU)
