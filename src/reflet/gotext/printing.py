"""JSON values as Go prints them: ``%v``, ``%s``, ``%#v``, ``%T``, and JSON itself.

Upstream: fmt/print.go; encoding/json/encode.go
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final

from reflet.gotext.quoting import quoted

# Go writes these as escapes, so that JSON can stand in a page.
_UNSAFE_IN_PAGES: Final = str.maketrans(
    {"<": r"\u003c", ">": r"\u003e", "&": r"\u0026", "\u2028": r"\u2028", "\u2029": r"\u2029"}
)
_LARGEST_PLAIN: Final = 21  # digits; from here on Go prints a float with an exponent


def plain(value: Any) -> str:
    """Write a value with ``%v``."""
    match value:
        case None:
            return "<nil>"
        case bool():
            return "true" if value else "false"
        case float():
            return number(value)
        case Mapping():
            return f"map[{' '.join(f'{key}:{plain(value[key])}' for key in sorted(value))}]"
        case list():
            return f"[{' '.join(map(plain, value))}]"
        case _:
            return str(value)


def as_string(value: Any) -> str:
    """Write a value with ``%s``, which complains about all that is not a text."""
    match value:
        case str():
            return value
        case None:
            return "%!s(<nil>)"
        case Mapping():
            return f"map[{' '.join(f'{key}:{as_string(value[key])}' for key in sorted(value))}]"
        case list():
            return f"[{' '.join(map(as_string, value))}]"
        case _:
            return f"%!s({type_name(value)}={plain(value)})"


def syntax(value: Any) -> str:
    """Write a value with ``%#v``."""
    match value:
        case None:
            return "interface {}(nil)"
        case str():
            return quoted(value)
        case Mapping():
            inner = ", ".join(f"{quoted(key)}:{syntax(value[key])}" for key in sorted(value))
            return f"map[string]interface {{}}{{{inner}}}"
        case list():
            return f"[]interface {{}}{{{', '.join(map(syntax, value))}}}"
        case _:
            return plain(value)


def type_name(value: Any) -> str:
    """Write the type of a value with ``%T``."""
    match value:
        case None:
            return "<nil>"
        case bool():
            return "bool"
        case int():
            return "int64"
        case float():
            return "float64"
        case str():
            return "string"
        case list():
            return "[]interface {}"
        case _:
            return "map[string]interface {}"


def json_type(value: Any) -> str:
    """Name the type of a value as Go's JSON messages do."""
    match value:
        case None:
            return "null"
        case bool():
            return "bool"
        case int() | float():
            return "number"
        case str():
            return "string"
        case list():
            return "array"
        case _:
            return "object"


def number(value: float) -> str:
    """Write a float with ``%v``: the shortest digits that mean it."""
    if not math.isfinite(value):
        return {"nan": "NaN", "inf": "+Inf", "-inf": "-Inf"}[str(value)]
    sign, digits, shift = Decimal(repr(value)).normalize().as_tuple()
    power = len(digits) + int(shift) - 1
    if -5 < power < _LARGEST_PLAIN:
        return f"{Decimal(repr(value)).normalize():f}"
    first, *rest = map(str, digits)
    mantissa = first + ("." + "".join(rest) if rest else "")
    return f"{'-' * sign}{mantissa}e{'-' if power < 0 else '+'}{abs(power):02}"


def json_text(value: Any, *, sort_keys: bool = True) -> str:
    """Write JSON as Go does: no spaces, and nothing that a page could mistake for a tag.

    The keys of maps are sorted; the fields of structs are not, so who shows one says so.
    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=sort_keys)
    return text.translate(_UNSAFE_IN_PAGES)
