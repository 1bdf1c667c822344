"""Values while an expression is evaluated.

Most are Python's own: ``bool``, ``int``, ``float``, ``str``, ``bytes``, ``None``, lists.  The
others are here, with equality as expressions know it.

Upstream: cel-go/common/types; apiserver/pkg/cel/common/valuesunstructured.go
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

LOWEST_INT: Final = -(2**63)
HIGHEST_INT: Final = 2**63 - 1
HIGHEST_UINT: Final = 2**64 - 1


class EvaluationError(Exception):
    """An expression has no value, as after a division by zero; the message is the real server's."""


class OutOfBudget(Exception):
    """An expression takes more work than one may."""


class NotEvaluated(Exception):
    """What an expression asks for is known, and cannot be done here."""


class Uint(int):
    """An unsigned integer."""

    __slots__ = ()


@dataclass(frozen=True, slots=True, order=True)
class Timestamp:
    """A moment: nanoseconds since 1970."""

    nanoseconds: int


@dataclass(frozen=True, slots=True, order=True)
class Duration:
    """A length of time, in nanoseconds."""

    nanoseconds: int


@dataclass(frozen=True, slots=True)
class TypeValue:
    """A type as a value, as ``type(1)`` gives it."""

    name: str


class _Missing:
    """There is nothing under a key."""


MISSING: Final = _Missing()


class OptionalValue:
    """A value that may be there."""

    __slots__ = ("value",)
    kind = "optional"

    def __init__(self, value: Any = MISSING) -> None:
        self.value = value


NONE: Final = OptionalValue()


@dataclass(frozen=True, slots=True)
class Preserved:
    """What a schema keeps and does not describe: can be compared, and nothing else."""

    value: Any


class MapValue:
    """A map or an object."""

    __slots__ = ()

    def find(self, key: Any) -> Any:
        """Give the value under a key, or MISSING."""
        raise NotImplementedError

    def keys(self) -> Iterable[Any]:
        """Give the keys."""
        raise NotImplementedError

    def unseen(self) -> Mapping[str, Any]:
        """Give what is in the object, and no expression can reach."""
        return {}

    def __len__(self) -> int:
        raise NotImplementedError


class Dictionary(MapValue):
    """A map that an expression made; keys are equal across kinds of numbers, and never to bools."""

    __slots__ = ("_pairs",)

    def __init__(self, pairs: Iterable[tuple[Any, Any]] = ()) -> None:
        self._pairs = {_key(key): (key, value) for key, value in pairs}

    def find(self, key: Any) -> Any:
        """Give the value under a key, or MISSING."""
        found = self._pairs.get(_key(key))
        return MISSING if found is None else found[1]

    def keys(self) -> Iterator[Any]:
        """Give the keys."""
        return (key for key, _ in self._pairs.values())

    def __len__(self) -> int:
        return len(self._pairs)


def _key(key: Any) -> Any:
    if not isinstance(key, str | int | float):
        raise EvaluationError(f"unsupported key type: {kind_of(key)}")
    return (key,) if isinstance(key, bool) else key


class SetList(list[Any]):
    """A list of the type ``set``: order means nothing, and ``+`` is a union."""

    __slots__ = ()


class KeyedList(list[Any]):
    """A list of the type ``map``: items are told apart by keys, and ``+`` overwrites."""

    __slots__ = ("key_names",)

    def __init__(self, items: Iterable[Any], key_names: Sequence[str]) -> None:
        super().__init__(items)
        self.key_names = tuple(key_names)

    def key(self, item: Any) -> tuple[Any, ...]:
        """Give what an item is known by."""
        if not isinstance(item, MapValue):
            return (MISSING,)
        return tuple(
            None if (found := item.find(name)) is MISSING else found for name in self.key_names
        )


_KINDS: Final[dict[type, str]] = {
    bool: "bool",
    int: "int",
    Uint: "uint",
    float: "double",
    str: "string",
    bytes: "bytes",
    type(None): "null",
    list: "list",
    SetList: "list",
    KeyedList: "list",
    Dictionary: "map",
    Timestamp: "timestamp",
    Duration: "duration",
    OptionalValue: "optional",
    TypeValue: "type",
}


def kind_of(value: Any) -> str:
    """Name the kind of a value."""
    known = _KINDS.get(type(value))
    if known is None:
        known = getattr(value, "kind", "map" if isinstance(value, MapValue) else "dyn")
    return known


def equal(left: Any, right: Any) -> bool:
    """Compare two values of any kind; what is of different kinds is not equal."""
    first, second = kind_of(left), kind_of(right)
    if first in _NUMBERS:
        return second in _NUMBERS and bool(left == right)
    if first != second:
        return False
    if first == "list":
        return _same_lists(left, right)
    if first == "map":
        return _same_maps(left, right)
    if first == "optional":
        if left.value is MISSING or right.value is MISSING:
            return left.value is right.value
        return equal(left.value, right.value)
    return bool(left == right)


_NUMBERS: Final = frozenset({"int", "uint", "double"})


def _same_lists(left: list[Any], right: list[Any]) -> bool:
    if len(left) != len(right):
        return False
    if isinstance(left, SetList):
        known = set(left)
        return all(item in known for item in right)
    if isinstance(left, KeyedList):
        by_key = {left.key(item): item for item in left}
        found = ((by_key.get(left.key(item), MISSING), item) for item in right)
        return all(own is not MISSING and equal(own, other) for own, other in found)
    return all(map(equal, left, right))


def _same_maps(left: MapValue, right: MapValue) -> bool:
    if left is right:
        return True
    if len(left) != len(right):
        return False
    for key in left.keys():  # noqa: SIM118 - it is no dict
        own, other = left.find(key), right.find(key)
        if (own is MISSING) != (other is MISSING):
            return False
        if own is not MISSING and not equal(own, other):
            return False
    unseen = right.unseen()
    return all(unseen.get(name, raw) == raw for name, raw in left.unseen().items())


def concatenated(left: list[Any], right: list[Any]) -> list[Any]:
    """Add two lists, as the type of the first one says."""
    if isinstance(left, SetList):
        known = set(left)
        return SetList([*left, *(item for item in dict.fromkeys(right) if item not in known)])
    if isinstance(left, KeyedList):
        merged = {left.key(item): item for item in left}
        merged.update((left.key(item), item) for item in right)
        return KeyedList(merged.values(), left.key_names)
    return [*left, *right]


def name_kind(values: type, kind: str) -> None:
    """Let the instances of a class be values of a kind of their own."""
    _KINDS[values] = kind
