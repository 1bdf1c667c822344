"""Operators and conversions, with the limits of 64 bits.

Upstream: cel-go/common/stdlib/standard.go; cel-go/common/types
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any, Final

from reflet.apirules.cel.signatures import declare, signature
from reflet.apirules.cel.values import (
    HIGHEST_INT,
    HIGHEST_UINT,
    LOWEST_INT,
    MISSING,
    NONE,
    Duration,
    EvaluationError,
    MapValue,
    OptionalValue,
    Timestamp,
    TypeValue,
    Uint,
    concatenated,
    equal,
    kind_of,
)
from reflet.gotext.printing import number

TYPE_NAMES: Final = {
    "null": "null_type",
    "timestamp": "google.protobuf.Timestamp",
    "duration": "google.protobuf.Duration",
    "optional": "optional_type",
}


def compare(left: Any, right: Any) -> int:
    """Tell which of two values is less: -1, 0 or 1."""
    try:
        return int((left > right) - (left < right))
    except TypeError:
        raise EvaluationError("no such overload") from None


def _checked(value: int) -> int:
    if not LOWEST_INT <= value <= HIGHEST_INT:
        raise EvaluationError("integer overflow")
    return value


def _unsigned(value: int) -> Uint:
    if not 0 <= value <= HIGHEST_UINT:
        raise EvaluationError("unsigned integer overflow")
    return Uint(value)


def _divided(left: int, right: int) -> int:
    if not right:
        raise EvaluationError("division by zero")
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


def _rest(left: int, right: int) -> int:
    if not right:
        raise EvaluationError("modulus by zero")
    return left - right * _divided(left, right)


def _float_division(left: float, right: float) -> float:
    if right:
        return left / right
    if not left or math.isnan(left):
        return math.nan
    return math.copysign(math.inf, left) * math.copysign(1, right)


def _declare_arithmetic() -> None:
    whole: list[tuple[str, Callable[[int, int], int]]] = [
        ("+", operator.add),
        ("-", operator.sub),
        ("*", operator.mul),
        ("/", _divided),
        ("%", _rest),
    ]
    for sign, run in whole:
        declare(f"_{sign}_(int, int) int", lambda a, b, run=run: _checked(run(a, b)))
        declare(f"_{sign}_(uint, uint) uint", lambda a, b, run=run: _unsigned(run(a, b)))
    real: list[tuple[str, Callable[[float, float], float]]] = [
        ("+", operator.add),
        ("-", operator.sub),
        ("*", operator.mul),
        ("/", _float_division),
    ]
    for sign, division in real:
        declare(f"_{sign}_(double, double) double", division)
    declare("_+_(string, string) string", operator.add)
    declare("_+_(bytes, bytes) bytes", operator.add)
    declare("_+_(list(A), list(A)) list(A)", concatenated)
    declare("-_(int) int", lambda a: _checked(-a))
    declare("-_(double) double", operator.neg)
    declare("!_(bool) bool", operator.not_)


_declare_arithmetic()


@signature("_+_(duration, duration) duration")
def _longer(left: Duration, right: Duration) -> Duration:
    return Duration(_checked(left.nanoseconds + right.nanoseconds))


@signature("_-_(duration, duration) duration", "_-_(timestamp, timestamp) duration")
def _between(left: Duration | Timestamp, right: Duration | Timestamp) -> Duration:
    return Duration(_checked(left.nanoseconds - right.nanoseconds))


@signature("_+_(timestamp, duration) timestamp")
def _later(left: Timestamp, right: Duration) -> Timestamp:
    return Timestamp(left.nanoseconds + right.nanoseconds)


@signature("_+_(duration, timestamp) timestamp")
def _later_too(left: Duration, right: Timestamp) -> Timestamp:
    return Timestamp(left.nanoseconds + right.nanoseconds)


@signature("_-_(timestamp, duration) timestamp")
def _earlier(left: Timestamp, right: Duration) -> Timestamp:
    return Timestamp(left.nanoseconds - right.nanoseconds)


def _declare_comparisons() -> None:
    signs: list[tuple[str, Callable[[Any, Any], bool]]] = [
        ("<", operator.lt),
        ("<=", operator.le),
        (">", operator.gt),
        (">=", operator.ge),
    ]
    numbers = ("int", "uint", "double")
    for sign, run in signs:
        for kind in ("bool", "string", "bytes", "timestamp", "duration"):
            declare(f"_{sign}_({kind}, {kind}) bool", run)
        for left in numbers:
            for right in numbers:
                declare(f"_{sign}_({left}, {right}) bool", run)
    declare("_==_(A, A) bool", equal)
    declare("_!=_(A, A) bool", lambda a, b: not equal(a, b))


_declare_comparisons()


@signature("@in(A, list(A)) bool")
def _in_list(item: Any, values: list[Any]) -> bool:
    return any(equal(each, item) for each in values)


@signature("@in(A, map(A, B)) bool")
def _in_map(key: Any, values: MapValue) -> bool:
    return values.find(key) is not MISSING


@signature("_[_](list(A), int) A")
def _item(values: list[Any], index: int) -> Any:
    if not 0 <= index < len(values):
        raise EvaluationError(f"index out of bounds: {index}")
    return values[index]


@signature("_[_](map(A, B), A) B")
def _value(values: MapValue, key: Any) -> Any:
    found = values.find(key)
    if found is MISSING:
        raise EvaluationError(f"no such key: {shown(key)}")
    return found


@signature("_[?_](list(A), int) optional(A)", "_[?_](map(A, B), A) optional(B)")
def _optional_item(values: Any, key: Any) -> OptionalValue:
    if isinstance(values, list):
        return OptionalValue(values[key]) if 0 <= key < len(values) else NONE
    found = values.find(key)
    return NONE if found is MISSING else OptionalValue(found)


@signature(
    "_[_](optional(list(A)), int) optional(A)",
    "_[?_](optional(list(A)), int) optional(A)",
    "_[_](optional(map(A, B)), A) optional(B)",
    "_[?_](optional(map(A, B)), A) optional(B)",
)
def _item_of_optional(values: OptionalValue, key: Any) -> OptionalValue:
    return NONE if values.value is MISSING else _optional_item(values.value, key)


@signature(
    *(f"size({kind}) int" for kind in ("string", "bytes", "list(A)", "map(A, B)")),
    *(f"{kind}::size() int" for kind in ("string", "bytes", "list(A)", "map(A, B)")),
)
def _size(value: Any) -> int:
    return len(value)


@signature("type(A) type(A)")
def _type(value: Any) -> TypeValue:
    kind = kind_of(value)
    return TypeValue(TYPE_NAMES.get(kind, kind))


@signature("dyn(A) dyn")
def _dyn(value: Any) -> Any:
    return value


# Conversions


def conversion_error(found: str, wanted: str) -> EvaluationError:
    """Say that a value cannot become one of another type."""
    return EvaluationError(f"type conversion error from '{found}' to '{wanted}'")


@signature("int(int) int", "uint(uint) uint", "double(double) double", "bool(bool) bool")
@signature("string(string) string", "bytes(bytes) bytes", "duration(duration) duration")
@signature("timestamp(timestamp) timestamp")
def _same(value: Any) -> Any:
    return value


@signature("int(uint) int", "int(double) int", "int(string) int", "int(timestamp) int")
@signature("int(duration) int")
def _int(value: Any) -> int:
    if isinstance(value, Timestamp):
        return value.nanoseconds // 10**9
    if isinstance(value, Duration):
        return value.nanoseconds
    return _whole(value, LOWEST_INT, HIGHEST_INT, "integer overflow", "int")


@signature("uint(int) uint", "uint(double) uint", "uint(string) uint")
def _uint(value: Any) -> Uint:
    return Uint(_whole(value, 0, HIGHEST_UINT, "unsigned integer overflow", "uint"))


def _whole(value: Any, lowest: int, highest: int, said: str, name: str) -> int:
    if isinstance(value, str):
        digits = value[1:] if value[:1] in {"-", "+"} else value
        if not digits.isascii() or not digits.isdecimal() or len(digits) > 40:
            raise conversion_error("string", name)
    if isinstance(value, float) and not lowest < value < highest:
        raise EvaluationError(said)
    made = int(value)
    if not lowest <= made <= highest:
        raise EvaluationError(said)
    return made


@signature("double(int) double", "double(uint) double", "double(string) double")
def _double(value: Any) -> float:
    try:
        return float(value)
    except ValueError:
        raise conversion_error("string", "double") from None


@signature("bool(string) bool")
def _bool(value: str) -> bool:
    if value in {"1", "t", "T", "true", "TRUE", "True"}:
        return True
    if value in {"0", "f", "F", "false", "FALSE", "False"}:
        return False
    raise conversion_error("string", "bool")


@signature("bytes(string) bytes")
def _bytes(value: str) -> bytes:
    return value.encode("utf-8", "surrogatepass")


@signature("string(int) string", "string(uint) string", "string(double) string")
@signature("string(bool) string", "string(bytes) string")
def shown(value: Any) -> str:
    """Write a scalar as text."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            raise conversion_error("bytes", "string") from None
    return number(value) if isinstance(value, float) else str(value)


# Optional values


@signature("optional.of(A) optional(A)")
def _optional_of(value: Any) -> OptionalValue:
    return OptionalValue(value)


@signature("optional.none() optional(A)")
def _optional_none() -> OptionalValue:
    return NONE


@signature("optional.ofNonZeroValue(A) optional(A)")
def _optional_of_non_zero(value: Any) -> OptionalValue:
    return OptionalValue(value) if _is_non_zero(value) else NONE


def _is_non_zero(value: Any) -> bool:
    if isinstance(value, Timestamp | Duration):
        return value.nanoseconds != 0
    if isinstance(value, MapValue):
        return len(value) > 0
    return bool(value)


@signature("optional(A)::hasValue() bool")
def _has_value(value: OptionalValue) -> bool:
    return value.value is not MISSING


@signature("optional(A)::value() A")
def _value_of(value: OptionalValue) -> Any:
    if value.value is MISSING:
        raise EvaluationError("optional.none() dereference")
    return value.value


@signature("optional(A)::orValue(A) A")
def _or_value(value: OptionalValue, otherwise: Any) -> Any:
    return otherwise if value.value is MISSING else value.value


@signature("optional(A)::or(optional(A)) optional(A)")
def _or(value: OptionalValue, otherwise: OptionalValue) -> OptionalValue:
    return otherwise if value.value is MISSING else value
