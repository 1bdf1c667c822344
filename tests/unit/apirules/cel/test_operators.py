from __future__ import annotations

from typing import Any

import pytest

from reflet.apirules.cel.operators import compare
from reflet.apirules.cel.values import EvaluationError, Uint, equal
from tests.unit.apirules.cel.expression_scene import value_of


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("-7 / 2", -3),
        ("-7 % 2", -1),
        ("7u + 1u", Uint(8)),
        ("1.0 / 0.0 > 1e300", True),
        ("0.0 / 0.0 == 0.0 / 0.0", False),
        ("1 < 1.5 && 2u > 1 && 1.5 <= 2u", True),
        ("b'a' + b'b' == b'ab'", True),
        ("[1] + [2] == [1, 2]", True),
        ("'b' in {'a': 1}", False),
        ("{1: 'a'}[1]", "a"),
        ("[1, 2][?5].hasValue()", False),
        ("{'a': 1}[?'a'].value()", 1),
        ("optional.of([1])[0].value()", 1),
        ("optional.of({'a': 1})[?'b'].hasValue()", False),
        ("size('héé') + size(b'ab') + size([1]) + {'a': 1}.size()", 7),
        ("int('-4') + int(4.9) + int(4u)", 4),
        ("uint('4') == 4u", True),
        ("double('1e3')", 1000.0),
        ("bool('true') && !bool('F')", True),
        ("string(true) + string(1) + string(1.5) + string(b'x')", "true11.5x"),
        ("bytes('é')", "é".encode()),
        ("type(1) == int && type('') != int && type(null) == null_type", True),
        ("type(duration('1s')) == google.protobuf.Duration", True),
        ("optional.ofNonZeroValue('').hasValue()", False),
        ("optional.ofNonZeroValue(duration('1s')).hasValue()", True),
        ("optional.none().or(optional.of(2)).value()", 2),
        ("dyn(1) == dyn(1.0)", True),
        ("dyn(1) == dyn('1')", False),
    ],
)
def test_an_operator_gives_what_it_gives(text: str, value: Any) -> None:
    assert equal(value_of(text), value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("9223372036854775807 + 1", "integer overflow"),
        ("-(-9223372036854775808 + 0)", "integer overflow"),
        ("1u - 2u", "unsigned integer overflow"),
        ("1 % 0", "modulus by zero"),
        ("1u / 0u", "division by zero"),
        ("[1][1]", "index out of bounds: 1"),
        ("{'a': 1}['b']", "no such key: b"),
        ("int('4x')", "type conversion error from 'string' to 'int'"),
        ("int(1e30)", "integer overflow"),
        ("uint(-1)", "unsigned integer overflow"),
        ("double('x')", "type conversion error"),
        ("bool('maybe')", "type conversion error"),
        (r"string(b'\xff')", "type conversion error"),
        ("optional.none().value()", "optional.none\\(\\) dereference"),
    ],
)
def test_what_an_operator_cannot_do_is_an_error(text: str, said: str) -> None:
    with pytest.raises(EvaluationError, match=said):
        value_of(text)


def test_values_of_different_kinds_have_no_order() -> None:
    with pytest.raises(EvaluationError, match="no such overload"):
        compare(1, "a")
