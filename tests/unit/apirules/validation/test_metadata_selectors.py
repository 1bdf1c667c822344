from __future__ import annotations

from typing import Any

import pytest

from reflet.apirules.validation.field_errors import FieldErrors
from reflet.apirules.validation.metadata import (
    check_selector,
    is_empty_selector,
    is_usable_selector,
    selector_matches,
)
from tests.unit.devserver.object_scene import complaints


def expression(operator: str, *values: str) -> dict[str, Any]:
    listed = {"values": list(values)} if values else {}
    return {"matchExpressions": [{"key": "a", "operator": operator} | listed]}


@pytest.mark.parametrize(
    ("selector", "labels", "selected"),
    [
        ({"matchLabels": {"a": "b"}}, {"a": "b", "c": "d"}, True),
        ({"matchLabels": {"a": "b"}}, {}, False),
        (expression("In", "b", "c"), {"a": "b"}, True),
        (expression("In", "b"), {}, False),
        (expression("NotIn", "b"), {}, True),
        (expression("NotIn", "b"), {"a": "b"}, False),
        (expression("Exists"), {"a": ""}, True),
        (expression("DoesNotExist"), {"a": ""}, False),
        ({}, None, True),
        (None, {"a": "b"}, False),
    ],
)
def test_a_selector_selects_by_labels(selector: Any, labels: Any, selected: bool) -> None:
    assert selector_matches(selector, labels) is selected


@pytest.mark.parametrize(
    ("selector", "wrong"),
    [
        (None, []),
        (expression("Like"), ["operator: Invalid value"]),
        (expression("In"), ["values: Required value: must be specified when `operator` is 'In'"]),
        (expression("Exists", "b"), ["values: Forbidden: may not be specified"]),
        (expression("In", "b c"), ["values[0]: Invalid value"]),
        ({"matchLabels": {"a b": "c"}}, ["s.matchLabels: Invalid value"]),
    ],
)
def test_a_selector_has_its_rules(selector: Any, wrong: list[str]) -> None:
    errors = FieldErrors()

    check_selector(selector, "s", errors)

    found = complaints(errors)
    assert len(found) == len(wrong)
    assert all(said in complaint for said, complaint in zip(wrong, found, strict=True))
    assert is_usable_selector(selector) is (not wrong)


def test_a_selector_that_asks_for_nothing_is_empty() -> None:
    assert is_empty_selector({"matchLabels": {}})
    assert not is_empty_selector(expression("Exists"))


def test_values_that_were_wrong_before_can_be_let_through() -> None:
    errors = FieldErrors()

    check_selector(expression("In", "b c"), "s", errors, any_values=True)
    assert not errors

    check_selector(expression("In", "b c"), "s", errors)
    assert [cause.field for cause in errors.causes] == ["s.matchExpressions[0].values[0]"]
