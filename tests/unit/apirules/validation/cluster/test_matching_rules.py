from __future__ import annotations

from typing import Any

import pytest

from reflet.apirules.validation.cluster.matching_rules import (
    check_match_conditions,
    check_match_resources,
    check_rules,
)
from reflet.apirules.validation.field_errors import FieldErrors
from tests.unit.devserver.object_scene import complaints

RULE: dict[str, Any] = {
    "operations": ["CREATE"],
    "apiGroups": [""],
    "apiVersions": ["v1"],
    "resources": ["pods"],
}


def wrong_with_rule(**fields: Any) -> list[str]:
    errors = FieldErrors()
    check_rules([RULE | fields], "rules", errors)
    return complaints(errors)


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*/*"]},
        {"resources": ["pods", "pods/status", "*/scale"], "scope": "Namespaced"},
        {"resources": ["a", "*", "*"]},
        {"resourceNames": ["a", "b:c"]},
    ],
)
def test_usual_rules_are_fine(fields: dict[str, Any]) -> None:
    assert wrong_with_rule(**fields) == []


@pytest.mark.parametrize(
    ("fields", "wrong"),
    [
        ({"operations": []}, ["rules[0].operations: Required value"]),
        (
            {"operations": ["*", "UPDATE"]},
            [
                (
                    'rules[0].operations: Invalid value: ["*","UPDATE"]: if \'*\' is present, must '
                    "not specify other operations"
                )
            ],
        ),
        (
            {"operations": ["create"]},
            [
                (
                    'rules[0].operations[0]: Unsupported value: "create": supported values: "*", '
                    '"CONNECT", "CREATE", "DELETE", "UPDATE"'
                )
            ],
        ),
        (
            {"apiGroups": ["*", ""]},
            [
                (
                    'rules[0].apiGroups: Invalid value: ["*",""]: if \'*\' is present, must not '
                    "specify other API groups"
                )
            ],
        ),
        ({"apiVersions": [""]}, ["rules[0].apiVersions[0]: Required value"]),
        ({"resources": [""]}, ["rules[0].resources[0]: Required value"]),
        (
            {"resources": ["pods/*", "pods/log", "*/log", "jobs/log"]},
            [
                (
                    "rules[0].resources[1]: Invalid value: \"pods/log\": if 'pods/*' is present, "
                    "must not specify pods/log"
                ),
                (
                    "rules[0].resources[3]: Invalid value: \"jobs/log\": if '*/log' is present, "
                    "must not specify jobs/log"
                ),
            ],
        ),
        (
            {"resources": ["*", "pods"]},
            [
                (
                    'rules[0].resources: Invalid value: ["*","pods"]: if \'*\' is present, must '
                    "not specify other resources without subresources"
                )
            ],
        ),
        (
            {"scope": "Here"},
            [
                (
                    'rules[0].scope: Unsupported value: "Here": supported values: "*", "Cluster", '
                    '"Namespaced"'
                )
            ],
        ),
        (
            {"resourceNames": ["a/b", "c", "c"]},
            [
                "rules[0].resourceNames[0]: Invalid value: \"a/b\": may not contain '/'",
                'rules[0].resourceNames[2]: Duplicate value: "c"',
            ],
        ),
    ],
)
def test_rules_that_contradict_themselves_are_refused(
    fields: dict[str, Any], wrong: list[str]
) -> None:
    assert wrong_with_rule(**fields) == wrong


def test_what_is_matched_needs_a_policy_and_selectors() -> None:
    errors = FieldErrors()
    check_match_resources({}, "m", errors)
    check_match_resources(None, "n", errors)

    assert complaints(errors) == [
        "m.matchPolicy: Required value",
        "m.namespaceSelector: Required value",
        "m.objectSelector: Required value",
    ]


def test_conditions_have_a_name_of_their_own_and_an_expression() -> None:
    errors = FieldErrors()
    good = {"name": "a", "expression": "true"}
    check_match_conditions([good, good, {"expression": " "}], "c", errors)
    check_match_conditions([good | {"name": f"n{number}"} for number in range(65)], "d", errors)

    assert complaints(errors) == [
        'c[1].name: Duplicate value: "a"',
        "c[2].expression: Required value",
        "c[2].name: Required value",
        "d: Too many: 65: must have at most 64 items",
    ]
