"""What an object is called in memory: keys, and the tombstones of objects whose end was not seen.

Upstream: client-go/tools/cache/store.go, MetaNamespaceKeyFunc, SplitMetaNamespaceKey, KeyError;
client-go/tools/cache/delta_fifo.go, DeletedFinalStateUnknown
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from reflet.api.meta import KubernetesObject
from reflet.errors import RefletError

T = TypeVar("T", bound=KubernetesObject)


class KeyFailure(RefletError):
    """An object has no key; ``object`` is the one, ``__cause__`` says why.

    - *item*: the object
    - *cause*: why
    """

    def __init__(self, item: object, cause: BaseException) -> None:
        super().__init__(f"couldn't create key for object {item!r}: {cause}")
        self.object = item


class KeyFormatError(RefletError):
    """A text is not a key."""


@dataclass(frozen=True)  # with slots, Python 3.11 cannot make a Tombstone[ConfigMap](…)
class Tombstone(Generic[T]):
    """The object at *key* was deleted, and the deletion was missed.

    *object* is the last state that was known: it may be old, and None when not even that is
    known.  client-go calls this DeletedFinalStateUnknown.
    """

    key: str
    object: T | None


@dataclass(frozen=True, slots=True)
class ExplicitKey:
    """Stands where an object is expected and only its key is known.

    - *key*: ``namespace/name``, or ``name``
    """

    key: str


def key_of(item: KubernetesObject | ExplicitKey) -> str:
    """``namespace/name``, or ``name`` for what has no namespace.

    - *item*: the object, or its key
    """
    if isinstance(item, ExplicitKey):
        return item.key
    try:
        metadata = item.metadata
    except AttributeError as error:
        raise RefletError(f"object has no meta: {error}") from error
    namespace = metadata.namespace
    return f"{namespace}/{metadata.name}" if namespace else metadata.name


def key_of_deleted(item: KubernetesObject | ExplicitKey | Tombstone[Any]) -> str:
    """The key of an object, or that which its tombstone carries.

    - *item*: the object, its key, or its tombstone
    """
    return item.key if isinstance(item, Tombstone) else key_of(item)


def split_key(key: str) -> tuple[str, str]:
    """Namespace and name of a key; the namespace is empty where there is none.

    - *key*: ``namespace/name``, or ``name``
    """
    match key.split("/"):
        case [name]:
            return "", name
        case [namespace, name]:
            return namespace, name
        case _:
            raise KeyFormatError(f'unexpected key format: "{key}"')


def namespace_of(key: str) -> str:
    """The namespace of a key, whatever the key looks like; empty where there is none.

    - *key*: ``namespace/name``, or ``name``
    """
    return key.rpartition("/")[0]


def within(namespace: str, objects: Mapping[str, T]) -> dict[str, T]:
    """Those of *objects*, by key, that are in *namespace*."""
    return {key: item for key, item in objects.items() if namespace_of(key) == namespace}
