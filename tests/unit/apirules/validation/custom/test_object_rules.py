from __future__ import annotations

from typing import Any

import pytest

from reflet.apirules.validation.custom.object_rules import LIMIT_OF_A_RULE
from tests.unit.apirules.validation.custom.rule_scene import NUMBER, judged, record, ruled

POSITIVE = ruled(NUMBER, "self > 0")
FIXED = ruled(NUMBER, "self == oldSelf")


def test_a_rule_that_fails_is_told_with_its_text_or_message() -> None:
    rules = record(a=POSITIVE, b=ruled(NUMBER, {"rule": "self > 0", "message": " positive "}))

    wrong, _ = judged(rules, {"a": 0, "b": -1})

    assert wrong == ["a: Invalid value: 0: failed rule: self > 0", "b: Invalid value: -1: positive"]


@pytest.mark.parametrize(
    ("schema", "value", "wrong"),
    [
        (
            ruled(record(b=NUMBER), "self.b > 0"),
            {"b": 0},
            "a: Invalid value: failed rule: self.b > 0",
        ),
        (
            {"type": "array", "items": POSITIVE},
            [1, 0],
            "a[1]: Invalid value: 0: failed rule: self > 0",
        ),
        (
            {"type": "object", "additionalProperties": POSITIVE},
            {"x": 0},
            "a[x]: Invalid value: 0: failed rule: self > 0",
        ),
    ],
)
def test_a_rule_is_told_where_it_failed(schema: Any, value: Any, wrong: str) -> None:
    assert judged(record(a=schema), {"a": value})[0] == [wrong]


@pytest.mark.parametrize(
    ("reason", "wrong"),
    [
        ("FieldValueInvalid", "b: Invalid value: no"),
        ("FieldValueForbidden", "b: Forbidden: no"),
        ("FieldValueRequired", "b: Required value: no"),
        ("FieldValueDuplicate", "b: Duplicate value"),
    ],
)
def test_a_rule_gives_a_reason_and_a_field(reason: str, wrong: str) -> None:
    rule = {"rule": "self.b > 0", "reason": reason, "message": "no", "fieldPath": ".b"}

    assert judged(ruled(record(b=NUMBER), rule), {"b": 0})[0] == [wrong]


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        ("'b is ' + string(self.b)", "b is 0"),
        ("string(self.c)", "instead"),
        ("'two\\nlines'", "instead"),
        ("' '", "instead"),
        ("'x'.replace('x', '" + "y" * 6000 + "')", "instead"),
    ],
)
def test_a_message_is_made_or_the_usual_one_is_said(expression: str, said: str) -> None:
    rule = {"rule": "self.b > 0", "message": "instead", "messageExpression": expression}

    wrong, _ = judged(ruled(record(b=NUMBER, c=NUMBER), rule), {"b": 0})

    assert wrong == [f"<nil>: Invalid value: {said}"]


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("self.b / 0 == 1", "division by zero evaluating rule: self.b / 0 == 1"),
        (
            "self.c > 1",
            (
                "'no such overload': call arguments did not match a supported operator, function "
                "or macro signature for rule: self.c > 1"
            ),
        ),
    ],
)
def test_a_rule_without_an_answer_is_an_error(rule: str, said: str) -> None:
    schema = ruled(record(b=NUMBER, c={"x-kubernetes-int-or-string": True}), rule)

    assert judged(schema, {"b": 0, "c": "x"})[0] == [f'<nil>: Invalid value: "object": {said}']


def test_a_transition_is_asked_only_where_there_was_a_value() -> None:
    rules = record(a=FIXED)

    assert judged(rules, {"a": 2})[0] == []
    assert judged(rules, {"a": 2}, {})[0] == []
    assert judged(rules, {"a": 2}, {"a": 1})[0] == [
        "a: Invalid value: 2: failed rule: self == oldSelf"
    ]


def test_an_optional_old_value_is_asked_for_always() -> None:
    rule = {"rule": "oldSelf.hasValue() || self > 1", "optionalOldSelf": True}
    rules = record(a=ruled(NUMBER, rule))

    assert len(judged(rules, {"a": 1})[0]) == 1
    assert judged(rules, {"a": 1}, {"a": 5})[0] == []


def test_an_item_is_compared_with_the_one_of_the_same_key() -> None:
    items = {"type": "object", "properties": {"name": {"type": "string"}, "size": FIXED}}
    keys = {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]}
    rules = record(a={"type": "array", "items": items, **keys})
    old = [{"name": "x", "size": 1}, {"name": "y", "size": 2}]

    assert judged(rules, {"a": old[::-1]}, {"a": old})[0] == []
    wrong, _ = judged(rules, {"a": [{"name": "y", "size": 3}]}, {"a": old})
    assert wrong == ["a[0].size: Invalid value: 3: failed rule: self == oldSelf"]


def test_what_an_update_leaves_as_it_was_is_only_warned_of() -> None:
    rules = record(a=POSITIVE, b=NUMBER)
    warning = "a: Invalid value: 0: failed rule: self > 0"

    assert judged(rules, {"a": 0, "b": 2}, {"a": 0, "b": 1}) == ([], [warning])
    assert judged(rules, {"a": -1}, {"a": 0})[0] != []


def test_a_value_that_is_null_is_not_judged() -> None:
    assert judged(record(a=ruled({**NUMBER, "nullable": True}, "self > 0")), {"a": None})[0] == []


def test_the_name_of_an_object_can_be_judged() -> None:
    rules = ruled({"type": "object"}, "self.metadata.name.startsWith('a')")

    assert judged(rules, {"metadata": {"name": "b", "labels": {}}})[0] == [
        "<nil>: Invalid value: failed rule: self.metadata.name.startsWith('a')"
    ]


def test_rules_that_cost_too_much_end_the_check() -> None:
    many = {"type": "array", "items": NUMBER}
    rules = record(a=ruled(many, "self.all(x, self.all(y, x >= y || true))", "false"))

    wrong, _ = judged(rules, {"a": list(range(LIMIT_OF_A_RULE // 500))})

    assert wrong == [
        (
            "a: Invalid value: \"array\": 'operation cancelled: actual cost limit exceeded': no "
            "further validation rules will be run due to call cost exceeds limit for rule: "
            "self.all(x, self.all(y, x >= y || true))"
        )
    ]


def test_what_cannot_be_evaluated_is_not_refused() -> None:
    rules = record(a=ruled(NUMBER, "'%e'.format([1.0]) == 'x'"))

    wrong, warnings = judged(rules, {"a": 1})

    assert wrong == []
    assert warnings[0].startswith("a: not evaluated: '%e'.format([1.0]) == 'x': ")


def test_an_object_whose_rules_cost_too_much_is_not_refused_for_it() -> None:
    many = {"type": "array", "items": NUMBER}
    costly = ruled(many, "self.all(x, self.all(y, x >= y || true))")
    fields = {f"a{number}": costly for number in range(10)}

    wrong, warnings = judged(record(**fields), {key: list(range(250)) for key in fields})

    assert wrong == []
    assert warnings[0].endswith(": not evaluated: the rules of this object cost too much")
