"""Values of an object, as expressions see them: by the types of the schema.

Upstream: apiserver/pkg/cel/common/valuesunstructured.go
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from reflet.apirules.cel.time_functions import read_duration, read_timestamp
from reflet.apirules.cel.values import (
    MISSING,
    EvaluationError,
    KeyedList,
    MapValue,
    Preserved,
    SetList,
    Timestamp,
    name_kind,
)
from reflet.apirules.validation.custom.schema_types import (
    escaped,
    unescaped,
    with_metadata,
)

Rules = Mapping[str, Any]


def value_of(rules: Rules, raw: Any) -> Any:
    """Give a value of the schema.  Raises EvaluationError where it is not of its type."""
    if raw is None:
        if rules.get("nullable"):
            return None
        raise EvaluationError("invalid data, got null for schema with nullable=false")
    if rules.get("x-kubernetes-int-or-string"):
        if not isinstance(raw, str | int):
            said = "invalid data, expected XIntOrString value to be either a string or integer"
            raise EvaluationError(said)
        return raw
    convert = _CONVERT.get(rules.get("type", ""))
    if convert is not None:
        return convert(rules, raw)
    return Preserved(raw)


class ObjectValue(MapValue):
    """An object, or a map; fields that the schema does not know are not seen."""

    __slots__ = ("_converted", "_is_object", "_rules", "raw")

    def __init__(self, rules: Rules, raw: Mapping[str, Any]) -> None:
        if rules.get("x-kubernetes-embedded-resource"):
            rules = with_metadata(rules)
        self._rules = rules
        self._is_object = rules.get("properties") is not None
        self._converted: dict[str, Any] = {}
        self.raw = raw

    def below(self, name: str) -> Rules | None:
        """Give the schema of a field, by the name that it has in the object."""
        if self._is_object:
            found = self._rules["properties"].get(name)
        else:
            found = self._rules.get("additionalProperties")
        return found if isinstance(found, Mapping) else None

    def find(self, key: Any) -> Any:
        """Give the value under a key, or MISSING."""
        if key in self._converted:
            return self._converted[key]
        if not isinstance(key, str):
            raise EvaluationError("no such overload")
        name = unescaped(key) if self._is_object else key
        if name is None or name not in self.raw:
            return MISSING
        rules = self.below(name)
        if rules is None or (self._is_object and self.raw[name] is None):
            return MISSING
        made = self._converted[key] = value_of(rules, self.raw[name])
        return made

    def keys(self) -> Iterator[str]:
        """Give the keys that expressions see."""
        for name in self.raw:
            if self.below(name) is not None:
                yield (escaped(name) or name) if self._is_object else name

    def unseen(self) -> Mapping[str, Any]:
        """Give what is in the object, and no expression can reach."""
        return {name: raw for name, raw in self.raw.items() if self.below(name) is None}

    def __len__(self) -> int:
        return len(self.raw)


name_kind(ObjectValue, "map")


def _list(rules: Rules, raw: Any) -> Any:
    below = rules.get("items")
    if not isinstance(raw, list) or not isinstance(below, Mapping):
        raise _mismatch("an array for the provided schema with type=array")
    items = [value_of(below, item) for item in raw]
    kind = rules.get("x-kubernetes-list-type")
    if kind == "map":
        keys = rules.get("x-kubernetes-list-map-keys") or ()
        return KeyedList(items, [escaped(key) or key for key in keys])
    return SetList(items) if kind == "set" else items


def _object(rules: Rules, raw: Any) -> Any:
    if not isinstance(raw, Mapping):
        raise _mismatch("a map for the provided schema with type=object")
    return ObjectValue(rules, raw)


def _string(rules: Rules, raw: Any) -> Any:
    if not isinstance(raw, str):
        raise _mismatch("string")
    form = rules.get("format", "")
    read = _TEXTS.get(form)
    try:
        return raw if read is None else read(raw)
    except (ValueError, binascii.Error) as error:
        raise EvaluationError(f"Invalid {form} formatted string {raw}: {error}") from None


def _date(text: str) -> Timestamp:
    return read_timestamp(f"{text}T00:00:00Z")


def _bytes(text: str) -> bytes:
    return base64.b64decode(text, validate=True)


def _number(_: Rules, raw: Any) -> float:
    if isinstance(raw, bool) or not isinstance(raw, int | float):
        raise _mismatch("float")
    return float(raw)


def _integer(_: Rules, raw: Any) -> int:
    if isinstance(raw, bool) or not isinstance(raw, int | float) or raw != int(raw):
        raise _mismatch("int")
    return int(raw)


def _boolean(_: Rules, raw: Any) -> bool:
    if not isinstance(raw, bool):
        raise _mismatch("bool")
    return raw


def _mismatch(wanted: str) -> EvaluationError:
    return EvaluationError(f"invalid data, expected {wanted}")


_TEXTS: Final[Mapping[str, Callable[[str], Any]]] = {
    "byte": _bytes,
    "duration": read_duration,
    "date": _date,
    "date-time": read_timestamp,
}
_CONVERT: Final[Mapping[str, Callable[[Rules, Any], Any]]] = {
    "array": _list,
    "object": _object,
    "string": _string,
    "number": _number,
    "integer": _integer,
    "boolean": _boolean,
}
