from __future__ import annotations

from typing import Any

import pytest

from reflet.apirules.validation.disruption_budgets import (
    check_conditions,
    check_disruption_budget,
    check_disruption_budget_status,
    check_disruption_budget_update,
)
from reflet.apirules.validation.field_errors import FieldErrors
from tests.unit.devserver.object_scene import complaints, created, kind_of


def budget(**spec: Any) -> dict[str, Any]:
    body = {"metadata": {"name": "x"}, "spec": spec}
    return created(kind_of("poddisruptionbudgets", "policy"), body)


def wrong_with(**spec: Any) -> list[str]:
    errors = FieldErrors()
    check_disruption_budget(budget(**spec), errors)
    return complaints(errors)


@pytest.mark.parametrize(
    "spec",
    [
        {},
        {"minAvailable": 0},
        {"minAvailable": "0100%", "selector": {}},
        {"maxUnavailable": "1%", "unhealthyPodEvictionPolicy": "IfHealthyBudget"},
    ],
)
def test_usual_budgets_are_fine(spec: dict[str, Any]) -> None:
    assert wrong_with(**spec) == []


@pytest.mark.parametrize(
    ("spec", "wrong"),
    [
        (
            {"minAvailable": 1, "maxUnavailable": "5%"},
            (
                'spec: Invalid value: {"MinAvailable":1,"Selector":null,"MaxUnavailable":"5%",'
                '"UnhealthyPodEvictionPolicy":null}: minAvailable and maxUnavailable cannot be '
                "both set"
            ),
        ),
        (
            {"minAvailable": -1},
            "spec.minAvailable: Invalid value: -1: must be greater than or equal to 0",
        ),
        (
            {"maxUnavailable": "101%"},
            'spec.maxUnavailable: Invalid value: "101%": must not be greater than 100%',
        ),
        (
            {"unhealthyPodEvictionPolicy": "Never"},
            (
                'spec.unhealthyPodEvictionPolicy: Unsupported value: "Never": supported values: '
                '"AlwaysAllow", "IfHealthyBudget"'
            ),
        ),
        (
            {"selector": {"matchExpressions": [{"key": "a", "operator": "In"}]}},
            (
                "spec.selector.matchExpressions[0].values: Required value: must be specified when "
                "`operator` is 'In' or 'NotIn'"
            ),
        ),
    ],
)
def test_budgets_have_their_rules(spec: dict[str, Any], wrong: str) -> None:
    assert wrong_with(**spec) == [wrong]


def test_a_share_of_any_length_is_read() -> None:
    text = f"{'9' * 5000}%"

    assert wrong_with(minAvailable=text) == [
        f'spec.minAvailable: Invalid value: "{text}": must not be greater than 100%'
    ]
    assert wrong_with(maxUnavailable="50")[0].startswith("spec.maxUnavailable: Invalid value")


def test_an_update_may_keep_selector_values_that_were_wrong() -> None:
    def selecting(value: str) -> dict[str, Any]:
        expression = {"key": "a", "operator": "In", "values": [value]}
        return budget(selector={"matchExpressions": [expression]})

    errors = FieldErrors()
    check_disruption_budget_update(selecting("a b"), selecting("a b"), errors)
    assert not errors

    check_disruption_budget_update(selecting("a b"), selecting("a"), errors)
    assert [cause.field for cause in errors.causes] == [
        "spec.selector.matchExpressions[0].values[0]"
    ]


def test_a_status_counts_from_zero() -> None:
    errors = FieldErrors()
    status = {"disruptionsAllowed": -1, "currentHealthy": 0, "expectedPods": -2}

    check_disruption_budget_status({"status": status}, {}, errors)

    assert [cause.field for cause in errors.causes] == [
        "status.disruptionsAllowed",
        "status.expectedPods",
    ]


def test_conditions_have_a_type_each_a_status_a_reason_and_a_time() -> None:
    good = {
        "type": "a.b/C",
        "status": "True",
        "reason": "A,b:C_",
        "lastTransitionTime": "2020-01-01T00:00:00Z",
    }
    bad = {"type": "a.b/C", "status": "Maybe", "observedGeneration": -1}
    long = good | {"type": "L", "reason": "r" * 1025, "message": "m" * 32769}
    odd = good | {"type": "O", "reason": "1"}
    errors = FieldErrors()

    check_conditions([good, bad, long, odd], "c", errors)

    assert [(cause.field, cause.type) for cause in errors.causes] == [
        ("c[1].type", "FieldValueDuplicate"),
        ("c[1].status", "FieldValueNotSupported"),
        ("c[1].observedGeneration", "FieldValueInvalid"),
        ("c[1].lastTransitionTime", "FieldValueRequired"),
        ("c[1].reason", "FieldValueRequired"),
        ("c[2].reason", "FieldValueTooLong"),
        ("c[2].message", "FieldValueTooLong"),
        ("c[3].reason", "FieldValueInvalid"),
    ]
