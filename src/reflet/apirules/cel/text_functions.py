"""Functions of strings: searching, cutting, joining, formatting, regular expressions.

Upstream: cel-go/ext/strings.go and formatting.go; apiserver/pkg/cel/library/regex.go
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from reflet.apirules.cel.operators import shown
from reflet.apirules.cel.signatures import declare, signature
from reflet.apirules.cel.time_functions import duration_text, timestamp_text
from reflet.apirules.cel.values import (
    Duration,
    EvaluationError,
    MapValue,
    NotEvaluated,
    OutOfBudget,
    Timestamp,
    TypeValue,
    kind_of,
)
from reflet.apirules.regular_expressions import MalformedExpression, Unbearable, compiled
from reflet.gotext.quoting import quoted

LONGEST_TEXT: Final = 20_000_000  # characters; what may be sent in one request, several times over
STEPS_FOR_A_COST: Final = 20  # of Python's engine, in the time in which one operator is evaluated
_SPACE: Final = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(
    map(chr, range(0x2000, 0x200B))
)
_UPPER: Final = {code: code - 32 for code in range(ord("a"), ord("z") + 1)}
_LOWER: Final = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}
_CLAUSE: Final = re.compile(r"%(%|(?:\.([0-9]+))?(.?))", re.DOTALL)
_ESCAPES: Final = {"\a": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_QUOTED: Final = str.maketrans({**_ESCAPES, "\v": "\\v", "\\": "\\\\", '"': '\\"'})

declare("string::contains(string) bool", lambda text, part: part in text)
declare("string::startsWith(string) bool", lambda text, part: text.startswith(part))
declare("string::endsWith(string) bool", lambda text, part: text.endswith(part))
declare("string::lowerAscii() string", lambda text: text.translate(_LOWER))
declare("string::upperAscii() string", lambda text: text.translate(_UPPER))
declare("string::trim() string", lambda text: text.strip(_SPACE))
declare("strings.quote(string) string", lambda text: f'"{text.translate(_QUOTED)}"')


def _bounded(length: int) -> None:
    if length > LONGEST_TEXT:
        raise OutOfBudget


def _out_of_range(index: int) -> EvaluationError:
    return EvaluationError(f"index out of range: {index}")


@signature("string::charAt(int) string")
def _char_at(text: str, index: int) -> str:
    if not 0 <= index <= len(text):
        raise _out_of_range(index)
    return text[index : index + 1]


@signature("string::indexOf(string) int", "string::indexOf(string, int) int")
def _index_of(text: str, part: str, start: int = 0) -> int:
    if not part:
        return start
    if start < 0:
        raise _out_of_range(start)
    return text.find(part, start)


@signature("string::lastIndexOf(string) int", "string::lastIndexOf(string, int) int")
def _last_index_of(text: str, part: str, start: int | None = None) -> int:
    if start is None:
        return text.rfind(part)
    if not part:
        return start
    if start < 0:
        raise _out_of_range(start)
    return -1 if start >= len(text) else text.rfind(part, 0, start + len(part))


@signature("string::replace(string, string) string", "string::replace(string, string, int) string")
def _replace(text: str, old: str, new: str, most: int = -1) -> str:
    places = text.count(old) if most < 0 else min(most, text.count(old))
    _bounded(len(text) + places * len(new))
    return text.replace(old, new, max(most, -1))


@signature("string::split(string) list(string)", "string::split(string, int) list(string)")
def _split(text: str, by: str, most: int = -1) -> list[str]:
    if most == 0:
        return []
    if by:
        return text.split(by, most - 1 if most > 0 else -1)
    if most < 0 or most >= len(text):
        return list(text)
    return [*text[: most - 1], text[most - 1 :]]


@signature("string::substring(int) string", "string::substring(int, int) string")
def _substring(text: str, start: int, end: int | None = None) -> str:
    if end is None:
        end = len(text)
    elif start > end:
        raise EvaluationError(f"invalid substring range. start: {start}, end: {end}")
    for index in (start, end):
        if not 0 <= index <= len(text):
            raise _out_of_range(index)
    return text[start:end]


@signature("list(string)::join() string", "list(string)::join(string) string")
def _join(values: list[Any], by: str = "") -> str:
    for value in values:
        if not isinstance(value, str):
            raise EvaluationError(f"join: invalid input: {value}")
    _bounded(sum(map(len, values)) + len(by) * len(values))
    return by.join(values)


# Regular expressions


def _pattern(text: str) -> Any:
    try:
        return compiled(text)
    except MalformedExpression as error:
        raise EvaluationError(f"Illegal regex: {error}") from None


def _work(text: str, pattern: str, _most: int = 0) -> int:
    return int(_pattern(pattern).work(text)) // STEPS_FOR_A_COST


@signature("string::matches(string) bool", "matches(string, string) bool", work=_work)
def matches(text: str, pattern: str) -> bool:
    """Tell whether a pattern is found in a text."""
    return bool(_searched(lambda: _pattern(pattern).is_in(text)))


@signature("string::find(string) string", work=_work)
def _find(text: str, pattern: str) -> str:
    found: list[str] = _searched(lambda: _pattern(pattern).all_in(text, 1))
    return found[0] if found else ""


@signature("string::findAll(string) list(string)", work=_work)
@signature("string::findAll(string, int) list(string)", work=_work)
def _find_all(text: str, pattern: str, most: int = -1) -> list[str]:
    found: list[str] = _searched(lambda: _pattern(pattern).all_in(text, most))
    return found


def _searched(search: Callable[[], Any]) -> Any:
    try:
        return search()
    except Unbearable as error:
        raise NotEvaluated(str(error)) from None


# Formatting


@signature("string::format(list(dyn)) string")
def _format(text: str, values: list[Any]) -> str:
    left = iter(values)
    made: list[str] = []

    def replaced(found: re.Match[str]) -> str:
        if found[1] == "%":
            return "%"
        value = next(left, None if len(values) else _NOTHING)
        clause = _CLAUSES.get(found[3])
        if clause is None:
            raise EvaluationError(
                "could not parse formatting clause: unrecognized formatting clause "
                f"{quoted(found[3])}"
            )
        made.append(found[3])
        if len(made) > len(values):
            raise EvaluationError(f"index {len(values)} out of range")
        return clause(value, found[2])

    result = _CLAUSE.sub(replaced, text)
    _bounded(len(result))
    if len(made) < len(values):
        raise EvaluationError("too many arguments supplied to string.format")
    return result


_NOTHING: Final = object()


def _as_string(value: Any, _: str | None = None) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_literal, value))}]"
    if isinstance(value, MapValue):
        pairs = sorted((_literal(key), _literal(value.find(key))) for key in value.keys())  # noqa: SIM118 - no dict
        return f"{{{', '.join(f'{key}:{inner}' for key, inner in pairs)}}}"
    if isinstance(value, Timestamp):
        return timestamp_text(value)
    if isinstance(value, Duration):
        return duration_text(value)
    if isinstance(value, TypeValue):
        return value.name
    if value is None:
        return "null"
    if isinstance(value, str | bytes | bool | int | float):
        return shown(value)
    raise EvaluationError(
        "error during formatting: string clause can only be used on strings, bools, bytes, ints, "
        f"doubles, maps, lists, types, durations, and timestamps, was given {kind_of(value)}"
    )


def _literal(value: Any) -> str:
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, float):
        return f"{value:.6f}"
    if isinstance(value, Timestamp):
        return f'timestamp("{timestamp_text(value)}")'
    if isinstance(value, Duration):
        return f'duration("{duration_text(value)}")'
    text = _as_string(value)
    return f"b{quoted(text)}" if isinstance(value, bytes) else text


def _decimal(value: Any, _: str | None = None) -> str:
    if kind_of(value) not in {"int", "uint"}:
        raise EvaluationError(
            "error during formatting: decimal clause can only be used on integers, was given "
            f"{kind_of(value)}"
        )
    return str(int(value))


def _fixed(value: Any, precision: str | None) -> str:
    if not isinstance(value, float):
        raise EvaluationError(
            "error during formatting: fixed-point clause can only be used on doubles, was given "
            f"{kind_of(value)}"
        )
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else ("∞" if value > 0 else "-∞")
    digits = int(precision[:6]) if precision else 6
    _bounded(digits * 100)
    return f"{value:,.{digits}f}"


def _hexadecimal(value: Any, _: str | None = None) -> str:
    if isinstance(value, str | bytes):
        return (value.encode() if isinstance(value, str) else value).hex()
    return _in_base(
        value, "x", "hex clause can only be used on integers, byte buffers, and strings"
    )


def _binary(value: Any, _: str | None = None) -> str:
    if isinstance(value, bool):
        return "1" if value else "0"
    return _in_base(value, "b", "only integers and bools can be formatted as binary")


def _octal(value: Any, _: str | None = None) -> str:
    return _in_base(value, "o", "octal clause can only be used on integers")


def _in_base(value: Any, base: str, said: str) -> str:
    if kind_of(value) not in {"int", "uint"}:
        raise EvaluationError(f"error during formatting: {said}, was given {kind_of(value)}")
    return format(int(value), base)


def _scientific(value: Any, _: str | None = None) -> str:
    raise NotEvaluated(f"%e of {value}: numbers in the scientific notation are not written")


_CLAUSES: Final[Mapping[str, Callable[[Any, str | None], str]]] = {
    "s": _as_string,
    "d": _decimal,
    "f": _fixed,
    "e": _scientific,
    "x": _hexadecimal,
    "X": lambda value, precision: _hexadecimal(value, precision).upper(),
    "b": _binary,
    "o": _octal,
}
