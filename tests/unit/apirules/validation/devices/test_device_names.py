from __future__ import annotations

from typing import Any

import pytest

from reflet.apirules.validation.devices.device_names import (
    LONGEST_PARAMETERS,
    check_binding_conditions,
    check_distinct_items,
    check_fully_qualified,
    check_json,
    check_label,
    check_pool_name,
    check_qualified,
    check_uid,
    itself,
    shortened,
)
from reflet.apirules.validation.field_errors import FieldErrors
from tests.unit.devserver.object_scene import UID, complaints


def count(check: Any, value: Any) -> int:
    errors = FieldErrors()
    check(value, "p", errors)
    return len(errors)


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        *(("model", 0), ("d.example/model", 0), ("a/b/c", 0), ("a-b", 1), ("", 1)),
        *(("/a", 1), ("a/", 1), ("A_/b", 1), ("a" * 33, 1), ("a" * 64 + "/b", 1)),
    ],
)
def test_names_of_attributes_are_identifiers_with_a_domain(name: str, wrong: int) -> None:
    assert count(check_qualified, name) == wrong


def test_a_full_name_has_a_domain() -> None:
    assert count(check_fully_qualified, "d.example/a") == 0
    assert count(check_fully_qualified, "a") == 1


def test_pools_have_parts() -> None:
    assert [count(check_pool_name, name) for name in ("a/b.c", "", "a/", "A")] == [0, 1, 1, 1]


@pytest.mark.parametrize(
    ("uid", "wrong"),
    [
        (UID, ""),
        (f"{{{UID}}}", "RFC 4122"),
        (UID.replace("-", ""), "RFC 4122"),
        (f"urn:uuid:{UID}", "RFC 4122"),
        (f"usn:uuid:{UID}", "invalid urn prefix"),
        (f"({UID})", "invalid bracketed UUID format"),
        (UID.replace("1", "x"), "invalid UUID format"),
        ("x" * 32, "invalid UUID format"),
        ("x", "invalid UUID length: 1"),
    ],
)
def test_uids_are_written_in_the_usual_way(uid: str, wrong: str) -> None:
    errors = FieldErrors()

    check_uid(uid, "u", errors)

    assert (wrong in complaints(errors)[0]) if wrong else not errors


def test_what_only_drivers_understand_is_an_object() -> None:
    values: list[Any] = [{"a": 1}, None, [], {"a": "b" * LONGEST_PARAMETERS}]

    assert [count(check_json, value) for value in values] == [0, 1, 1, 1]


def test_items_are_counted_and_told_apart() -> None:
    errors = FieldErrors()

    check_distinct_items(["a", "a"], 2, check_label, "p", errors, key=itself)
    check_distinct_items(["A"] * 3, 2, check_label, "p", errors, key=itself)

    assert complaints(errors) == [
        'p[1]: Duplicate value: "a"',
        "p: Too many: 3: must have at most 2 items",
    ]


def test_long_keys_lose_their_middle() -> None:
    assert shortened("abc", 1) == "abc"
    assert shortened("abcdefghijklmnopqrstuvwxyz", 16) == "abcdefg...uvwxyz"


def test_conditions_come_in_two_sorts_that_differ() -> None:
    errors = FieldErrors()
    device = {"bindingConditions": ["a", "a"], "bindingFailureConditions": ["a"]}

    check_binding_conditions(device, "d", errors)
    check_binding_conditions({"bindingConditions": ["a"]}, "d", errors)

    assert [cause.field for cause in errors.causes] == [
        "d.bindingConditions[1]",
        "d.bindingFailureConditions[0]",
        "d.bindingFailureConditions",
    ]
