"""Which keys a change concerns: what a controller watches beside its own objects.

A ``Trigger`` is a mirror, a way from its objects to keys, and a predicate that leaves changes out.
An update concerns the keys of both states: an object that changes hands is work for two owners.

Upstream: controller-runtime/pkg/handler/enqueue_owner.go, enqueue_mapped.go; pkg/predicate
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final, Generic, Protocol, TypeAlias, TypeVar

from reflet.api.meta import KubernetesObject
from reflet.api.resources import Resource
from reflet.api.selectors.labels import LabelSelector
from reflet.informer.handlers.changes import Change
from reflet.informer.mirror import Mirror
from reflet.store.keys import key_of, namespace_of

T = TypeVar("T", bound=KubernetesObject)
T_co = TypeVar("T_co", bound=KubernetesObject, covariant=True)

KeysOf: TypeAlias = Callable[[T], Iterable[str]]
"""From an object to the keys of what has to be worked on when it changes."""
Predicate: TypeAlias = Callable[[Change[T]], bool]
"""Whether a change is worth any work."""


class WaitingMirror(Protocol[T_co]):
    """The face of a mirror for programs without an event loop: ``BlockingMirror`` is one."""

    @property
    def asynchronous(self) -> Mirror[Any]:
        """The mirror behind it."""
        ...


AnyMirror: TypeAlias = Mirror[T] | WaitingMirror[T]
"""A mirror, or the face of one."""


def mirror_behind(mirror: AnyMirror[T]) -> Mirror[T]:
    """The mirror itself."""
    return mirror if isinstance(mirror, Mirror) else mirror.asynchronous


USUAL: Final = 0
LOW: Final = -100
"""The priority of what nobody has just changed: the first list, and what is told again."""


@dataclass(frozen=True)  # with slots, Python 3.11 cannot make a Trigger[ConfigMap](…)
class Trigger(Generic[T]):
    """Changes of *mirror* are work for *keys_of* its objects.

    One that is *optional* may be of a kind that is not installed yet: the work begins without it,
    and follows when it comes.

    - *predicate*: which changes count; None is all
    """

    mirror: Mirror[T]
    keys_of: KeysOf[T]
    predicate: Predicate[T] | None = None
    optional: bool = False

    def keys(self, change: Change[T]) -> list[str]:
        """The keys that *change* concerns, each once."""
        if self.predicate is not None and not self.predicate(change):
            return []
        keys = list(self.keys_of(change.object))
        if change.old is not None:
            keys += self.keys_of(change.old)
        return keys if len(keys) < 2 else list(dict.fromkeys(keys))


def priority_of(change: Change[Any]) -> int:
    """What somebody has just changed comes first."""
    return LOW if change.initial or change.is_resync else USUAL


def itself(mirror: AnyMirror[T], *, predicate: Predicate[T] | None = None) -> Trigger[T]:
    """An object is work for its own key."""
    return Trigger(mirror_behind(mirror), lambda item: (key_of(item),), predicate)


def owned(
    mirror: AnyMirror[T],
    by: Resource | AnyMirror[Any],
    *,
    any_owner: bool = False,
    predicate: Predicate[T] | None = None,
    optional: bool = False,
) -> Trigger[T]:
    """An object is work for its controller, if that is a *by*; with *any_owner* for every owner.

    *by* is a resource, or the mirror of one.
    """

    def owners(item: T) -> Iterable[str]:
        # Asked each time: a custom resource is known once its mirror has found it.
        owning = by if isinstance(by, Resource) else mirror_behind(by).resource
        for reference in item.metadata.owner_references:
            group = reference.api_version.rpartition("/")[0]
            if (group, reference.kind) != (owning.group, owning.kind):
                continue
            if any_owner or reference.controller:
                namespace = item.metadata.namespace if owning.namespaced else ""
                yield f"{namespace}/{reference.name}" if namespace else reference.name

    return Trigger(mirror_behind(mirror), owners, predicate, optional)


def indexed(
    mirror: AnyMirror[T],
    primary: AnyMirror[Any],
    index: str,
    *,
    predicate: Predicate[T] | None = None,
    optional: bool = False,
) -> Trigger[T]:
    """An object is work for those of *primary* that have its key in *index*.

    The index function of *primary* gives the keys of what its objects use: a Deployment the
    ConfigMaps that it names, as ``namespace/name``.
    """

    def users(item: T) -> Iterable[str]:
        return map(key_of, mirror_behind(primary).by_index(index, key_of(item)))

    return Trigger(mirror_behind(mirror), users, predicate, optional)


def mapped(
    mirror: AnyMirror[T],
    keys_of: KeysOf[T],
    *,
    predicate: Predicate[T] | None = None,
    optional: bool = False,
) -> Trigger[T]:
    """An object is work for whatever keys *keys_of* gives."""
    return Trigger(mirror_behind(mirror), keys_of, predicate, optional)


# Predicates


def generation_changed(change: Change[Any]) -> bool:
    """Leave out updates of nothing but status and metadata; what comes and goes is let through."""
    if change.type != "UPDATED" or change.old is None:
        return True
    return bool(change.object.metadata.generation != change.old.metadata.generation)


def version_changed(change: Change[Any]) -> bool:
    """Leave out resyncs: updates with an equal version."""
    return not change.is_resync


def labelled(selector: str) -> Predicate[Any]:
    """Leave out objects whose labels do not match, unless they matched before.

    - *selector*: label selector, such as ``app=web``
    """
    wanted = LabelSelector.parse(selector)

    def matches(change: Change[Any]) -> bool:
        states = (change.object, change.old)
        return any(state is not None and wanted.matches(state.metadata.labels) for state in states)

    return matches


def in_namespaces(*namespaces: str) -> Predicate[Any]:
    """Leave out what is in other namespaces.

    - *namespaces*: the namespaces to keep
    """
    wanted = frozenset(namespaces)
    return lambda change: namespace_of(change.key) in wanted


def all_of(*predicates: Predicate[T]) -> Predicate[T]:
    """Let through what all of them let through."""
    return lambda change: all(each(change) for each in predicates)


def any_of(*predicates: Predicate[T]) -> Predicate[T]:
    """Let through what one of them lets through."""
    return lambda change: any(each(change) for each in predicates)
