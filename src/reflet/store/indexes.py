"""From a value to the keys of the objects that have it.

Owns: multi-valued indexes and their upkeep.  Not safe for threads by itself: the store's lock
is around every call.  Must not know which values are worth an index.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Generic, NamedTuple, Protocol, TypeVar

from reflet.api.meta import KubernetesObject
from reflet.store.keys import namespace_of

T = TypeVar("T", bound=KubernetesObject)
T_contra = TypeVar("T_contra", bound=KubernetesObject, contravariant=True)

IndexFunction = Callable[[T], Iterable[str]]
"""The values of an object: any number of them."""

NAMESPACE = "namespace"
"""The name of the index that every store of namespaced objects has."""


class Move(NamedTuple):
    """What a change of one object means for an index: the values it leaves, those it gets."""

    lost: tuple[str, ...]
    gained: tuple[str, ...]


class Index(Protocol[T_contra]):
    """Answers which keys have a value."""

    def values_of(self, key: str, item: T_contra) -> Iterable[str]:
        """The values of one object."""
        ...

    def keys(self, value: str) -> Iterable[str]:
        """The keys that have *value*."""
        ...

    def values(self) -> Iterable[str]:
        """Every value that at least one key has."""
        ...


class NamespaceIndex:
    """Namespace → keys.  Lives by the keys alone, so an update costs nothing.

    *keys* are those of the store, at any time: the index is made of them when it is first asked
    for, since whoever mirrors a single namespace never asks.
    """

    def __init__(self, keys: Iterable[str]) -> None:
        self._all = keys
        self._made: dict[str, dict[str, None]] | None = None

    def arrived(self, key: str) -> None:
        """There is an object at *key* now."""
        if self._made is not None:
            self._made.setdefault(namespace_of(key), {})[key] = None

    def departed(self, key: str) -> None:
        """There is no object at *key* any more."""
        if self._made is not None:
            _discard(self._made, namespace_of(key), key)

    def values_of(self, key: str, item: object) -> tuple[str, ...]:  # noqa: ARG002 - protocol
        """The object's namespace, empty where there is none."""
        return (namespace_of(key),)

    def keys(self, value: str) -> Iterable[str]:
        """The keys of one namespace."""
        return self._index().get(value, ())

    def values(self) -> Iterable[str]:
        """Every namespace that has an object."""
        return self._index()

    def _index(self) -> dict[str, dict[str, None]]:
        made = self._made
        if made is None:
            made = self._made = {}
            for key in self._all:
                made.setdefault(namespace_of(key), {})[key] = None
        return made


class FunctionIndex(Generic[T]):
    """Values by a function of the object.

    A change has two steps, so that a function which fails leaves every index as it was:
    ``plan`` calls the function, ``carry_out`` cannot fail.
    """

    def __init__(self, name: str, function: IndexFunction[T], items: Mapping[str, T]) -> None:
        self._name = name
        self._function = function
        self._keys: dict[str, dict[str, None]] = {}
        for key, item in items.items():
            for value in self.values_of(key, item):
                self._keys.setdefault(value, {})[key] = None

    def rebuilt(self, items: Mapping[str, T]) -> FunctionIndex[T]:
        """The same index of other objects."""
        return FunctionIndex(self._name, self._function, items)

    def plan(self, key: str, old: T | None, new: T | None) -> Move | None:
        """What it means that *old* (None: absent) becomes *new* (None: gone); None for nothing."""
        before = () if old is None else self.values_of(key, old)
        after = () if new is None else self.values_of(key, new)
        if before == after:
            return None
        return Move(tuple(value for value in before if value not in after), after)

    def carry_out(self, key: str, move: Move) -> None:
        """Do what was planned."""
        for value in move.lost:
            _discard(self._keys, value, key)
        for value in move.gained:
            self._keys.setdefault(value, {})[key] = None

    def values_of(self, key: str, item: T) -> tuple[str, ...]:
        """The values of one object; a function that fails is a mistake in the program."""
        try:
            values = self._function(item)
            if isinstance(values, str):
                # Its letters would be taken for values.
                raise TypeError(f"the index function gave the text {values!r}: it gives a tuple")
            return tuple(values)
        except Exception as error:
            raise RuntimeError(
                f'unable to calculate an index entry for key "{key}" on index '
                f'"{self._name}": {error}'
            ) from error

    def keys(self, value: str) -> Iterable[str]:
        """The keys that have *value*."""
        return self._keys.get(value, ())

    def values(self) -> Iterable[str]:
        """Every value that at least one key has."""
        return self._keys


def _discard(keys: dict[str, dict[str, None]], value: str, key: str) -> None:
    holders = keys.get(value)
    if holders is not None:
        holders.pop(key, None)
        if not holders:
            del keys[value]
