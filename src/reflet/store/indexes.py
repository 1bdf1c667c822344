"""From a value to the keys of the objects that have it: multi-valued indexes and their upkeep.

Not safe for threads by itself: the store's lock is around every call.

Upstream: client-go/tools/cache/index.go, IndexFunc, Indexers;
client-go/tools/cache/thread_safe_store.go, storeIndex
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Generic, NamedTuple, Protocol, TypeVar

from reflet.api.meta import KubernetesObject
from reflet.store.keys import namespace_of
from reflet.store.transforms import LeftOut

T = TypeVar("T", bound=KubernetesObject)
T_contra = TypeVar("T_contra", bound=KubernetesObject, contravariant=True)

IndexFunction = Callable[[T], Iterable[str]]
"""The values of an object: any number of them."""

NAMESPACE = "namespace"
"""The name of the index that every store of namespaced objects has."""


class Move(NamedTuple):
    """What a change of one object means for an index: the values it leaves, those it gets.

    *failure* is why it gets none.
    """

    lost: tuple[str, ...]
    gained: tuple[str, ...]
    failure: Exception | None = None


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

    An object for which the function fails, or does not give texts, has no values: it is left out
    of this index, and stays wherever else it is.

    A change has two steps, so that code of others is called before anything changes: ``plan``
    calls the function, ``carry_out`` cannot fail.
    """

    def __init__(
        self, function: IndexFunction[T], items: Mapping[str, T], left_out: LeftOut
    ) -> None:
        self._function = function
        self._keys: dict[str, dict[str, None]] = {}
        self._left_out = left_out
        for key, item in items.items():
            try:
                values = self._values(item)
            except Exception as error:  # noqa: BLE001 - code of others; told
                left_out.add(key, item, error)
                continue
            for value in values:
                self._keys.setdefault(value, {})[key] = None

    def rebuilt(self, items: Mapping[str, T]) -> FunctionIndex[T]:
        """The same index of other objects."""
        return FunctionIndex(self._function, items, self._left_out.anew())

    def plan(self, key: str, old: T | None, new: T | None) -> Move | None:
        """What it means that *old* (None: absent) becomes *new* (None: gone); None for nothing."""
        is_left_out = key in self._left_out.versions
        before: tuple[str, ...] = ()
        if old is not None and not is_left_out:
            try:
                before = self._claimed(old)
            except Exception:  # noqa: BLE001 - code of others; it worked when the object came
                before = tuple(value for value, keys in self._keys.items() if key in keys)
        if new is None:
            return Move(before, ())
        try:
            after = self._claimed(new)
            if before == after and not is_left_out:
                return None
            _check(after)
        except Exception as error:  # noqa: BLE001 - code of others; told
            return Move(before, (), error)
        return Move(tuple(value for value in before if value not in after), after)

    def carry_out(self, key: str, new: T | None, move: Move) -> None:
        """Do what was planned for *new*."""
        for value in move.lost:
            _discard(self._keys, value, key)
        for value in move.gained:
            self._keys.setdefault(value, {})[key] = None
        if move.failure is not None:
            self._left_out.add(key, new, move.failure)
        else:
            self._left_out.discard(key)

    def values_of(self, key: str, item: T) -> tuple[str, ...]:  # noqa: ARG002 - protocol
        """The values of one object; none when it is, or would be, left out."""
        try:
            return self._values(item)
        except Exception:  # noqa: BLE001 - code of others; told when the object came
            return ()

    def keys(self, value: str) -> Iterable[str]:
        """The keys that have *value*."""
        return self._keys.get(value, ())

    def values(self) -> Iterable[str]:
        """Every value that at least one key has."""
        return self._keys

    def tell(self) -> None:
        """Log and count what is left out since the last time."""
        self._left_out.tell()

    def _values(self, item: T) -> tuple[str, ...]:
        values = self._claimed(item)
        _check(values)
        return values

    def _claimed(self, item: T) -> tuple[str, ...]:
        """What the function gives, checked only as far as it would be misunderstood."""
        found = self._function(item)
        if isinstance(found, str):
            # Its letters would be taken for values.
            raise TypeError("the index function gave a text: it gives a tuple of texts")
        return tuple(found)


def _check(values: Iterable[object]) -> None:
    for value in values:
        if not isinstance(value, str):
            raise TypeError(f"the index function gave {type(value).__name__}: values are texts")


def _discard(keys: dict[str, dict[str, None]], value: str, key: str) -> None:
    holders = keys.get(value)
    if holders is not None:
        holders.pop(key, None)
        if not holders:
            del keys[value]
