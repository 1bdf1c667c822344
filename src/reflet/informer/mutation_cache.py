"""Reading one's own writes before the watch brings them back.

Of two states of an object the one with the newer ``resourceVersion`` counts.

Upstream: client-go/tools/cache/mutation_cache.go, MutationCache
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from reflet.api.meta import KubernetesObject
from reflet.api.resource_versions import number_of
from reflet.runtime.clock import Clock, SystemClock
from reflet.store.keys import key_of
from reflet.store.store import Store

T = TypeVar("T", bound=KubernetesObject)

WRITES_KEPT: Final = 100
TIME_TO_LIVE: Final = 60.0  # seconds; a watch that is further behind has other problems


@dataclass(frozen=True, slots=True)
class _Write(Generic[T]):
    object: T
    until: float


class MutationCache(Generic[T]):
    """A store's objects, or what this program wrote since, whichever is newer.

    ::

        written = await config_maps.replace(changed)
        cache.wrote(written)
        assert cache.get(key) is written            # the watch may take a moment longer

    Keeps the last *size* writes, each for *time_to_live* seconds, and drops one as soon as the
    store has caught up with it.  Versions are compared as the numbers they are on every
    Kubernetes server; where they are none, the store wins.  With *include_adds* objects that the
    store does not have count too: an object that somebody else deletes right after it was
    written may then be seen until its time is over.  May be used from any thread.

    - *store*: what a watch keeps current
    """

    def __init__(
        self,
        store: Store[T],
        *,
        size: int = WRITES_KEPT,
        time_to_live: float = TIME_TO_LIVE,
        include_adds: bool = False,
        clock: Clock | None = None,
    ) -> None:
        self._store = store
        self._size = size
        self._time_to_live = time_to_live
        self._include_adds = include_adds
        self._clock = clock or SystemClock()
        self._lock = threading.Lock()
        self._writes: OrderedDict[str, _Write[T]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._writes)

    def wrote(self, item: T) -> None:
        """Remember what the server answered to a write."""
        key = key_of(item)
        with self._lock:
            self._writes[key] = _Write(item, self._clock.monotonic() + self._time_to_live)
            self._writes.move_to_end(key)
            while len(self._writes) > self._size:
                self._writes.popitem(last=False)

    def get(self, key: str) -> T | None:
        """The newest known state of the object at *key*."""
        with self._lock:
            return self._newer(key, self._store.get(key))

    def by_index(self, name: str, value: str) -> list[T]:
        """The objects whose newest known state has *value* in the index *name*."""
        with self._lock:
            stored = {key_of(item): item for item in self._store.by_index(name, value)}
            found = [self._newer(key, item) for key, item in stored.items()]
            # A write may have given the value to objects that do not have it in the store.
            for key in [key for key in self._writes if key not in stored]:
                found.append(self._newer(key, self._store.get(key)))  # noqa: PERF401 - it drops
            return [
                item
                for item in found
                if item is not None and value in self._store.index_values_of(name, item)
            ]

    def _newer(self, key: str, stored: T | None) -> T | None:
        """The newer of the store's state and the write; forgets a write that is not."""
        write = self._writes.get(key)
        if write is None:
            return stored
        if write.until <= self._clock.monotonic():
            del self._writes[key]
            return stored
        if stored is None:
            return write.object if self._include_adds else None
        if _is_newer(write.object, stored):
            self._writes.move_to_end(key)
            return write.object
        del self._writes[key]
        return stored


def _is_newer(written: KubernetesObject, stored: KubernetesObject) -> bool:
    ours = number_of(written.metadata.resource_version)
    theirs = number_of(stored.metadata.resource_version)
    return ours is not None and theirs is not None and ours > theirs
