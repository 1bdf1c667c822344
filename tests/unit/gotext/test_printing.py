from __future__ import annotations

from typing import Any

import pytest

from reflet.gotext import printing


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "<nil>"),
        (True, "true"),
        (7, "7"),
        ("a b", "a b"),
        ([1, "a", [None]], "[1 a [<nil>]]"),
        ({"b": 1, "a": {"c": False}}, "map[a:map[c:false] b:1]"),
        ({}, "map[]"),
    ],
)
def test_plain_is_what_go_prints_by_default(value: Any, text: str) -> None:
    assert printing.plain(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.0, "1"),
        (1.5, "1.5"),
        (-0.25, "-0.25"),
        (1e20, "100000000000000000000"),
        (1e21, "1e+21"),
        (1.25e-7, "1.25e-07"),
        (0.0001, "0.0001"),
        (0.0, "0"),
        (float("inf"), "+Inf"),
        (float("nan"), "NaN"),
    ],
)
def test_numbers_have_their_shortest_digits(value: float, text: str) -> None:
    assert printing.plain(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("a", "a"),
        (1, "%!s(int64=1)"),
        (True, "%!s(bool=true)"),
        (None, "%!s(<nil>)"),
        (["a", 1.5], "[a %!s(float64=1.5)]"),
        ({"a": "b"}, "map[a:b]"),
    ],
)
def test_as_string_complains_about_what_is_no_text(value: Any, text: str) -> None:
    assert printing.as_string(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("a", '"a"'),
        (1, "1"),
        (None, "interface {}(nil)"),
        ([1, "a"], '[]interface {}{1, "a"}'),
        ({"b": True, "a": []}, 'map[string]interface {}{"a":[]interface {}{}, "b":true}'),
    ],
)
def test_syntax_is_a_go_expression(value: Any, text: str) -> None:
    assert printing.syntax(value) == text


@pytest.mark.parametrize(
    ("value", "go", "in_json"),
    [
        (None, "<nil>", "null"),
        (True, "bool", "bool"),
        (1, "int64", "number"),
        (1.5, "float64", "number"),
        ("a", "string", "string"),
        ([], "[]interface {}", "array"),
        ({}, "map[string]interface {}", "object"),
    ],
)
def test_types_have_a_name_in_go_and_one_in_json(value: Any, go: str, in_json: str) -> None:
    assert (printing.type_name(value), printing.json_type(value)) == (go, in_json)


def test_json_is_sorted_and_safe_in_a_page() -> None:
    assert printing.json_text({"b": "<a & b>", "a": "é\u2028"}) == (
        r'{"a":"é\u2028","b":"\u003ca \u0026 b\u003e"}'
    )
