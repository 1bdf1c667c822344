from __future__ import annotations

import pytest

from reflet.api.quantities import MOST_DIGITS, ZERO, Notation, Quantity
from reflet.errors import ParseError


@pytest.mark.parametrize(
    ("text", "nanos"),
    [
        ("0", 0),
        ("1", 10**9),
        ("+1", 10**9),
        ("-2", -2 * 10**9),
        ("500m", 5 * 10**8),
        (".5", 5 * 10**8),
        ("1n", 1),
        ("1u", 1000),
        ("1k", 10**12),
        ("1Ki", 1024 * 10**9),
        ("1.5Gi", 1536 * 2**20 * 10**9),
        ("1e3", 10**12),
        ("1E3", 10**12),
        ("1E", 10**27),
        ("0.1n", 1),
        ("-0.1n", -1),
        ("12Ei", (2**63 - 1) * 10**9),
        ("9" * 30 + "Ki", (2**63 - 1) * 10**9),
    ],
)
def test_a_text_is_read_exactly(text: str, nanos: int) -> None:
    assert Quantity.parse(text).nanos == nanos


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("1.5", "1500m"),
        ("1000m", "1"),
        ("1.5Gi", "1536Mi"),
        ("1024Ki", "1Mi"),
        ("512Ki", "512Ki"),
        ("0.5Ki", "512"),
        ("1000", "1k"),
        ("1e4", "10e3"),
        ("1.50e0", "1500e-3"),
        ("12Ei", "9223372036854775807"),
        ("1000E", "1000E"),
        ("0Ki", "0"),
        ("-1.5", "-1500m"),
    ],
)
def test_the_canonical_text_has_no_fraction_and_the_largest_suffix(
    text: str, canonical: str
) -> None:
    assert str(Quantity.parse(text)) == canonical


def test_a_binary_sum_beyond_the_largest_suffix_keeps_its_amount() -> None:
    total = Quantity(2**70 * 10**9, Notation.BINARY_SI)

    assert str(total) == "1024Ei"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "expected a number such as 2, 0.5, 500m, 1Gi or 1e3"),
        (" 1", "expected a number such as 2, 0.5, 500m, 1Gi or 1e3"),
        ("1 Gi", "expected a number such as 2, 0.5, 500m, 1Gi or 1e3"),
        ("lots", "expected a number such as 2, 0.5, 500m, 1Gi or 1e3"),
        (
            "1gb",
            (
                "unknown suffix 'gb', expected one of n u m k M G T P E Ki Mi Gi Ti Pi Ei "
                "or an exponent such as e3"
            ),
        ),
        ("1e999999999", "more than 400 digits"),
        ("1e99999999999", "the exponent does not fit in 32 bits"),
    ],
)
def test_an_error_quotes_the_text_and_says_what_was_expected(text: str, problem: str) -> None:
    with pytest.raises(ParseError) as caught:
        Quantity.parse(text)

    assert str(caught.value) == f"quantity {text!r}: {problem}"


@pytest.mark.parametrize(
    ("text", "nanos"),
    [
        ("1e-999999999", 1),
        ("-1e-2147483648", -1),
        ("0e2147483647", 0),
        ("0." + "0" * 100_000 + "1", 1),
        ("0." + "0" * 100_000 + "1Ki", 1),
        ("0" * 100_000 + "7", 7 * 10**9),
        ("1" * 100_000 + "Ki", (2**63 - 1) * 10**9),
    ],
)
def test_a_hostile_text_costs_no_more_than_its_length(text: str, nanos: int) -> None:
    assert Quantity.parse(text).nanos == nanos


@pytest.mark.parametrize("text", ["1" * 100_000, "1e" + "9" * 100_000, "1" + "0" * MOST_DIGITS])
def test_an_amount_of_too_many_digits_is_refused_in_a_short_message(text: str) -> None:
    with pytest.raises(ParseError) as caught:
        Quantity.parse(text)

    assert len(str(caught.value)) < 200


@pytest.mark.parametrize(
    ("value", "canonical"),
    [
        ("100m", "100m"),
        (" 1Gi\n", "1Gi"),
        (2, "2"),
        (-2, "-2"),
        (1000, "1k"),
        (0.1, "100m"),
        (1.5, "1500m"),
        (1e-9, "1e-9"),
        (1e300, "1e300"),
    ],
)
def test_what_a_manifest_may_hold_is_read(value: str | float, canonical: str) -> None:
    assert str(Quantity.of(value)) == canonical


@pytest.mark.parametrize("value", [True, float("nan"), float("inf"), 10**MOST_DIGITS])
def test_a_value_that_is_no_amount_is_refused(value: float) -> None:
    with pytest.raises(ParseError):
        Quantity.of(value)


@pytest.mark.parametrize(
    ("text", "value", "milli_value"),
    [("1", 1, 1000), ("1001m", 2, 1001), ("1n", 1, 1), ("-1500m", -2, -1500), ("0", 0, 0)],
)
def test_a_rest_rounds_away_from_zero(text: str, value: int, milli_value: int) -> None:
    quantity = Quantity.parse(text)

    assert (quantity.value(), quantity.milli_value()) == (value, milli_value)


@pytest.mark.parametrize(
    ("amount", "divisor", "in_milli_units", "result"),
    [
        ("1500m", "1", True, 2),
        ("1500m", "1m", True, 1500),
        ("100Mi", "1Mi", False, 100),
        ("100Mi", "1M", False, 105),
        ("1500m", "1", False, 2),
        ("2", "0", True, 2),
        ("2Ki", "0", False, 2048),
        ("0", "1Mi", False, 0),
        ("9007199254740993", "1", False, 9007199254740992),
        ("20E", "1", False, 0),
        ("1", "10E", False, -(2**63)),
    ],
)
def test_a_division_covers_the_amount_as_far_as_the_kubelets_numbers_do(
    amount: str, divisor: str, in_milli_units: bool, result: int
) -> None:
    quotient = Quantity.parse(amount).ceil_divide(
        Quantity.parse(divisor), in_milli_units=in_milli_units
    )

    assert quotient == result


def test_amounts_are_equal_however_they_are_written() -> None:
    assert len({Quantity.parse(text) for text in ("1Ki", "1024", "1.024e3", "1024000m")}) == 1


def test_a_quantity_is_not_equal_to_a_number() -> None:
    assert Quantity.parse("1") != 1


def test_quantities_sort_by_amount() -> None:
    ordered = sorted(map(Quantity.parse, ["1Gi", "-1", "1G", "500m"]))

    assert list(map(str, ordered)) == ["-1", "500m", "1G", "1Gi"]


def test_a_sum_is_exact_and_keeps_the_notation_of_the_first() -> None:
    assert str(Quantity.parse("1Gi") + Quantity.parse("512Mi")) == "1536Mi"


def test_a_sum_that_starts_from_zero_takes_over_the_notation() -> None:
    total = ZERO
    for text in ("1Gi", "1Gi"):
        total += Quantity.parse(text)

    assert str(total) == "2Gi"


def test_a_difference_may_be_negative() -> None:
    assert str(Quantity.parse("1") - Quantity.parse("1500m")) == "-500m"


def test_only_zero_is_false() -> None:
    assert [bool(Quantity.parse(text)) for text in ("0", "0Ki", "1n", "-1")] == [
        False,
        False,
        True,
        True,
    ]


def test_the_representation_shows_the_canonical_text() -> None:
    assert repr(Quantity.parse("1024Mi")) == "Quantity('1Gi')"


def test_an_amount_cannot_be_changed() -> None:
    quantity = Quantity.parse("1")

    with pytest.raises(AttributeError):
        quantity.nanos = 2  # type: ignore[misc]  # the claim is that it is refused


@pytest.mark.parametrize(
    ("text", "milli_value"),
    [("1500m", 1500), ("1n", 1), ("9P", 9 * 10**18), ("10P", 0), ("9" * 30, 4089650035136920600)],
)
def test_a_milli_value_that_is_too_large_is_what_it_is_for_kubernetes(
    text: str, milli_value: int
) -> None:
    assert Quantity.parse(text).wrapped_milli_value() == milli_value
