from __future__ import annotations

import pytest

from tests.unit.apirules.cel.expression_scene import refusal_of, type_of


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("pair.a", "int"),
        ("pair.?b", "optional_type(string)"),
        ("numbers.map(x, string(x))", "list(string)"),
        ("numbers.filter(x, x > 1)", "list(int)"),
        ("numbers[0]", "int"),
        ("table['a']", "int"),
        ("table.?a.orValue(1)", "int"),
        ("numbers.transformMap(i, v, text)", "map(int, string)"),
        ("pair.?a.optMap(x, text)", "optional_type(string)"),
        ("pair.?a.optFlatMap(x, pair.?b)", "optional_type(string)"),
        ("self.anything.at.all", "dyn"),
        ("true ? [] : [1]", "list(int)"),
        ("type(1)", "type(int)"),
        ("{}", "map(dyn, dyn)"),
        ("[self, 1]", "list(dyn)"),
        ("google.protobuf.Timestamp", "type(timestamp)"),
        ("self + 1", "int"),
    ],
)
def test_an_expression_has_a_type(text: str, kind: str) -> None:
    assert type_of(text) == kind


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("pair.c", "<input>:1:5: undefined field 'c'"),
        ("text.c", "<input>:1:5: type 'string' does not support field selection"),
        ("text + 1", "found no matching overload for '_+_' applied to '(string, int)'"),
        ("text.size(1)", "found no matching overload for 'size' applied to 'string.(int)'"),
        ("nothing(1)", "undeclared reference to 'nothing' (in container '')"),
        ("text && true", "expected type 'bool' but found 'string'"),
        ("numbers.all(x, x)", "expected type 'bool' but found 'int'"),
        ("text.all(x, true)", "expression of type 'string' cannot be range of a comprehension"),
        ("[1, 'a']", "expected type 'int' but found 'string'"),
        ("{'a': 1, 'b': 'c'}", "expected type 'int' but found 'string'"),
        ("[?1]", "expected type 'optional_type(int)' but found 'int'"),
        (
            "true ? 1 : 'a'",
            "found no matching overload for '_?_:_' applied to '(bool, int, string)'",
        ),
        ("Foo{a: 1}", "undeclared reference to 'Foo' (in container '')"),
        ("text.matches('(')", "invalid matches argument"),
        ("duration('x')", "invalid duration argument"),
        ("timestamp('x')", "invalid timestamp argument"),
        ("numbers.optMap(x, x)", "expected type 'optional_type("),
    ],
)
def test_what_cannot_be_is_refused(text: str, said: str) -> None:
    assert said in refusal_of(text)


def test_a_format_may_mix_its_values_and_nothing_else_may() -> None:
    assert refusal_of("'%s %d'.format([text, 1])") == ""
    assert refusal_of("[text, 1] == []") != ""


def test_a_variable_ends_with_its_macro() -> None:
    assert "undeclared reference to 'x'" in refusal_of("numbers.all(x, x > 0) && x > 0")
