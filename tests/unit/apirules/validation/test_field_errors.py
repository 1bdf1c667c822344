from __future__ import annotations

from typing import Any

import pytest

from reflet.apirules.validation.field_errors import FieldErrors, Named, shown
from tests.unit.devserver.object_scene import complaints


def test_each_complaint_has_its_words() -> None:
    errors = FieldErrors()
    errors.required("a")
    errors.required("a", "always")
    errors.invalid("b", -1, "too small")
    errors.not_supported("c", "x", ("y", "z"))
    errors.duplicate("d", "x")
    errors.not_found("e", "x")
    errors.forbidden("f", "never")
    errors.too_long("g", 5)
    errors.too_many("h", 3, 1)
    errors.type_invalid("i", "string", "no")

    assert complaints(errors) == [
        "a: Required value",
        "a: Required value: always",
        "b: Invalid value: -1: too small",
        'c: Unsupported value: "x": supported values: "y", "z"',
        'd: Duplicate value: "x"',
        'e: Not found: "x"',
        "f: Forbidden: never",
        "g: Too long: may not be more than 5 bytes",
        "h: Too many: 3: must have at most 1 item",
        'i: Invalid value: "string": no',
    ]
    assert errors.causes[-1].type == "FieldValueTypeInvalid"


def test_words_of_a_fixed_choice_are_shown_as_json_unless_they_are_mere_strings() -> None:
    errors = FieldErrors()
    errors.not_supported("a", "<x>", ())
    errors.not_supported("a", "<x>", (), plain=True)
    errors.invalid("a", Named("<x>"), "odd")
    errors.invalid("a", "<x>", "odd")

    assert complaints(errors) == [
        'a: Unsupported value: "\\u003cx\\u003e"',
        'a: Unsupported value: "<x>"',
        'a: Invalid value: "\\u003cx\\u003e": odd',
        'a: Invalid value: "<x>": odd',
    ]


def test_no_complaints_are_false() -> None:
    assert not FieldErrors()


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "true"),
        (None, "null"),
        (2.0, "2"),
        ({"a": ["<b>"]}, '{"a":["\\u003cb\\u003e"]}'),
        ("é\n", '"é\\n"'),
        (["a\u2028b"], '["a\\u2028b"]'),
    ],
)
def test_values_are_shown_as_go_shows_them(value: Any, text: str) -> None:
    assert shown(value) == text
