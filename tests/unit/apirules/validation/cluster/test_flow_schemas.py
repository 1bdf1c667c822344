from __future__ import annotations

from typing import Any

import pytest

from reflet.apirules.validation.cluster.flow_schemas import check_flow_schema, check_flow_status
from reflet.apirules.validation.field_errors import FieldErrors
from tests.unit.devserver.object_scene import complaints, created, kind_of

SCHEMAS = kind_of("flowschemas", "flowcontrol.apiserver.k8s.io")
GROUP = {"kind": "Group", "group": {"name": "system:masters"}}
EVERYTHING: dict[str, Any] = {
    "subjects": [GROUP],
    "resourceRules": [
        {
            "verbs": ["*"],
            "apiGroups": ["*"],
            "resources": ["*"],
            "clusterScope": True,
            "namespaces": ["*"],
        }
    ],
    "nonResourceRules": [{"verbs": ["*"], "nonResourceURLs": ["*"]}],
}


def wrong_with(name: str = "x", **spec: Any) -> list[str]:
    usual = {"priorityLevelConfiguration": {"name": "exempt"}}
    errors = FieldErrors()
    made = created(SCHEMAS, {"metadata": {"name": name}, "spec": usual | spec})
    check_flow_schema(SCHEMAS, made, errors)
    return complaints(errors)


def wrong_with_rule(**fields: Any) -> list[str]:
    found = wrong_with(rules=[EVERYTHING | fields])
    return [each.removeprefix("spec.rules[0].") for each in found]


@pytest.mark.parametrize(
    ("name", "spec"),
    [
        ("x", {}),
        ("x", {"matchingPrecedence": 10000, "distinguisherMethod": {"type": "ByUser"}}),
        ("x", {"rules": [EVERYTHING]}),
        ("exempt", {"matchingPrecedence": 1, "rules": [EVERYTHING]}),
    ],
)
def test_usual_schemas_are_fine(name: str, spec: dict[str, Any]) -> None:
    assert wrong_with(name, **spec) == []


@pytest.mark.parametrize(
    ("spec", "wrong"),
    [
        (
            {"matchingPrecedence": 1},
            [
                (
                    "spec.matchingPrecedence: Invalid value: 1: only the schema named 'exempt' may "
                    "have matchingPrecedence 1"
                )
            ],
        ),
        (
            {"matchingPrecedence": 10001},
            ["spec.matchingPrecedence: Invalid value: 10001: must not be greater than 10000"],
        ),
        (
            {"distinguisherMethod": {"type": "ByWhim"}},
            [
                (
                    'spec.distinguisherMethod.type: Unsupported value: {"Type":"ByWhim"}: '
                    'supported values: "ByNamespace", "ByUser"'
                )
            ],
        ),
        (
            {"priorityLevelConfiguration": {}},
            [
                (
                    "spec.priorityLevelConfiguration.name: Required value: must reference a "
                    "priority level"
                )
            ],
        ),
        (
            {"rules": [{}]},
            [
                "spec.rules[0].subjects: Required value: subjects must contain at least one value",
                (
                    "spec.rules[0]: Required value: at least one of resourceRules and "
                    "nonResourceRules has to be non-empty"
                ),
            ],
        ),
    ],
)
def test_schemas_that_catch_nothing_are_refused(spec: dict[str, Any], wrong: list[str]) -> None:
    assert wrong_with(**spec) == wrong


@pytest.mark.parametrize(
    ("fields", "wrong"),
    [
        (
            {"subjects": [{"kind": "User", "group": {"name": "g"}}]},
            [
                "subjects[0].user: Required value: user is required when subject kind is 'User'",
                "subjects[0].group: Forbidden: group is forbidden when subject kind is not 'Group'",
            ],
        ),
        (
            {"subjects": [{"kind": "ServiceAccount", "serviceAccount": {"name": "*"}}]},
            [
                (
                    "subjects[0].serviceAccount.namespace: Required value: must specify namespace "
                    "for service account"
                )
            ],
        ),
        (
            {"resourceRules": [EVERYTHING["resourceRules"][0] | {"verbs": ["look"]}]},
            [
                (
                    'resourceRules[0].verbs: Unsupported value: ["look"]: supported values: '
                    '"create", "delete", "deletecollection", "get", "list", "patch", "proxy", '
                    '"update", "watch"'
                )
            ],
        ),
        (
            {"nonResourceRules": [{"verbs": ["*"], "nonResourceURLs": ["/a*", "b", "/", "/c/*"]}]},
            [
                (
                    'nonResourceRules[0].nonResourceURLs[0]: Invalid value: "/a*": wildcard can '
                    "only do suffix matching"
                ),
                'nonResourceRules[0].nonResourceURLs[1]: Invalid value: "b": must start with slash',
            ],
        ),
    ],
)
def test_rules_that_catch_nothing_are_refused(fields: dict[str, Any], wrong: list[str]) -> None:
    assert wrong_with_rule(**fields) == wrong


def test_a_mandatory_schema_is_as_the_server_wants_it() -> None:
    (wrong,) = wrong_with("exempt", matchingPrecedence=1)

    assert wrong == (
        'spec: Invalid value: {"PriorityLevelConfiguration":{"Name":"exempt"},'
        '"MatchingPrecedence":1,"DistinguisherMethod":null,"Rules":null}: spec of \'exempt\' must '
        "equal the fixed value"
    )


def test_conditions_have_a_type_each() -> None:
    errors = FieldErrors()
    document = {"status": {"conditions": [{"type": "a"}, {"type": "a"}, {}]}}
    check_flow_status(document, document, errors)

    assert complaints(errors) == [
        'status.conditions[1].type: Duplicate value: "a"',
        "status.conditions[2].type: Required value",
    ]
