"""Quantities mean what they mean to Kubernetes: every recorded case, by its text."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import msgspec
import pytest

from reflet.api.quantities import Quantity
from reflet.errors import ParseError


class Text(msgspec.Struct, frozen=True):
    text: str
    valid: bool
    canonical: str = ""
    format: str = ""
    number: str = ""
    value: int | None = None
    milli_value: int | None = None


class Arithmetic(msgspec.Struct, frozen=True):
    left: str
    right: str
    sum: str
    difference: str
    negated: str
    comparison: int


class Division(msgspec.Struct, frozen=True):
    amount: str
    divisor: str
    whole: int
    milli: int


class Recording(msgspec.Struct, frozen=True):
    texts: tuple[Text, ...]
    arithmetic: tuple[Arithmetic, ...]
    divisions: tuple[Division, ...]


RECORDING = msgspec.json.decode(
    (Path(__file__).parent / "data" / "quantities.json").read_bytes(), type=Recording
)

# Kubernetes loses the zeros of what no suffix can hold (it prints 1 for 1000E); we keep them.
CANONICAL_ELSE = {
    "1000E": "1000E",
    "1000000E": "1000000E",
    "+7455338000E": "7455338000E",
}


@pytest.mark.parametrize("case", RECORDING.texts, ids=lambda case: repr(case.text))
def test_a_text_is_refused_or_means_the_same(case: Text) -> None:
    if not case.valid:
        with pytest.raises(ParseError):
            Quantity.parse(case.text)
        return

    quantity = Quantity.parse(case.text)

    assert (Fraction(quantity.nanos, 10**9), quantity.notation.value, str(quantity)) == (
        Fraction(case.number),
        case.format,
        CANONICAL_ELSE.get(case.text, case.canonical),
    )


@pytest.mark.parametrize(
    "case",
    [case for case in RECORDING.texts if case.value is not None],
    ids=lambda case: repr(case.text),
)
def test_whole_units_are_rounded_the_same(case: Text) -> None:
    assert Quantity.parse(case.text).value() == case.value


@pytest.mark.parametrize(
    "case",
    [case for case in RECORDING.texts if case.milli_value is not None],
    ids=lambda case: repr(case.text),
)
def test_thousandths_are_rounded_the_same(case: Text) -> None:
    assert Quantity.parse(case.text).milli_value() == case.milli_value


@pytest.mark.parametrize(
    "case", RECORDING.arithmetic, ids=lambda case: f"{case.left} and {case.right}"
)
def test_arithmetic_gives_the_same(case: Arithmetic) -> None:
    left, right = Quantity.parse(case.left), Quantity.parse(case.right)

    results = (str(left + right), str(left - right), str(-left), (left > right) - (left < right))

    assert results == (case.sum, case.difference, case.negated, case.comparison)


@pytest.mark.parametrize(
    "case", RECORDING.divisions, ids=lambda case: f"{case.amount} in units of {case.divisor}"
)
def test_a_division_gives_the_same(case: Division) -> None:
    amount, divisor = Quantity.parse(case.amount), Quantity.parse(case.divisor)

    results = (amount.ceil_divide(divisor), amount.ceil_divide(divisor, in_milli_units=True))

    assert results == (case.whole, case.milli)
