"""Registered pods, and the references to objects that follow from them.

Upstream: pkg/kubelet/util/manager/cache_based_manager.go, cacheBasedManager: RegisterPod and
UnregisterPod, which both the caching and the watching managers of the kubelet use
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol

import msgspec

from reflet.api.core.pods import Pod


class PodKey(msgspec.Struct, frozen=True, gc=False, cache_hash=True):
    """A pod and no other: one of the same name that comes later has another *uid*."""

    namespace: str
    name: str
    uid: str

    @classmethod
    def of(cls, pod: Pod) -> PodKey:
        """The key of *pod*."""
        metadata = pod.metadata
        return cls(metadata.namespace, metadata.name, metadata.uid)


class ReferenceStore(Protocol):
    """Whoever has to know that an object is referred to."""

    def add_reference(self, namespace: str, name: str, referrer: str, /) -> None:
        """One reference more."""
        ...

    def delete_reference(self, namespace: str, name: str, referrer: str, /) -> None:
        """One reference less."""
        ...


class PodRegistry:
    """Turns pods into references.

    A pod counts once for each name, however often it mentions it.  Registering a pod again
    applies the difference; the same pod twice, and unregistering an unknown one, changes
    nothing.  What a pod referred to when it was registered decides what is given back, not
    what the pod at hand says.

    *names_of* gives the names that a pod mentions.  Never waits.  Belongs to one thread.
    """

    def __init__(self, store: ReferenceStore, names_of: Callable[[Pod], Iterable[str]]) -> None:
        self._store = store
        self._names_of = names_of
        # Dictionaries, because names and pods are told in the order in which they came.
        self._names: dict[PodKey, dict[str, None]] = {}
        self._users: dict[tuple[str, str], dict[PodKey, None]] = {}

    def __len__(self) -> int:
        """How many pods are registered."""
        return len(self._names)

    def __contains__(self, pod: object) -> bool:
        return (PodKey.of(pod) if isinstance(pod, Pod) else pod) in self._names

    def register(self, pod: Pod) -> None:
        """Add the references that are new, and delete those that went away."""
        names = dict.fromkeys(self._names_of(pod))
        key = PodKey.of(pod)
        before = self._names.get(key, {})
        self._names[key] = names
        for name in names:
            if name not in before:
                self._users.setdefault((key.namespace, name), {})[key] = None
                self._store.add_reference(key.namespace, name, key.uid)
        if before:
            self._release(key, [name for name in before if name not in names])

    def unregister(self, pod: Pod) -> None:
        """Delete every reference of the pod."""
        key = PodKey.of(pod)
        self._release(key, self._names.pop(key, ()))

    def pods_using(self, namespace: str, name: str) -> tuple[PodKey, ...]:
        """The registered pods that refer to an object."""
        return tuple(self._users.get((namespace, name), ()))

    def _release(self, key: PodKey, names: Iterable[str]) -> None:
        for name in names:
            users = self._users[key.namespace, name]
            del users[key]
            if not users:
                del self._users[key.namespace, name]
            self._store.delete_reference(key.namespace, name, key.uid)
