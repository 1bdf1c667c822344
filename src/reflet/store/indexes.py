"""From a value to the keys of the objects that have it.

Owns: multi-valued indexes and their upkeep.  Not safe for threads by itself: the store's lock
is around every call.  Must not know which values are worth an index.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Generic, Protocol, TypeVar

from reflet.api.meta import KubernetesObject
from reflet.store.keys import split_key

T = TypeVar("T", bound=KubernetesObject)
T_contra = TypeVar("T_contra", bound=KubernetesObject, contravariant=True)

IndexFunction = Callable[[T], Iterable[str]]
"""The values of an object: any number of them."""

NAMESPACE = "namespace"
"""The name of the index that every store of namespaced objects has."""


class Index(Protocol[T_contra]):
    """Keeps value → keys true while objects come, change and go."""

    def change(self, key: str, old: T_contra | None, new: T_contra | None) -> None:
        """The object at *key* was *old* (None: absent) and is *new* (None: gone)."""
        ...

    def rebuild(self, items: Mapping[str, T_contra]) -> None:
        """Forget everything and index *items*."""
        ...

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
    """Namespace → keys.  An update never moves an object, so it costs nothing."""

    def __init__(self) -> None:
        self._keys: dict[str, dict[str, None]] = {}

    def change(self, key: str, old: KubernetesObject | None, new: KubernetesObject | None) -> None:
        """Note an arrival or a departure."""
        if old is None:
            if new is not None:
                self._keys.setdefault(split_key(key)[0], {})[key] = None
        elif new is None:
            _discard(self._keys, split_key(key)[0], key)

    def rebuild(self, items: Mapping[str, KubernetesObject]) -> None:
        """Start over."""
        self._keys = {}
        for key in items:
            self._keys.setdefault(split_key(key)[0], {})[key] = None

    def values_of(self, key: str, item: KubernetesObject) -> Iterable[str]:  # noqa: ARG002 - protocol
        """The object's namespace, empty where there is none."""
        return (split_key(key)[0],)

    def keys(self, value: str) -> Iterable[str]:
        """The keys of one namespace."""
        return self._keys.get(value, ())

    def values(self) -> Iterable[str]:
        """Every namespace that has an object."""
        return self._keys


class FunctionIndex(Generic[T]):
    """Values by a function of the object."""

    def __init__(self, name: str, function: IndexFunction[T]) -> None:
        self._name = name
        self._function = function
        self._keys: dict[str, dict[str, None]] = {}

    def change(self, key: str, old: T | None, new: T | None) -> None:
        """Move the key from the old object's values to the new one's."""
        before = () if old is None else self.values_of(key, old)
        after = () if new is None else self.values_of(key, new)
        if before == after:
            return
        for value in before:
            if value not in after:
                _discard(self._keys, value, key)
        for value in after:
            self._keys.setdefault(value, {})[key] = None

    def rebuild(self, items: Mapping[str, T]) -> None:
        """Start over."""
        self._keys = {}
        for key, item in items.items():
            for value in self.values_of(key, item):
                self._keys.setdefault(value, {})[key] = None

    def values_of(self, key: str, item: T) -> tuple[str, ...]:
        """The values of one object; a function that fails is a mistake in the program."""
        try:
            return tuple(self._function(item))
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
