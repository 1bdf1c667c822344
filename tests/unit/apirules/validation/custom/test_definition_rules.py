from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from reflet.apirules import regular_expressions
from reflet.apirules.validation.custom.definition_rules import (
    check_schema_rules,
    definition_warnings,
)
from reflet.apirules.validation.field_errors import FieldErrors
from tests.unit.apirules.validation.custom.rule_scene import NUMBER, record, ruled
from tests.unit.devserver.object_scene import complaints

RULE = "s.x-kubernetes-validations[0]"


def wrong_with(schema: dict[str, Any]) -> list[str]:
    errors = FieldErrors()
    check_schema_rules(schema, "s", errors)
    return complaints(errors)


@pytest.mark.parametrize(
    ("rule", "wrong"),
    [
        ({"rule": " "}, f"{RULE}.rule: Required value: rule is not specified"),
        (
            {"rule": "true", "message": " "},
            f'{RULE}.message: Invalid value: " ": must be non-empty',
        ),
        ({"rule": "true", "message": "a\nb"}, "must not contain line breaks"),
        ({"rule": "true\n&& true"}, f"{RULE}.message: Required value: message must be specified"),
        ({"rule": "true", "messageExpression": " "}, "messageExpression must be non-empty"),
        ({"rule": "true", "reason": "Why"}, f'{RULE}.reason: Unsupported value: "Why"'),
        ({"rule": "true", "fieldPath": " "}, "must be non-empty if specified"),
        ({"rule": "true", "fieldPath": ".a\n"}, "must not contain line breaks"),
        (
            {"rule": "true", "fieldPath": ".x"},
            f'{RULE}.fieldPath: Invalid value: ".x": must be a valid',
        ),
        (
            {"rule": "true", "optionalOldSelf": True},
            "may not be set if oldSelf is not used in rule",
        ),
        ({"rule": "true", "messageExpression": "1"}, "messageExpression must evaluate to a string"),
    ],
)
def test_a_rule_has_rules_of_its_own(rule: dict[str, Any], wrong: str) -> None:
    assert wrong in wrong_with(ruled(record(a=NUMBER), rule))[0]


def test_a_rule_that_does_not_compile_is_shown_as_the_real_server_shows_it() -> None:
    (wrong,) = wrong_with(ruled(record(a=NUMBER), "self.b == 1"))

    assert wrong == (
        f'{RULE}.rule: Invalid value: {{"Rule":"self.b == 1","Message":"","MessageExpression":"",'
        '"Reason":null,"FieldPath":"","OptionalOldSelf":null}: compilation failed: '
        "ERROR: <input>:1:5: undefined field 'b'\n | self.b == 1\n | ....^"
    )


def test_an_item_without_keys_has_no_old_value() -> None:
    items = ruled(NUMBER, "self == oldSelf")

    (wrong,) = wrong_with(record(a={"type": "array", "items": items}))

    assert wrong.endswith(
        "oldSelf cannot be used on the uncorrelatable portion of the schema within s.properties[a]"
    )


def document(schema: dict[str, Any]) -> dict[str, Any]:
    return {"spec": {"versions": [{"name": "v1", "schema": {"openAPIV3Schema": schema}}]}}


ODD = record(
    a={"type": "string", "pattern": r"^\pL+$"},
    b=ruled({"type": "string"}, "self.matches('(a+)+$')"),
)


def test_with_a_linear_engine_everything_is_enforced() -> None:
    assert list(definition_warnings(document(ODD))) == []


@pytest.fixture
def without_engine(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(regular_expressions, "linear_engine", lambda: None)
    regular_expressions.compiled.cache_clear()
    yield
    regular_expressions.compiled.cache_clear()


def test_without_one_the_definition_is_told_what_is_not(without_engine: None) -> None:
    start = "spec.validation.openAPIV3Schema.properties"
    install = "install reflet[cel]"

    assert list(definition_warnings(document(ODD))) == [
        f"{start}[a].pattern: not enforced: the pattern is not one of Python's: {install}",
        (
            f"{start}[b].x-kubernetes-validations[0].rule: not evaluated: the pattern would take "
            f"too long on long values: {install}"
        ),
    ]
