"""Quantities: amounts of cpu, memory and the like, such as ``500m``, ``1Gi`` and ``1e3``.

The text form, the canonical text, and arithmetic.  An amount is a whole number of billionths, the
smallest unit that Kubernetes keeps, and everything is exact but the division, which is the
kubelet's.

Upstream: apimachinery/pkg/api/resource/quantity.go, Quantity, ParseQuantity, CanonicalizeBytes
"""

from __future__ import annotations

import enum
import math
from collections.abc import Mapping
from typing import Final, final

from reflet.errors import ParseError
from reflet.gotext.lazy_patterns import lazy_pattern
from reflet.gotext.quoting import excerpt

LARGEST_BINARY: Final = 2**63 - 1  # Kubernetes caps amounts with a binary suffix here
MOST_DIGITS: Final = 400  # before the point: any float64 fits, and no work explodes
LONGEST_QUOTE: Final = 80  # characters of a malformed quantity that a message repeats

_NANOS: Final = 10**9  # in one unit
_LARGEST_BINARY_NANOS: Final = LARGEST_BINARY * _NANOS
_NANOS_IN_MILLI: Final = 10**6
_INT32: Final = range(-(2**31), 2**31)
_INT64: Final = range(-(2**63), 2**63)
# The powers of ten by which Kubernetes multiplies at once, so that an overflow wraps around; by
# the others it multiplies step by step, and an overflow gives zero.
_WRAPPING_POWERS: Final = frozenset({1, 2, 3, 6, 9})

_DECIMAL_SUFFIXES: Final[Mapping[str, int]] = {
    "n": -9,
    "u": -6,
    "m": -3,
    "": 0,
    "k": 3,
    "M": 6,
    "G": 9,
    "T": 12,
    "P": 15,
    "E": 18,
}
_DECIMAL_TEXTS: Final[Mapping[int, str]] = {
    exponent: suffix for suffix, exponent in _DECIMAL_SUFFIXES.items()
}
_BINARY_SUFFIXES: Final = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
_BINARY_EXPONENTS: Final[Mapping[str, int]] = {
    suffix: 10 * power for power, suffix in enumerate(_BINARY_SUFFIXES) if suffix
}
_QUANTITY: Final = lazy_pattern(
    r"([+-]?)([0-9]*)\.?([0-9]*)(?:([numkMGTPE]?|[KMGTPE]i)|[eE]([+-]?[0-9]+))"
)
_NUMBER: Final = lazy_pattern(r"[+-]?[0-9]*\.?[0-9]*")
# Enough digits after the point that what follows them can only matter by not being zero: with
# them, every whole number of nanos is on the grid of what 2**60 times such a fraction can be.
_FRACTION_DIGITS: Final = 70
_MOST_EXPONENT_CHARACTERS: Final = 40
_SHORT_NUMBER: Final = 18


@final
class Notation(enum.Enum):
    """How an amount is written; the values are Kubernetes' names."""

    DECIMAL_SI = "DecimalSI"
    BINARY_SI = "BinarySI"
    DECIMAL_EXPONENT = "DecimalExponent"


_DECIMAL_SI: Final = Notation.DECIMAL_SI
_BINARY_SI: Final = Notation.BINARY_SI
_DECIMAL_EXPONENT: Final = Notation.DECIMAL_EXPONENT


@final
class Quantity:
    """An exact amount, and the notation it was written in.

    Immutable, ordered and hashable by the amount alone: ``1Ki`` equals ``1024``.  ``str()`` is
    the canonical text: no fraction, the largest suffix that loses nothing.

    - *nanos*: the amount in billionths
    - *notation*: how ``str()`` writes it
    """

    __slots__ = ("_nanos", "_notation")

    def __init__(self, nanos: int = 0, notation: Notation = Notation.DECIMAL_SI) -> None:
        self._nanos = nanos
        self._notation = notation

    @classmethod
    def parse(cls, text: str) -> Quantity:
        """Read a quantity; white space is refused, as Kubernetes does.

        Parts of a billionth round away from zero, and binary amounts are capped at 2**63 - 1.
        A text without digits (``m``, ``.``, ``-``) is zero, because it is for the API server.
        Raises ParseError, also for amounts of more than 400 digits.
        """
        if len(text) <= _SHORT_NUMBER and text.isascii() and text.isdecimal():
            return cls(int(text) * _NANOS)
        found = _QUANTITY.fullmatch(text)
        if found is None or not text:
            raise _malformed(text)
        sign, whole, fraction, suffix, exponent_text = found.groups()
        if not fraction and suffix in _UNITS and 0 < len(whole) <= _SHORT_NUMBER:
            unit, notation = _UNITS[suffix]
            nanos = int(whole) * unit
            if notation is _BINARY_SI and nanos > _LARGEST_BINARY_NANOS:
                nanos = _LARGEST_BINARY_NANOS
        elif suffix in _BINARY_EXPONENTS:
            nanos = _binary_nanos(whole, fraction, _BINARY_EXPONENTS[suffix])
            notation = _DECIMAL_SI if 0 < nanos < _NANOS else _BINARY_SI
        elif suffix is not None:
            nanos = _decimal_nanos(text, whole, fraction, _DECIMAL_SUFFIXES[suffix])
            notation = _DECIMAL_SI
        else:
            nanos = _decimal_nanos(text, whole, fraction, _exponent(text, exponent_text))
            notation = _DECIMAL_EXPONENT
        return cls(-nanos if sign == "-" else nanos, notation)

    @classmethod
    def of(cls, value: str | float) -> Quantity:
        """Read what stands in a manifest: a text, white space around it allowed, or a number.

        A float counts as the shortest decimal that denotes it, so 0.1 is exactly ``100m``.

        - *value*: text or number of a manifest
        """
        if isinstance(value, str):
            return cls.parse(value.strip(" \t\r\n"))
        if isinstance(value, bool):
            raise ParseError(f"quantity {value}: expected a number or a text, found a boolean")
        if isinstance(value, int):
            if abs(value) >= 10**MOST_DIGITS:
                raise ParseError(f"quantity: a number of more than {MOST_DIGITS} digits")
            return cls(value * _NANOS)
        return cls.parse(repr(value))

    @property
    def nanos(self) -> int:
        """The amount in billionths."""
        return self._nanos

    @property
    def notation(self) -> Notation:
        """How the amount is written when it allows."""
        return self._notation

    def value(self) -> int:
        """Give the amount in whole units, a rest rounded away from zero."""
        return _rounded_away(self._nanos, _NANOS)

    def milli_value(self) -> int:
        """Give the amount in thousandths, a rest rounded away from zero."""
        return _rounded_away(self._nanos, _NANOS_IN_MILLI)

    def wrapped_milli_value(self) -> int:
        """Give the amount in thousandths as Kubernetes has it, which keeps the lowest 64 bits, or
        nothing, of what is too large for an int64.
        """
        return _int64(self, 3)

    def ceil_divide(self, divisor: Quantity, *, in_milli_units: bool = False) -> int:
        """Give how many divisors it takes to cover the amount, in the kubelet's arithmetic.

        Both sides are rounded to whole units, or to thousandths as for cpu, and divided as
        float64: the result is exact up to 2**53 and near it above.  What does not fit in an
        int64 gives what it gives a kubelet on amd64.  A zero divisor counts as one.

        - *divisor*: the size of one part
        - *in_milli_units*: whether to round to thousandths, as for cpu
        """
        places = 3 if in_milli_units else 0
        parts = float(_int64(divisor or _ONE, places))
        if not parts:  # a divisor that overflowed: the quotient is infinite, or not a number
            return _INT64.start
        quotient = math.ceil(float(_int64(self, places)) / parts)
        return quotient if quotient in _INT64 else _INT64.start

    def __add__(self, other: Quantity) -> Quantity:
        return Quantity(self._nanos + other.nanos, self._notation_beside(other))

    def __sub__(self, other: Quantity) -> Quantity:
        return Quantity(self._nanos - other.nanos, self._notation_beside(other))

    def _notation_beside(self, other: Quantity) -> Notation:
        # A sum that starts from zero takes over how its first amount is written.
        return self._notation if self._nanos else other.notation

    def __neg__(self) -> Quantity:
        return Quantity(-self._nanos, self._notation)

    def __bool__(self) -> bool:
        return self._nanos != 0

    def __eq__(self, other: object) -> bool:
        return self._nanos == other.nanos if isinstance(other, Quantity) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._nanos)

    def __lt__(self, other: Quantity) -> bool:
        return self._nanos < other.nanos

    def __le__(self, other: Quantity) -> bool:
        return self._nanos <= other.nanos

    def __gt__(self, other: Quantity) -> bool:
        return self._nanos > other.nanos

    def __ge__(self, other: Quantity) -> bool:
        return self._nanos >= other.nanos

    def __str__(self) -> str:
        if _is_shown_in_binary(self):
            number, power = _binary_parts(self._nanos // _NANOS)
            return f"{number}{_BINARY_SUFFIXES[power]}"
        number, exponent = _decimal_parts(self)
        if self._notation is _DECIMAL_EXPONENT:
            return f"{number}e{exponent}" if exponent else str(number)
        return f"{number}{_DECIMAL_TEXTS[exponent]}"

    def __repr__(self) -> str:
        return f"Quantity({str(self)!r})"


ZERO: Final = Quantity()
_ONE: Final = Quantity(_NANOS)

_UNITS: Final[Mapping[str, tuple[int, Notation]]] = {
    suffix: (int(10 ** (9 + exponent)), _DECIMAL_SI)
    for suffix, exponent in _DECIMAL_SUFFIXES.items()
} | {suffix: (_NANOS << exponent, _BINARY_SI) for suffix, exponent in _BINARY_EXPONENTS.items()}
"""Nanos in one of what a suffix names, for the amounts that most manifests hold."""


def _ten_to(power: int) -> int:
    result: int = 10**power
    return result


def _rounded_away(nanos: int, unit: int) -> int:
    return -(-nanos // unit) if nanos >= 0 else nanos // unit


def _binary_nanos(whole: str, fraction: str, exponent: int) -> int:
    whole = whole.lstrip("0")
    if len(whole) > len(str(LARGEST_BINARY)):
        return _LARGEST_BINARY_NANOS
    rest = fraction[_FRACTION_DIGITS:].strip("0")
    fraction = fraction[:_FRACTION_DIGITS] + ("1" if rest else "")
    scaled = (int(whole + fraction or "0") * _NANOS) << exponent
    return min(-(-scaled // _ten_to(len(fraction))), _LARGEST_BINARY_NANOS)


def _decimal_nanos(text: str, whole: str, fraction: str, exponent: int) -> int:
    digits = (whole + fraction).lstrip("0")
    if not digits:
        if not whole and not fraction and exponent < -9:
            raise _malformed(text)
        return 0
    if len(digits) - len(fraction) + exponent > MOST_DIGITS:
        raise ParseError(f"quantity {_quoted(text)}: more than {MOST_DIGITS} digits")
    shift = 9 + exponent - len(fraction)
    if shift >= 0:
        return int(digits) * _ten_to(shift)
    kept = max(0, len(digits) + shift)
    rest = digits[kept:].strip("0")
    return int(digits[:kept] or "0") + (1 if rest else 0)


def _exponent(text: str, exponent_text: str) -> int:
    # The length goes first: turning a long text into a number is work an attacker chooses.
    exponent = int(exponent_text) if len(exponent_text) < _MOST_EXPONENT_CHARACTERS else None
    if exponent is None or exponent not in _INT32:
        raise ParseError(f"quantity {_quoted(text)}: the exponent does not fit in 32 bits")
    return exponent


def _is_shown_in_binary(quantity: Quantity) -> bool:
    nanos = quantity.nanos
    return quantity.notation is _BINARY_SI and abs(nanos) >= 1024 * _NANOS and not nanos % _NANOS


def _binary_parts(units: int) -> tuple[int, int]:
    power = 0
    while units % 1024 == 0 and power < len(_BINARY_SUFFIXES) - 1:
        units //= 1024
        power += 1
    return units, power


def _decimal_parts(quantity: Quantity) -> tuple[int, int]:
    amount, exponent = quantity.nanos, -9
    if not amount:
        return 0, 0
    with_exponent = quantity.notation is _DECIMAL_EXPONENT
    while amount % 1000 == 0 and (with_exponent or exponent < 18):
        amount //= 1000
        exponent += 3
    return amount, exponent


def _int64(quantity: Quantity, places: int) -> int:
    """Give the amount times ``10**places`` as Kubernetes' ``Value`` and ``MilliValue`` do.

    They round away from zero.  What they make of amounts that do not fit depends on how they
    hold the canonical text, which is the one that a server hands out: few digits as a number and
    a power of ten, many as a number of billionths.
    """
    if _is_shown_in_binary(quantity):
        number, power = _binary_parts(quantity.nanos // _NANOS)
        is_short = _digits(number) + 3 * power <= (14 if power else _SHORT_NUMBER)
        number, exponent = number << 10 * power, 0
    else:
        number, exponent = _decimal_parts(quantity)
        is_short = _digits(number) <= _SHORT_NUMBER
    if not is_short:
        return _int64_of_many_digits(quantity.nanos, _ten_to(9 - places))
    shift = exponent + places
    if shift < 0:
        return _rounded_away(number, _ten_to(-shift))
    scaled = number * _ten_to(shift)
    if scaled in _INT64:
        return scaled
    return _wrapped(scaled) if shift in _WRAPPING_POWERS else 0


def _int64_of_many_digits(nanos: int, unit: int) -> int:
    """Round up as Kubernetes does: a negative amount wraps before it is divided, not after."""
    if nanos >= 0:
        return _wrapped(-(-nanos // unit))
    held = _wrapped(nanos)
    whole = abs(held) // unit * (1 if held >= 0 else -1)
    return whole + (1 if held % unit else 0)


def _wrapped(number: int) -> int:
    """Keep the lowest 64 bits, the highest of which is the sign."""
    return (number - _INT64.start) % 2**64 + _INT64.start


def _digits(number: int) -> int:
    return len(str(abs(number)))


def _quoted(text: str) -> str:
    return excerpt(text, LONGEST_QUOTE)


def _malformed(text: str) -> ParseError:
    number = _NUMBER.match(text)
    rest = text[number.end() :] if number else text
    if not text or rest == text or not rest.isalnum():
        return ParseError(
            f"quantity {_quoted(text)}: expected a number such as 2, 0.5, 500m, 1Gi or 1e3"
        )
    suffixes = " ".join(filter(None, (*_DECIMAL_SUFFIXES, *_BINARY_SUFFIXES)))
    return ParseError(
        f"quantity {_quoted(text)}: unknown suffix {_quoted(rest)}, expected one of {suffixes} "
        "or an exponent such as e3"
    )
