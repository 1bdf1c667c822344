"""What a manager needs of a server: one object, or a collection to list and watch.

Owns: the two shapes.  ``reflet.client`` fits them without knowing them, and so can any other
client.  Must not know HTTP, JSON or who asks.
"""

from __future__ import annotations

from typing import Protocol, TypeVar

from reflet.api.meta import KubernetesObject
from reflet.api.options import GetOptions
from reflet.informer.source import Source

T = TypeVar("T", bound=KubernetesObject)


class ObjectClient(Source[T], Protocol[T]):
    """The objects of one kind in one namespace."""

    async def get(self, name: str, options: GetOptions, /) -> T:
        """The object called *name*; ApiError when the server refuses, NotFound for one."""
        ...


class ObjectServer(Protocol):
    """A server's objects, by kind and namespace; ``reflet.Cluster`` is one."""

    def resource(self, kind: type[T], *, namespace: str) -> ObjectClient[T]:
        """The objects of one kind, *namespace* ``*`` for all namespaces; asks for nothing yet."""
        ...
