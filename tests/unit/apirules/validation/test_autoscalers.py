from __future__ import annotations

from typing import Any

import pytest

from reflet.apirules.validation.autoscalers import (
    check_autoscaler,
    check_autoscaler_status,
    check_autoscaler_update,
)
from reflet.apirules.validation.field_errors import FieldErrors
from tests.unit.devserver.object_scene import complaints, created, kind_of

TARGET = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
HALF = {"type": "Utilization", "averageUtilization": 50}
AVERAGE = {"type": "AverageValue", "averageValue": "1"}
VALUE = {"type": "Value", "value": "1"}


def autoscaler(**spec: Any) -> dict[str, Any]:
    usual = {"scaleTargetRef": TARGET, "maxReplicas": 3}
    body = {"metadata": {"name": "x"}, "spec": usual | spec}
    return created(kind_of("horizontalpodautoscalers", "autoscaling", "v2"), body)


def wrong_with(**spec: Any) -> list[str]:
    errors = FieldErrors()
    check_autoscaler(autoscaler(**spec), errors)
    return complaints(errors)


@pytest.mark.parametrize(("percent", "count"), [(1, 0), (0, 1), (-1, 1)])
def test_the_target_of_the_older_version_is_positive(percent: int, count: int) -> None:
    spec = {"scaleTargetRef": TARGET, "maxReplicas": 3, "targetCPUUtilizationPercentage": percent}
    errors = FieldErrors()
    check_autoscaler({"metadata": {"name": "x"}, "spec": spec}, errors)

    path = "spec.metrics[0].resource.target.averageUtilization"
    assert [cause.field for cause in errors.causes] == [path] * count


def measured(**source: Any) -> dict[str, Any]:
    """Give the metric of the first source, with its usual parts."""
    name = next(iter(source))
    return {"type": name[:1].upper() + name[1:]} | source


def metric(target: dict[str, Any], name: str = "m", **more: Any) -> dict[str, Any]:
    return {"metric": {"name": name}, "target": target} | more


@pytest.mark.parametrize(
    "spec",
    [
        {},
        {"scaleTargetRef": {"kind": "ReplicationController", "name": "a"}},
        {"metrics": [measured(resource={"name": "anything", "target": HALF})]},
        {
            "metrics": [
                measured(containerResource={"name": "cpu", "container": "a", "target": AVERAGE})
            ]
        },
        {"metrics": [measured(pods=metric(AVERAGE)), measured(external=metric(VALUE))]},
        {"metrics": [measured(object=metric(VALUE, describedObject={"kind": "Pod", "name": "p"}))]},
        {"behavior": {"scaleUp": {"selectPolicy": "Disabled", "tolerance": "0"}}},
    ],
)
def test_usual_autoscalers_are_fine(spec: dict[str, Any]) -> None:
    assert wrong_with(**spec) == []


@pytest.mark.parametrize(
    ("spec", "wrong"),
    [
        ({"maxReplicas": None, "minReplicas": None}, "maxReplicas: Required value: must be set"),
        ({"maxReplicas": -1}, "maxReplicas: Invalid value: -1: must be greater than or equal to 1"),
        (
            {"minReplicas": 5},
            "maxReplicas: Invalid value: 3: must be greater than or equal to `min",
        ),
        ({"minReplicas": 0}, "minReplicas: Invalid value: 0: must be greater than or equal to 1"),
        ({"minReplicas": 0}, "metrics: Forbidden: must specify at least one Object or External"),
        ({"scaleTargetRef": {}}, "scaleTargetRef.kind: Required value"),
        (
            {"scaleTargetRef": TARGET | {"name": "a/b"}},
            "scaleTargetRef.name: Invalid value: \"a/b\": may not contain '/'",
        ),
        (
            {"scaleTargetRef": TARGET | {"apiVersion": "v1"}},
            'scaleTargetRef.apiVersion: Invalid value: "v1": apiVersion must specify API group',
        ),
        (
            {"scaleTargetRef": TARGET | {"apiVersion": "a/b/c"}},
            (
                'scaleTargetRef.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion '
                "string: a/b/c"
            ),
        ),
    ],
)
def test_autoscalers_have_their_rules(spec: dict[str, Any], wrong: str) -> None:
    assert any(complaint.startswith(f"spec.{wrong}") for complaint in wrong_with(**spec))


TYPES = '"ContainerResource", "External", "Object", "Pods", "Resource"'
CPU = {"name": "cpu", "target": HALF}


@pytest.mark.parametrize(
    ("found", "wrong"),
    [
        ({}, "type: Required value: must specify a metric source type"),
        ({"type": "A"}, f'type: Unsupported value: "A": supported values: {TYPES}'),
        ({"type": "Pods"}, "pods: Required value: must populate information for the given metric"),
        (
            measured(resource=CPU, pods=metric(AVERAGE)),
            "pods: Forbidden: must populate the given metric source only",
        ),
        (
            measured(object=metric(VALUE, describedObject={"apiVersion": "a/b/c"})),
            "object.describedObject.apiVersion: Invalid value",
        ),
        (measured(object=metric(HALF)), "object.target.averageValue: Required value: must set ei"),
        (measured(pods=metric(VALUE)), "pods.target.averageValue: Required value: must specify a"),
        (measured(pods=metric(AVERAGE, "")), "pods.metric.name: Required value: must specify"),
        (measured(pods=metric(AVERAGE, "a/b")), "pods.metric.name: Invalid value"),
        (measured(external=metric(HALF)), "external.target.averageValue: Required value: must se"),
        (measured(external=metric(VALUE | AVERAGE)), "external.target.value: Forbidden: may not"),
        (measured(resource={"target": HALF}), "resource.name: Required value: must specify a res"),
        (
            measured(resource={"name": "cpu", "target": VALUE}),
            "resource.target.averageUtilization: Required value: must set either a target raw",
        ),
        (
            measured(resource={"name": "cpu", "target": HALF | AVERAGE}),
            "resource.target.averageValue: Forbidden: may not set both",
        ),
        (measured(containerResource=CPU), "containerResource.container: Required value: must spe"),
        (
            measured(containerResource=CPU | {"container": "A_"}),
            "containerResource.container: Invalid value",
        ),
        (
            measured(containerResource=CPU | {"container": "a", "name": "pods"}),
            'containerResource.name: Invalid value: "pods": must be a standard resource for',
        ),
        (measured(pods=metric({})), "pods.target.type: Required value: must specify a metric tar"),
        (
            measured(pods=metric(AVERAGE | {"type": "A"})),
            'pods.target.type: Invalid value: "A": must be either Utilization, Value, or Average',
        ),
        (
            measured(external=metric(VALUE | {"value": "0"})),
            'external.target.value: Invalid value: "0": must be positive',
        ),
        (
            measured(pods=metric(AVERAGE | {"averageValue": "-1m"})),
            'pods.target.averageValue: Invalid value: "-1m": must be positive',
        ),
        (
            measured(resource=CPU | {"target": HALF | {"averageUtilization": 0}}),
            "resource.target.averageUtilization: Invalid value: 0: must be greater than 0",
        ),
    ],
)
def test_metrics_have_their_rules(found: dict[str, Any], wrong: str) -> None:
    said = wrong_with(metrics=[found])

    assert any(complaint.startswith(f"spec.metrics[0].{wrong}") for complaint in said), said


POLICY = {"type": "Pods", "value": 1, "periodSeconds": 1}


@pytest.mark.parametrize(
    ("rules", "wrong"),
    [
        ({"policies": []}, "policies: Required value: must specify at least one Policy"),
        (
            {"stabilizationWindowSeconds": -1},
            "stabilizationWindowSeconds: Invalid value: -1: must be greater than or equal to zero",
        ),
        (
            {"stabilizationWindowSeconds": 3601},
            "stabilizationWindowSeconds: Invalid value: 3601: must be less than or equal to 3600",
        ),
        (
            {"selectPolicy": "A"},
            'selectPolicy: Unsupported value: "A": supported values: "Disabled", "Max", "Min"',
        ),
        (
            {"tolerance": "-100m"},
            'tolerance: Invalid value: "-100m": must be greater than or equal to 0',
        ),
        (
            {"policies": [POLICY | {"type": "A"}]},
            'policies[0].type: Unsupported value: "A": supported values: "Percent", "Pods"',
        ),
        (
            {"policies": [POLICY | {"value": 0}]},
            "policies[0].value: Invalid value: 0: must be greater than zero",
        ),
        (
            {"policies": [POLICY, POLICY | {"periodSeconds": 1801}]},
            "policies[1].periodSeconds: Invalid value: 1801: must be less than or equal to 1800",
        ),
    ],
)
def test_scaling_rules_have_their_rules(rules: dict[str, Any], wrong: str) -> None:
    assert wrong_with(behavior={"scaleDown": rules}) == [f"spec.behavior.scaleDown.{wrong}"]


def updated(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    errors = FieldErrors()
    check_autoscaler_update(new, old, errors)
    return [cause.field for cause in errors.causes]


def test_an_update_may_keep_what_was_wrong() -> None:
    core = autoscaler(scaleTargetRef=TARGET | {"apiVersion": "v1"})
    described = {"apiVersion": "a/b/c", "kind": "K", "name": "n"}
    odd = autoscaler(metrics=[measured(object=metric(VALUE, describedObject=described))])
    zero = autoscaler(minReplicas=0, metrics=[measured(external=metric(VALUE))])

    assert updated(core, core) == []
    assert updated(autoscaler(), core) == ["spec.scaleTargetRef.apiVersion"]
    assert updated(odd, odd) == []
    assert updated(autoscaler(), odd) == ["spec.metrics[0].object.describedObject.apiVersion"]
    assert updated(zero, zero) == []
    assert updated(autoscaler(), zero) == ["spec.minReplicas"]


def test_a_status_counts_from_zero() -> None:
    errors = FieldErrors()

    check_autoscaler_status({"status": {"currentReplicas": -1, "desiredReplicas": 0}}, {}, errors)

    assert [cause.field for cause in errors.causes] == ["status.currentReplicas"]
