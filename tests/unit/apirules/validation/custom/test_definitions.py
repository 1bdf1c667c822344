from __future__ import annotations

import copy
from typing import Any

import pytest

from reflet.apirules.validation.custom.definitions import (
    check_definition,
    check_definition_update,
)
from reflet.apirules.validation.field_errors import FieldErrors
from tests.unit.devserver.object_scene import DEFINITION, complaints, created, kind_of


def definition(**spec: Any) -> dict[str, Any]:
    body = copy.deepcopy(DEFINITION)
    body["spec"].update(spec)
    return created(kind_of("customresourcedefinitions", "apiextensions.k8s.io"), body)


def wrong_with(**spec: Any) -> list[str]:
    errors = FieldErrors()
    check_definition(definition(**spec), errors)
    return complaints(errors)


def version(**changes: Any) -> dict[str, Any]:
    schema = {"openAPIV3Schema": {"type": "object"}}
    return {"name": "v1", "served": True, "storage": True, "schema": schema} | changes


def test_a_usual_definition_is_fine() -> None:
    assert wrong_with() == []


@pytest.mark.parametrize(
    ("text", "wrong"),
    [("", "Required value"), ("yes", "Invalid value"), ("unapproved", ""), ("https://x/y", "")],
)
def test_a_group_of_the_community_needs_approval(text: str, wrong: str) -> None:
    made = definition(group="a.k8s.io")
    made["metadata"] |= {
        "name": f"{made['spec']['names']['plural']}.a.k8s.io",
        "annotations": {"api-approved.kubernetes.io": text},
    }
    errors = FieldErrors()

    check_definition(made, errors)

    said = "metadata.annotations[api-approved.kubernetes.io]: "
    assert [each for each in complaints(errors) if not each.startswith(said + wrong)] == []
    assert bool(complaints(errors)) is bool(wrong)


@pytest.mark.parametrize(
    ("spec", "wrong"),
    [
        ({"group": "example.com"}, "metadata.name: Invalid value"),
        ({"group": "org"}, 'spec.group: Invalid value: "org": should be a domain with at least'),
        ({"scope": "Galaxy"}, "spec.scope: Unsupported value"),
        ({"versions": [version(), version()]}, "spec.versions: Invalid value"),
        ({"versions": [version(storage=False)]}, "spec.versions: Invalid value"),
        ({"versions": [version(schema=None)]}, "spec.versions[0].schema.openAPIV3Schema: Required"),
        (
            {"versions": [version(schema={"openAPIV3Schema": {"type": "string"}})]},
            "spec.validation.openAPIV3Schema.type: Invalid value",
        ),
    ],
)
def test_definitions_have_their_rules(spec: dict[str, Any], wrong: str) -> None:
    assert any(complaint.startswith(wrong) for complaint in wrong_with(**spec))


@pytest.mark.parametrize(
    ("conversion", "wrong"),
    [
        ({"strategy": "None"}, []),
        (
            {
                "strategy": "Webhook",
                "webhook": {
                    "clientConfig": {"url": "https://a"},
                    "conversionReviewVersions": ["v1"],
                },
            },
            [],
        ),
        (
            {"strategy": "Odd", "webhook": {"conversionReviewVersions": ["v1"]}},
            [
                'strategy: Unsupported value: "Odd": supported values: "None", "Webhook"',
                (
                    "conversionReviewVersions: Forbidden: should not be set when strategy is not "
                    "set to Webhook"
                ),
            ],
        ),
        (
            {"strategy": "Webhook"},
            [
                "webhookClientConfig: Required value: required when strategy is set to Webhook",
                "conversionReviewVersions: Required value",
            ],
        ),
    ],
)
def test_versions_become_each_other_by_a_webhook_or_not(
    conversion: dict[str, Any], wrong: list[str]
) -> None:
    found = wrong_with(conversion=conversion)

    assert [each.removeprefix("spec.conversion.") for each in found] == wrong


def test_names_may_have_capitals_only_in_kinds() -> None:
    names = {"plural": "Gears", "singular": "gear", "kind": "Gear", "listKind": "Gear"}

    found = wrong_with(names=names | {"shortNames": ["G"]})

    assert [complaint.partition(":")[0] for complaint in found] == [
        "metadata.name",
        "spec.names.plural",
        "spec.names.shortNames[0]",
        "spec.names.listKind",
    ]


def test_every_part_of_a_schema_has_a_type() -> None:
    schema = {
        "type": "object",
        "properties": {
            "a": {},
            "b": {"type": "array", "items": {}},
            "c": {"x-kubernetes-int-or-string": True},
            "d": {"type": "object", "additionalProperties": {}},
        },
    }

    found = wrong_with(versions=[version(schema={"openAPIV3Schema": schema})])

    place = "spec.validation.openAPIV3Schema.properties"
    assert found == [
        f"{place}[a].type: Required value: must not be empty for specified object fields",
        f"{place}[b].items.type: Required value: must not be empty for specified array items",
        (
            f"{place}[d].additionalProperties.type: Required value: must not be empty for "
            "specified object fields"
        ),
    ]


def test_an_established_definition_keeps_scope_and_names() -> None:
    old = definition()
    old["status"]["conditions"] = [{"type": "Established", "status": "True"}]
    new = copy.deepcopy(old)
    new["spec"]["scope"] = "Cluster"
    new["spec"]["names"]["kind"] = "Wheel"
    errors = FieldErrors()

    check_definition_update(new, old, errors)

    assert [cause.field for cause in errors.causes] == ["spec.scope", "spec.names.kind"]
