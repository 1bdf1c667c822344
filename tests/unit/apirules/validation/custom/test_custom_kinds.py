from __future__ import annotations

from typing import Any

from reflet.apirules.schema.served_kind import CustomFacts
from reflet.apirules.validation.custom.custom_kinds import check_changed, check_new, check_status
from reflet.apirules.validation.field_errors import FieldErrors
from tests.unit.apirules.validation.custom.rule_scene import NUMBER, record, ruled
from tests.unit.devserver.object_scene import complaints

SMALL = {**NUMBER, "maximum": 5}
SCHEMA = record(
    spec=ruled(record(a=NUMBER, b=SMALL), "!has(self.a) || self.a > 0"),
    status=record(c=SMALL, d=ruled(NUMBER, "self > 0")),
)


def facts() -> CustomFacts:
    return CustomFacts(definition="gears.example.org", open_api=SCHEMA)


def thing(**parts: Any) -> dict[str, Any]:
    return {"metadata": {"name": "x"}, **parts}


def test_a_new_object_is_held_to_schema_and_rules() -> None:
    errors = FieldErrors()

    check_new(facts(), thing(spec={"a": 0, "b": 9}), errors)

    assert complaints(errors) == [
        "spec.b: Invalid value: 9: spec.b in body should be less than or equal to 5",
        "spec: Invalid value: failed rule: !has(self.a) || self.a > 0",
    ]


def test_rules_are_not_shown_what_has_a_wrong_type() -> None:
    errors = FieldErrors()

    check_new(facts(), thing(spec={"a": "text"}), errors)

    assert complaints(errors)[1:] == [
        (
            "<nil>: Invalid value: null: some validation rules were not checked because the object "
            "was invalid; correct the existing errors to complete validation"
        )
    ]


def test_a_change_is_not_held_to_what_it_leaves_alone() -> None:
    errors = FieldErrors()
    old = thing(spec={"b": 9})

    check_changed(facts(), thing(spec={"a": 1, "b": 9}), old, errors)

    assert not errors


def test_a_status_is_checked_and_the_rules_of_everything() -> None:
    errors = FieldErrors()
    old = thing(spec={"a": 1})

    check_status(facts(), thing(spec={"a": 1}, status={"c": 9, "d": 0}), old, errors)

    assert complaints(errors) == [
        "status.c: Invalid value: 9: c in body should be less than or equal to 5",
        "status.d: Invalid value: 0: failed rule: self > 0",
    ]


def test_rules_are_compiled_once_for_a_kind() -> None:
    kind = facts()
    check_new(kind, thing(spec={"a": 1}), FieldErrors())
    compiled = kind.kept["rules"]

    check_new(kind, thing(spec={"a": 2}), FieldErrors())

    assert kind.kept["rules"] is compiled
