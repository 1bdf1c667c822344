"""Functions of quantities, versions and named formats.

Upstream: apiserver/pkg/cel/library/quantity.go, semverlib.go and format.go;
github.com/blang/semver/v4
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import total_ordering
from typing import Final

from reflet.api.quantities import Quantity
from reflet.apirules.cel.network_functions import read_url
from reflet.apirules.cel.operators import compare
from reflet.apirules.cel.signatures import declare, signature
from reflet.apirules.cel.values import (
    HIGHEST_INT,
    LOWEST_INT,
    NONE,
    EvaluationError,
    OptionalValue,
    name_kind,
)
from reflet.apirules.validation import names
from reflet.apirules.validation.custom.formats import has_format
from reflet.errors import ParseError

_NANOS: Final = 10**9
_NUMBER: Final = "(0|[1-9][0-9]{0,19})"
_IDENTIFIER: Final = r"[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*"
_VERSION: Final = re.compile(
    rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}(?:-({_IDENTIFIER}))?(?:\+({_IDENTIFIER}))?"
)
_LEADING_ZEROS: Final = re.compile(r"0+(?=[0-9])")

name_kind(Quantity, "quantity")


@signature("quantity(string) quantity")
def _quantity(text: str) -> Quantity:
    try:
        return Quantity.parse(text)
    except ParseError:
        raise EvaluationError(_MALFORMED_QUANTITY) from None


_MALFORMED_QUANTITY: Final = (
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
)


@signature("isQuantity(string) bool")
def _is_quantity(text: str) -> bool:
    try:
        Quantity.parse(text)
    except ParseError:
        return False
    return True


def _whole(quantity: Quantity) -> int | None:
    units, rest = divmod(quantity.nanos, _NANOS)
    return units if not rest and LOWEST_INT <= units <= HIGHEST_INT else None


@signature("quantity::asInteger() int")
def _as_integer(quantity: Quantity) -> int:
    found = _whole(quantity)
    if found is None:
        raise EvaluationError("cannot convert value to integer")
    return found


declare("quantity::isInteger() bool", lambda quantity: _whole(quantity) is not None)
declare("quantity::asApproximateFloat() double", lambda quantity: quantity.nanos / _NANOS)
declare("sign(quantity) int", lambda quantity: compare(quantity.nanos, 0))
declare("quantity::isGreaterThan(quantity) bool", lambda left, right: left > right)
declare("quantity::isLessThan(quantity) bool", lambda left, right: left < right)
declare("quantity::compareTo(quantity) int", compare)
declare("quantity::add(quantity) quantity", lambda left, right: left + right)
declare("quantity::sub(quantity) quantity", lambda left, right: left - right)
declare("quantity::add(int) quantity", lambda left, right: left + Quantity(right * _NANOS))
declare("quantity::sub(int) quantity", lambda left, right: left - Quantity(right * _NANOS))


@total_ordering
@dataclass(frozen=True, slots=True)
class SemanticVersion:
    """``1.2.3-alpha.1+build``; what was built takes no part in comparisons."""

    numbers: tuple[int, int, int]
    before: tuple[str, ...]

    def __lt__(self, other: SemanticVersion) -> bool:
        return self._rank() < other._rank()

    def _rank(self) -> tuple[object, ...]:
        parts = tuple(
            (0, int(part), "") if part.isdecimal() else (1, 0, part) for part in self.before
        )
        return (self.numbers, not self.before, parts)


name_kind(SemanticVersion, "semver")


def _version(text: str) -> SemanticVersion:
    found = _VERSION.fullmatch(text)
    before = tuple((found[4] or "").split(".")) if found and found[4] else ()
    if found is None or any(part.isdecimal() and part[0] == "0" != part for part in before):
        if text.count(".") < 2:
            raise EvaluationError(
                "No Major.Minor.Patch elements found" if text else "Version string empty"
            )
        raise EvaluationError(f"Invalid version: {text}")
    return SemanticVersion((int(found[1]), int(found[2]), int(found[3])), before)


def _normalized(text: str) -> SemanticVersion:
    parts = text.removeprefix("v").split(".", 2)
    parts = [_LEADING_ZEROS.sub("", part, count=1) if len(part) > 1 else part for part in parts]
    if len(parts) < 3 and set(parts[-1]) & set("+-"):
        raise EvaluationError("short version cannot contain PreRelease/Build meta data")
    return _version(".".join([*parts, *["0"] * (3 - len(parts))]))


@signature("semver(string) semver", "semver(string, bool) semver")
def _semver(text: str, normalize: bool = False) -> SemanticVersion:
    return _normalized(text) if normalize else _version(text)


@signature("isSemver(string) bool", "isSemver(string, bool) bool")
def _is_semver(text: str, normalize: bool = False) -> bool:
    try:
        _semver(text, normalize)
    except EvaluationError:
        return False
    return True


declare("semver::major() int", lambda version: version.numbers[0])
declare("semver::minor() int", lambda version: version.numbers[1])
declare("semver::patch() int", lambda version: version.numbers[2])
declare("semver::isGreaterThan(semver) bool", lambda left, right: left > right)
declare("semver::isLessThan(semver) bool", lambda left, right: left < right)
declare("semver::compareTo(semver) int", compare)


@dataclass(frozen=True, slots=True)
class NamedFormat:
    """A format by its name, and what it says of a text."""

    name: str
    wrong: Callable[[str], list[str]]


name_kind(NamedFormat, "format")


def _prefix(check: Callable[[str], list[str]]) -> Callable[[str], list[str]]:
    """Check a text that more will be added to, so that it may end in a dash."""
    return lambda text: check(f"{text[:-2]}a" if len(text) > 1 and text[-1] == "-" else text)


def _by_schema(form: str, said: str) -> Callable[[str], list[str]]:
    return lambda text: [] if has_format(form, text) else [said]


def _uri(text: str) -> list[str]:
    try:
        read_url(text)
    except ValueError as error:
        return [str(error)]
    return []


_FORMATS: Final[Mapping[str, Callable[[str], list[str]]]] = {
    "dns1123Label": names.dns_label,
    "dns1123Subdomain": names.dns_subdomain,
    "dns1035Label": names.dns_1035_label,
    "qualifiedName": names.qualified_name,
    "dns1123LabelPrefix": _prefix(names.dns_label),
    "dns1123SubdomainPrefix": _prefix(names.dns_subdomain),
    "dns1035LabelPrefix": _prefix(names.dns_1035_label),
    "labelValue": names.label_value,
    "uri": _uri,
    "uuid": _by_schema("uuid", "does not match the UUID format"),
    "byte": _by_schema("byte", "invalid base64"),
    "date": _by_schema("date", "invalid date"),
    "datetime": _by_schema("datetime", "invalid datetime"),
}


@signature("format.named(string) optional(format)")
def _named(name: str) -> OptionalValue:
    found = _FORMATS.get(name)
    return NONE if found is None else OptionalValue(NamedFormat(name, found))


def _constant(name: str) -> Callable[[], NamedFormat]:
    return lambda: NamedFormat(name, _FORMATS[name])


for _name in _FORMATS:
    declare(f"format.{_name}() format", _constant(_name))


@signature("format::validate(string) optional(list(string))")
def _validate(form: NamedFormat, text: str) -> OptionalValue:
    wrong = form.wrong(text)
    return OptionalValue(wrong) if wrong else NONE
