from __future__ import annotations

from typing import Any

import pytest

from reflet.apirules.validation.field_errors import FieldErrors
from reflet.apirules.validation.podspecs.placement import (
    REQUIRED,
    check_affinity,
    check_gates,
    check_spreading,
    internal_terms,
)
from tests.unit.devserver.object_scene import complaints

SPREAD = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}


def spreading(*constraints: dict[str, Any]) -> list[str]:
    errors = FieldErrors()
    check_spreading(constraints, "t", errors)
    return complaints(errors)


@pytest.mark.parametrize(
    ("fields", "wrong"),
    [
        ({}, []),
        ({"maxSkew": 0}, ["t[0].maxSkew: Invalid value: 0: must be greater than zero"]),
        (
            {"whenUnsatisfiable": "ScheduleAnyway", "minDomains": 2},
            [
                (
                    "t[0].minDomains: Invalid value: 2: can only use minDomains if "
                    "whenUnsatisfiable=DoNotSchedule, not ScheduleAnyway"
                )
            ],
        ),
        (
            {"matchLabelKeys": ["a"]},
            [
                (
                    "t[0].matchLabelKeys: Forbidden: must not be specified when labelSelector "
                    "is not set"
                )
            ],
        ),
    ],
)
def test_spreading_has_its_rules(fields: dict[str, Any], wrong: list[str]) -> None:
    assert spreading(SPREAD | fields) == wrong


def test_pods_are_not_spread_twice_in_one_way() -> None:
    assert spreading(SPREAD, SPREAD) == [
        't[0].{topologyKey, whenUnsatisfiable}: Duplicate value: "{zone, DoNotSchedule}"'
    ]


def test_neighbours_need_a_place_and_no_key_twice() -> None:
    errors = FieldErrors()
    expression = {"key": "a", "operator": "Exists"}
    selector = {"matchLabels": {"a": "b"}, "matchExpressions": [expression]}
    term = {"labelSelector": selector, "matchLabelKeys": ["a"], "topologyKey": "zone"}

    check_affinity({"podAffinity": {REQUIRED: [term, {}]}}, "a", errors)

    assert [cause.field for cause in errors.causes] == [
        f"a.podAffinity.{REQUIRED}[0][0]",
        f"a.podAffinity.{REQUIRED}[1].topologyKey",
        f"a.podAffinity.{REQUIRED}[1].topologyKey",
        f"a.podAffinity.{REQUIRED}[1].topologyKey",
    ]


def test_gates_are_names_and_not_repeated() -> None:
    errors = FieldErrors()
    gates = [{"name": "a"}, {"name": "a"}]

    check_gates({"schedulingGates": gates, "readinessGates": [{}]}, "s", errors)

    assert {cause.field for cause in errors.causes} == {
        "s.readinessGates[0].conditionType",
        "s.schedulingGates[1]",
    }


def test_terms_are_shown_by_their_internal_names() -> None:
    term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n"]}]}

    assert internal_terms([term]) == [
        {
            "MatchExpressions": None,
            "MatchFields": [{"Key": "metadata.name", "Operator": "In", "Values": ["n"]}],
        }
    ]
