"""What a bare word of YAML means to Kubernetes, and which texts must be quoted because of that.

It is neither YAML 1.1 nor 1.2 but what the API server's reader does: ``yes`` is true, ``0644`` is
420, dates are text.

Upstream: go.yaml.in/yaml/v2/resolve.go
"""

import math
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, TypeAlias

from reflet.gotext.lazy_patterns import lazy_pattern

Scalar: TypeAlias = str | int | float | bool | None

_WORDS: Final[Mapping[str, bool | None]] = MappingProxyType(
    dict.fromkeys(["y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"], True)
    | dict.fromkeys(
        ["n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"], False
    )
    | dict.fromkeys(["", "~", "null", "Null", "NULL"], None)
)
_NOT_FINITE: Final[Mapping[str, float]] = MappingProxyType(
    dict.fromkeys([".nan", ".NaN", ".NAN"], math.nan)
    | dict.fromkeys([".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"], math.inf)
    | dict.fromkeys(["-.inf", "-.Inf", "-.INF"], -math.inf)
)
# What a word begins with that may be something else than text; an empty one has no letter.
FIRST_LETTERS: Final = frozenset({*(word[:1] for word in _WORDS), *"+-.0123456789"})
_INTEGER: Final = lazy_pattern(
    r"([-+]?)(?:0[xX]([0-9a-fA-F]+)|0[oO]?([0-7]+)|0[bB]([01]+)|(0|[1-9][0-9]*))", re.ASCII
)
_FLOAT: Final = lazy_pattern(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?", re.ASCII)
_OTHER_READERS_SEE_MORE: Final = lazy_pattern(
    r"[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?"  # hours and minutes: 12:30
    r"|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}.*"  # dates
    r"|=|<<",
    re.ASCII | re.DOTALL,
)
CONTROLS: Final = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""Characters with power over a terminal that neither YAML nor JSON has to escape: DEL, the C1
controls (U+009B begins an escape sequence), and those that turn the direction of writing."""

_SMALLEST: Final = -(2**63)
_LARGEST: Final = 2**64 - 1
_WHOLE_NUMBERS_END: Final = 1e21  # from here on JSON writers use exponents


def resolved(text: str) -> Scalar:
    """Return what an unquoted word stands for: ``0644`` is 420, ``yes`` is true, dates are text.

    Infinities and ``.nan`` are returned as such although JSON has no place for them.
    """
    if text in _WORDS:
        return _WORDS[text]
    if text in _NOT_FINITE:
        return _NOT_FINITE[text]
    if text[0] not in "+-.0123456789":
        return text
    plain = text.replace("_", "") if text[0] != "." else text
    number: int | float | None = _integer(plain)
    if number is not None:
        return number
    if _FLOAT.fullmatch(plain):
        number = whole(float(plain))
        return number if math.isfinite(number) else text
    return text


def whole(number: float) -> int | float:
    """Return a number without fraction as an integer, as it is written in JSON."""
    if number.is_integer() and abs(number) < _WHOLE_NUMBERS_END:
        return int(number)
    return number


def key_text(key: Scalar) -> str | None:
    """Return the text of a mapping's key, or ``None`` for what cannot be one."""
    if isinstance(key, bool):
        return "true" if key else "false"
    if isinstance(key, float):
        return repr(key) if math.isfinite(key) else _not_finite_text(key)
    return None if key is None else str(key)


def _not_finite_text(number: float) -> str:
    if math.isnan(number):
        return ".nan"
    return ".inf" if number > 0 else "-.inf"


def needs_quotes(text: str) -> bool:
    """Say whether some reader of YAML would take the bare text for something else."""
    return not isinstance(resolved(text), str) or bool(_OTHER_READERS_SEE_MORE.fullmatch(text))


def _integer(text: str) -> int | None:
    match = _INTEGER.fullmatch(text)
    if match is None:
        return None
    sign, *digits = match.groups()
    for base, found in zip((16, 8, 2, 10), digits, strict=True):
        # More digits than this are out of range in any base; counting them first also keeps
        # the conversion cheap.
        if found and len(found.lstrip("0")) <= 64:
            number = int(found, base) * (-1 if sign == "-" else 1)
            highest = _LARGEST if not sign else 2**63 - 1
            return number if _SMALLEST <= number <= highest else None
    return None
