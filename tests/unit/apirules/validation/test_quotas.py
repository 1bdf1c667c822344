from __future__ import annotations

from typing import Any

import pytest

from reflet.apirules.validation.field_errors import FieldErrors
from reflet.apirules.validation.quotas import (
    check_limit_range,
    check_priority_class,
    check_priority_class_change,
    check_quota,
    check_quota_change,
    check_quota_status,
)
from tests.unit.devserver.object_scene import complaints, created, kind_of

OUT_OF_SCOPE = "unsupported scope applied to resource"


def wrong_with_quota(hard: dict[str, str] | None = None, **spec: Any) -> list[str]:
    body = {"metadata": {"name": "x"}, "spec": {"hard": hard or {}} | spec}
    errors = FieldErrors()
    check_quota(created(kind_of("resourcequotas"), body), errors)
    return complaints(errors)


def selected(*requirements: tuple[str, str, list[str]]) -> dict[str, Any]:
    names = ("scopeName", "operator", "values")
    expressions = [dict(zip(names, each, strict=True)) for each in requirements]
    return {"scopeSelector": {"matchExpressions": expressions}}


@pytest.mark.parametrize(
    ("hard", "spec"),
    [
        ({}, {}),
        ({"pods": "10", "count/jobs.batch": "5", "requests.example.com/gpu": "1500m"}, {}),
        ({"pods": "1", "limits.cpu": "1500m"}, {"scopes": ["NotTerminating"]}),
        ({"pods": "1"}, {"scopes": ["BestEffort"]}),
        ({"requests.storage": "1"}, {"scopes": ["VolumeAttributesClass"]}),
        ({"pods": "1"}, selected(("PriorityClass", "In", ["high"]))),
        ({"pods": "1"}, selected(("Terminating", "Exists", []))),
    ],
)
def test_usual_quotas_are_fine(hard: dict[str, str], spec: dict[str, Any]) -> None:
    assert wrong_with_quota(hard, **spec) == []


@pytest.mark.parametrize(
    ("hard", "spec", "wrong"),
    [
        (
            {"cpu": "-1"},
            {},
            ['spec.hard[cpu]: Invalid value: "-1": must be greater than or equal to 0'],
        ),
        ({"pods": "1500m"}, {}, ['spec.hard[pods]: Invalid value: "1500m": must be an integer']),
        (
            {"pods": "9" * 30},
            {},
            [f'spec.hard[pods]: Invalid value: "{"9" * 30}": must be an integer'],
        ),
        (
            {},
            {"scopes": ["Sometimes"]},
            ['spec.scopes: Invalid value: ["Sometimes"]: unsupported scope'],
        ),
        (
            {"secrets": "1"},
            {"scopes": ["Terminating"]},
            [f'spec.scopes: Invalid value: ["Terminating"]: {OUT_OF_SCOPE}'],
        ),
        (
            {},
            {"scopes": ["BestEffort", "NotBestEffort"]},
            ['spec.scopes: Invalid value: ["BestEffort","NotBestEffort"]: conflicting scopes'],
        ),
        (
            {},
            selected(("PriorityClass", "In", [])),
            [
                (
                    "spec.scopeSelector.matchExpressions.values: Required value: must be at "
                    "least one "
                    "value when `operator` is 'In' or 'NotIn' for scope selector"
                ),
            ],
        ),
        (
            {},
            selected(("PriorityClass", "Exists", ["a"])),
            [
                (
                    'spec.scopeSelector.matchExpressions.values: Invalid value: ["a"]: must be no '
                    "value when `operator` is 'Exist' or 'DoesNotExist' for scope selector"
                ),
            ],
        ),
        (
            {"secrets": "1"},
            selected(("PriorityClass", "Exists", [])),
            [
                (
                    "spec.scopeSelector.matchExpressions: Invalid value: "
                    '{"MatchExpressions":[{"ScopeName":"PriorityClass","Operator":"Exists",'
                    f'"Values":null}}]}}: {OUT_OF_SCOPE}'
                ),
            ],
        ),
        (
            {},
            selected(("Terminating", "Exists", []), ("NotTerminating", "Exists", [])),
            ["spec.scopeSelector.matchExpressions: Invalid value: null: conflicting scopes"],
        ),
    ],
)
def test_what_is_wrong_with_a_quota(
    hard: dict[str, str], spec: dict[str, Any], wrong: list[str]
) -> None:
    assert wrong_with_quota(hard, **spec) == wrong


def test_a_scope_without_values_exists_or_not() -> None:
    first, second = wrong_with_quota(**selected(("BestEffort", "Near", [])))

    assert first.startswith(
        "spec.scopeSelector.matchExpressions.operator: Invalid value: \"Near\": must be 'Exists'"
    )
    assert second.endswith('Invalid value: "Near": not a valid selector operator')


def test_a_quota_keeps_its_scopes() -> None:
    errors = FieldErrors()
    scopes = ["Terminating", "NotBestEffort"]
    check_quota_change({"spec": {"scopes": scopes[::-1]}}, {"spec": {"scopes": scopes}}, errors)
    assert not errors

    check_quota_change({"spec": {}}, {"spec": {"scopes": scopes}}, errors)

    assert complaints(errors) == ["spec.scopes: Invalid value: null: field is immutable"]


def test_what_is_reported_about_a_quota_is_checked() -> None:
    errors = FieldErrors()

    check_quota_status({"status": {"hard": {"cpu": "-1"}, "used": {"pods": "1m"}}}, {}, errors)

    assert complaints(errors) == [
        'status.hard[cpu]: Invalid value: "-1": must be greater than or equal to 0',
        'status.used[pods]: Invalid value: "1m": must be an integer',
    ]


def wrong_with_limits(*limits: dict[str, Any]) -> list[str]:
    body = {"metadata": {"name": "x"}, "spec": {"limits": list(limits)}}
    errors = FieldErrors()
    check_limit_range(created(kind_of("limitranges"), body), errors)
    return complaints(errors)


def of_pods(**amounts: str) -> dict[str, Any]:
    return {"type": "Pod"} | {name: {"cpu": amount} for name, amount in amounts.items()}


@pytest.mark.parametrize(
    "limit",
    [
        of_pods(min="1", max="4", maxLimitRequestRatio="4"),
        of_pods(min="0", max="4", maxLimitRequestRatio="4"),
        {"type": "Container", "max": {"cpu": "1"}, "defaultRequest": {"cpu": "1m"}},
        {"type": "PersistentVolumeClaim", "max": {"storage": "1Gi"}},
        {"type": "example.com/anything", "default": {"pods": "1"}},
    ],
)
def test_usual_limits_are_fine(limit: dict[str, Any]) -> None:
    assert wrong_with_limits(limit) == []


@pytest.mark.parametrize(
    ("limit", "wrong"),
    [
        (
            {"type": "Node"},
            'type: Invalid value: "Node": must be a standard limit type or fully qualified',
        ),
        (of_pods(default="1"), "default: Forbidden: may not be specified when `type` is 'Pod'"),
        (
            {"type": "PersistentVolumeClaim"},
            (
                "limits: Required value: either minimum or maximum storage value is required, but "
                "neither was provided"
            ),
        ),
        (
            of_pods(min="2", max="1"),
            'min[cpu]: Invalid value: "2": min value 2 is greater than max value 1',
        ),
        (
            {"type": "a/b", "min": {"cpu": "2"}, "defaultRequest": {"cpu": "1"}},
            (
                'defaultRequest[cpu]: Invalid value: "1": min value 2 is greater than '
                "default request "
                "value 1"
            ),
        ),
        (
            {"type": "a/b", "max": {"cpu": "1"}, "defaultRequest": {"cpu": "2"}},
            (
                'defaultRequest[cpu]: Invalid value: "2": default request value 2 is '
                "greater than max "
                "value 1"
            ),
        ),
        (
            {"type": "a/b", "default": {"cpu": "1"}, "defaultRequest": {"cpu": "2"}},
            (
                'defaultRequest[cpu]: Invalid value: "2": default request value 2 is greater than '
                "default limit value 1"
            ),
        ),
        (
            {"type": "a/b", "min": {"cpu": "2"}, "default": {"cpu": "1"}},
            'default[cpu]: Invalid value: "2": min value 2 is greater than default value 1',
        ),
        (
            {"type": "a/b", "max": {"cpu": "1"}, "default": {"cpu": "2"}},
            'default[cpu]: Invalid value: "1": default value 2 is greater than max value 1',
        ),
        (
            of_pods(maxLimitRequestRatio="500m"),
            'maxLimitRequestRatio[cpu]: Invalid value: "500m": ratio 500m is less than 1',
        ),
        (
            of_pods(min="3", max="4", maxLimitRequestRatio="2"),
            (
                'maxLimitRequestRatio[cpu]: Invalid value: "2": ratio 2 is greater than max/min = '
                "1.333333"
            ),
        ),
        (
            of_pods(min="-5P", max="10P", maxLimitRequestRatio="4"),
            (
                'maxLimitRequestRatio[cpu]: Invalid value: "4": ratio 4 is greater than max/min = '
                "-2.000000"
            ),
        ),
        (
            {"type": "a/b", "default": {"a.b/c": "2"}, "defaultRequest": {"a.b/c": "1"}},
            (
                'defaultRequest[a.b/c]: Invalid value: "1": default value 2 must equal to '
                "defaultRequest value 1 in a.b/c"
            ),
        ),
    ],
)
def test_what_is_wrong_with_limits(limit: dict[str, Any], wrong: str) -> None:
    assert wrong_with_limits(limit) == [f"spec.limits[0].{wrong}"]


def test_a_ratio_to_nothing_is_below_everything() -> None:
    wrong = wrong_with_limits(of_pods(min="0", max="-1", maxLimitRequestRatio="2"))

    assert wrong[-1].endswith("ratio 2 is greater than max/min = -Inf")


def test_a_type_stands_once() -> None:
    assert wrong_with_limits(of_pods(), of_pods()) == [
        'spec.limits[1].type: Duplicate value: "Pod"'
    ]


def wrong_with_priority(name: str = "x", **fields: Any) -> list[str]:
    kind = kind_of("priorityclasses", "scheduling.k8s.io")
    errors = FieldErrors()
    check_priority_class(created(kind, {"metadata": {"name": name}} | fields), errors)
    return complaints(errors)


@pytest.mark.parametrize(
    ("name", "fields", "wrong"),
    [
        ("x", {"value": 1_000_000_000}, ""),
        ("x", {"value": -5, "preemptionPolicy": "Never"}, ""),
        ("system-node-critical", {"value": 2_000_001_000}, ""),
        (
            "x",
            {"value": 1_000_000_001},
            "value: Forbidden: maximum allowed value of a user defined priority is 1000000000",
        ),
        ("system-x", {}, "system-x is not a known system priority class"),
        (
            "system-cluster-critical",
            {"value": 1},
            "value of system-cluster-critical PriorityClass must be 2000000000",
        ),
        (
            "system-cluster-critical",
            {"value": 2_000_000_000, "globalDefault": True},
            "globalDefault of system-cluster-critical PriorityClass must be false",
        ),
        ("x", {"preemptionPolicy": ""}, "preemptionPolicy: Required value"),
        (
            "x",
            {"preemptionPolicy": "Always"},
            (
                'preemptionPolicy: Unsupported value: "Always": supported values: '
                '"PreemptLowerPriority", "Never"'
            ),
        ),
    ],
)
def test_priority_classes(name: str, fields: dict[str, Any], wrong: str) -> None:
    said = wrong_with_priority(name, **fields)

    assert said == [] if not wrong else (len(said) == 1 and said[0].endswith(wrong))


def test_a_priority_class_keeps_its_priority() -> None:
    errors = FieldErrors()
    old = {"value": 1, "preemptionPolicy": "Never"}

    check_priority_class_change({"preemptionPolicy": "PreemptLowerPriority"}, old, errors)

    assert complaints(errors) == [
        "value: Forbidden: may not be changed in an update.",
        'preemptionPolicy: Invalid value: "PreemptLowerPriority": field is immutable',
    ]
