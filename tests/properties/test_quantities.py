"""What holds for every quantity."""

from __future__ import annotations

import math
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from reflet.api.quantities import Notation, Quantity
from reflet.errors import ParseError

QUANTITIES = st.builds(
    Quantity,
    st.integers(min_value=-(10**30), max_value=10**30)
    | st.integers(min_value=-(2**63) + 1, max_value=2**63 - 1).map(lambda units: units * 10**9),
    st.sampled_from(Notation),
)
CAPPED = 2**63 - 1
NEARLY_QUANTITY = st.from_regex(
    r"\A[+-]?[0-9]{0,30}\.?[0-9]{0,90}([numkMGTPE]|[KMGTPE]i|[eE][+-]?[0-9]{1,12})?\Z"
)


@given(QUANTITIES)
def test_a_quantity_survives_its_text(quantity: Quantity) -> None:
    if quantity.notation is Notation.BINARY_SI and abs(quantity.nanos) > CAPPED * 10**9:
        return  # such an amount can only come from arithmetic, and is capped when it is read

    assert Quantity.parse(str(quantity)) == quantity


@given(QUANTITIES)
def test_the_canonical_text_stays_as_it_is(quantity: Quantity) -> None:
    canonical = str(Quantity.parse(str(quantity)))

    assert str(Quantity.parse(canonical)) == canonical


@given(st.text() | NEARLY_QUANTITY)
def test_any_text_is_a_quantity_or_a_one_line_error(text: str) -> None:
    problem = ""
    try:
        quantity = Quantity.parse(text)
    except ParseError as error:
        quantity, problem = Quantity(), str(error)

    assert Quantity.parse(str(quantity)) == quantity
    assert len(problem.splitlines()) == (0 if problem == "" else 1)


@given(
    st.integers(min_value=0, max_value=10**12),
    st.text("0123456789", max_size=100),
    st.sampled_from([("Ki", 2**10), ("Gi", 2**30), ("Ei", 2**60), ("m", Fraction(1, 1000))]),
)
def test_a_fraction_rounds_up_to_the_next_billionth(
    whole: int, fraction: str, suffix: tuple[str, int | Fraction]
) -> None:
    exact = Fraction(f"{whole}.{fraction}0") * suffix[1]

    nanos = Quantity.parse(f"{whole}.{fraction}{suffix[0]}").nanos

    is_capped = suffix[0].endswith("i") and exact > CAPPED
    assert nanos == (CAPPED * 10**9 if is_capped else math.ceil(exact * 10**9))


@given(QUANTITIES, QUANTITIES)
def test_adding_does_not_depend_on_order(one: Quantity, other: Quantity) -> None:
    assert one + other == other + one


@given(QUANTITIES, QUANTITIES, QUANTITIES)
def test_adding_does_not_depend_on_grouping(one: Quantity, two: Quantity, three: Quantity) -> None:
    assert (one + two) + three == one + (two + three)


@given(QUANTITIES, QUANTITIES)
def test_what_is_added_can_be_taken_away(one: Quantity, other: Quantity) -> None:
    assert one + other - other == one


@given(QUANTITIES)
def test_a_quantity_and_its_opposite_make_zero(quantity: Quantity) -> None:
    assert not quantity + -quantity


@given(QUANTITIES, QUANTITIES)
def test_order_is_the_order_of_the_amounts(one: Quantity, other: Quantity) -> None:
    observed = (one < other, one <= other, one == other, one >= other, one > other)

    left, right = one.nanos, other.nanos
    assert observed == (left < right, left <= right, left == right, left >= right, left > right)


@given(QUANTITIES, QUANTITIES)
def test_equal_quantities_have_equal_hashes(one: Quantity, other: Quantity) -> None:
    same = Quantity(one.nanos, other.notation)

    assert (one == same, hash(one)) == (True, hash(same))


@given(
    st.integers(min_value=0, max_value=2**53),
    st.integers(min_value=1, max_value=2**53),
)
def test_what_a_float_holds_is_divided_into_the_least_number_of_divisors_that_covers(
    amount: int, divisor: int
) -> None:
    count = Quantity.of(amount).ceil_divide(Quantity.of(divisor))

    assert (count - 1) * divisor < amount <= count * divisor


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_finite_float_of_a_manifest_is_read_exactly(value: float) -> None:
    exact = Fraction(repr(value)) * 10**9

    nanos = Quantity.of(value).nanos

    assert nanos == (math.ceil(exact) if exact >= 0 else math.floor(exact))


@given(QUANTITIES, QUANTITIES, st.booleans())
def test_a_division_gives_an_int64(one: Quantity, other: Quantity, in_milli_units: bool) -> None:
    quotient = one.ceil_divide(other, in_milli_units=in_milli_units)

    assert -(2**63) <= quotient < 2**63
