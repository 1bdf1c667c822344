"""The API server's refusals, sorted into rules."""

from __future__ import annotations

import pytest
from msgspec import structs

from reflet.errors import Cause
from reflet.insight.lint.pod_checks import refused_objects
from reflet.insight.lint.subjects import Subject


def subject(*causes: Cause, message: str = 'Pod "web" is invalid') -> Subject:
    return Subject(
        file="a.yaml",
        kind="Pod",
        namespace="shop",
        name="web",
        find_line=len,
        message=message,
        causes=causes,
    )


@pytest.mark.parametrize(
    ("field", "words", "rule"),
    [
        ("spec.containers[0].volumeMounts[1].mountPath", "must be unique", "RFL011"),
        ("spec.containers[0].env[0].name", "a valid environment variable name must", "RFL005"),
        ("spec.containers[0].env[0].name", "Required value", "RFL005"),
        ("spec.volumes[0].configMap.items[0].path", "must not contain '..'", "RFL016"),
        ("spec.containers[0].volumeMounts.subPath", "must be a relative path", "RFL016"),
        ("spec.volumes[0].projected", "conflicting duplicate paths", "RFL014"),
        ("[]", "Too long: may not be more than 1048576 bytes", "RFL012"),
        ("data", "Forbidden: field is immutable when `immutable` is set", "RFL013"),
        ("spec.containers[0].name", "Required value", "RFL001"),
        ("metadata.name", "must be unique", "RFL001"),
    ],
)
def test_causes_that_have_a_rule_of_their_own_are_told_under_it(
    field: str, words: str, rule: str
) -> None:
    (finding,) = refused_objects(subject(Cause("FieldValueInvalid", words, field)))

    assert finding.rule.id == rule
    assert (finding.path, finding.line) == (field, len(field))


@pytest.mark.parametrize(
    ("kind", "field", "place"),
    [
        (
            "CustomResourceDefinition",
            "spec.validation.openAPIV3Schema.type",
            "spec.versions[0].schema.openAPIV3Schema.type",
        ),
        ("CustomResourceDefinition", "spec.versions[1].schema", "spec.versions[1].schema"),
        ("Thing", "spec.validation.type", "spec.validation.type"),
    ],
)
def test_a_definitions_schema_is_found_where_it_is_written(
    kind: str, field: str, place: str
) -> None:
    cause = Cause("FieldValueInvalid", "Invalid value", field)
    (finding,) = refused_objects(structs.replace(subject(cause), kind=kind))

    assert finding.path == place
    assert f": {field}: Invalid value" in finding.message


def test_every_cause_is_a_finding() -> None:
    causes = [Cause("FieldValueRequired", "Required value", field) for field in ("a", "b")]

    findings = list(refused_objects(subject(*causes)))

    assert [finding.message for finding in findings] == [
        "the API server refuses Pod shop/web: a: Required value",
        "the API server refuses Pod shop/web: b: Required value",
    ]


def test_the_words_are_the_api_servers_and_each_finding_has_its_own() -> None:
    causes = [Cause("FieldValueRequired", "Required value", field) for field in ("a", "b")]

    findings = list(refused_objects(subject(*causes, message="Pod is invalid: [a: …, b: …]")))

    assert [(finding.by, finding.said) for finding in findings] == [
        ("API server", "a: Required value"),
        ("API server", "b: Required value"),
    ]


def test_a_refusal_without_causes_is_one_finding() -> None:
    (finding,) = refused_objects(subject(message='unknown field "spec.x"'))

    assert finding.message == 'the API server refuses Pod shop/web: unknown field "spec.x"'


def test_mounts_of_a_bad_volume_are_not_told() -> None:
    causes = [
        Cause("FieldValueInvalid", "must not contain '..'", "spec.volumes[0].secret.items[0].path"),
        Cause("FieldValueNotFound", 'Not found: "a"', "spec.containers[0].volumeMounts[0].name"),
    ]

    assert [finding.rule.id for finding in refused_objects(subject(*causes))] == ["RFL016"]
