"""The parts of an informer's store, each filled by a reflector of its own.

An informer of one collection has one part.  One of several namespaces, where a program may not list
all of them, has one for each: a list of one namespace replaces that namespace alone, so that store,
indexes and handlers are those of a single informer.

Upstream: controller-runtime/pkg/cache/multi_namespace_cache.go (an informer and a store for each
namespace there)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Generic, TypeVar

from reflet.api.meta import KubernetesObject
from reflet.errors import ConfigurationError
from reflet.informer.reflector.source import Source
from reflet.store.deltas import Delta, Replaced, Resynced
from reflet.store.keys import within
from reflet.store.store import Store

T = TypeVar("T", bound=KubernetesObject)


class Part(Generic[T]):
    """What one reflector fills: all of *store*, or one *namespace*.  Is a ``Sink`` and a ``Held``.

    What comes is handed to *take*.  ``was_filled`` and ``failure`` are kept by who owns the parts:
    whether a list has come, and what the reflector met last, None when it has recovered.
    """

    def __init__(
        self, namespace: str | None, store: Store[T], take: Callable[[Part[T], Delta[T]], None]
    ) -> None:
        self.namespace = namespace
        self.was_filled = False
        self.failure: Exception | None = None
        self._store = store
        self._take = take
        self._version = ""

    def apply(self, delta: Delta[T], /) -> None:
        """Take what the reflector learned of this part."""
        if self.namespace is not None and isinstance(delta, Replaced):
            self._refuse_others(delta.items)
            delta = Replaced(delta.items, delta.version, self.namespace)
        self._take(self, delta)
        if not isinstance(delta, Resynced):
            self._version = self._store.version

    def snapshot(self) -> tuple[Mapping[str, T], str]:
        """Everything of this part by key, and the server's version that this shows."""
        objects, version = self._store.snapshot()
        if self.namespace is None:
            return objects, version
        return within(self.namespace, objects), self._version

    def _refuse_others(self, items: Sequence[T]) -> None:
        """A custom resource is known to have no namespaces only when its objects have come."""
        for item in items:
            if item.metadata.namespace != self.namespace:
                raise ConfigurationError(
                    f"{item.metadata.name!r} is not in namespace {self.namespace!r}: objects that "
                    "have no namespace cannot be mirrored by namespace"
                )


def sources_by_namespace(
    source: Source[T] | Mapping[str, Source[T]], queue: str
) -> Mapping[str | None, Source[T]]:
    """What fills each part; ConfigurationError for what cannot be put together."""
    if not isinstance(source, Mapping):
        return {None: source}
    if not source:
        raise ConfigurationError("no namespace is given: name at least one")
    if queue != "ordered":
        raise ConfigurationError(f"a queue of kind {queue!r} cannot take several namespaces")
    return {namespace: each for namespace, each in source.items()}  # noqa: C416 - keys may be None


def oldest(versions: Sequence[str]) -> str:
    """The version up to which all are: empty while one knows nothing."""
    return min(versions, key=lambda version: (len(version), version))
