from __future__ import annotations

import pytest

from reflet.apirules.cel.parser import parse
from reflet.apirules.cel.syntax import FunctionCall, Identifier, Literal, Macro, Select
from reflet.apirules.cel.tokens import SyntaxProblem
from tests.unit.apirules.cel.expression_scene import value_of


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1 + 2 * 3 - 4 / 2", 5),
        ("(1 + 2) * 3", 9),
        ("- - 1 == 1 && !!true", True),
        ("-9223372036854775808 < 0", True),
        ("true || false && false", True),
        ("false ? 1 : true ? 2 : 3", 2),
        ("1 < 2 == true", True),
        ("2 in [1, 2,]", True),
        ("{'a': [1]}.a[0]", 1),
        ("[?optional.none(), 2]", [2]),
    ],
)
def test_signs_bind_as_they_should(text: str, value: object) -> None:
    assert value_of(text) == value


def test_a_field_is_asked_for_and_tested() -> None:
    assert parse("has(a.b)") == Select(Identifier("a", 4), "b", 3, is_test=True)
    assert parse("a.?b") == Select(Identifier("a", 0), "b", 1, is_optional=True)


def test_a_macro_keeps_its_variables() -> None:
    two = parse("a.all(i, v, true)")

    assert two == Macro("all", Identifier("a", 0), ("i", "v"), (Literal(True, 12),), 5)
    assert isinstance(parse("all(a, b)"), FunctionCall)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a b", "mismatched input 'b'"),
        ("a ==", "mismatched input '<EOF>'"),
        ("for", "reserved identifier: for"),
        ("has(a)", "invalid argument to has\\(\\) macro"),
        ("a.all(1, true)", "argument must be a simple name"),
        ("a.all(x, x, true)", "duplicate variable name"),
        ("a.in", "no viable alternative"),
        ("9223372036854775808", "invalid int literal"),
        ("Foo{a: 1", "mismatched input"),
        ("x" * 100_001, "size exceeds limit"),
    ],
)
def test_what_is_no_expression_is_refused(text: str, said: str) -> None:
    with pytest.raises(SyntaxProblem, match=said):
        parse(text)
