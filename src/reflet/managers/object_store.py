"""What is between a manager and the outside: the store of a strategy, and the server behind it.

``Configuration`` is what both have to do with: a ConfigMap or a Secret, as far as managers care.
``ObjectStore`` is what each strategy has to answer: references come and go, and objects are read.
``ObjectServer`` is what a strategy asks: one object, or a collection to list and watch.
``reflet.Cluster`` fits it without knowing it, and so can any other client.

Upstream: pkg/kubelet/util/manager/manager.go, Store
"""

from __future__ import annotations

from types import TracebackType
from typing import Protocol, Self, TypeVar

from reflet.api.meta import KubernetesObject
from reflet.api.options import GetOptions
from reflet.informer.reflector.source import Source
from reflet.managers.watches.stream_plan import StreamPlan


class Configuration(KubernetesObject, Protocol):
    """An object that can promise never to change."""

    @property
    def immutable(self) -> bool:
        """Whether its content can never change."""


C = TypeVar("C", bound=Configuration)
C_co = TypeVar("C_co", bound=Configuration, covariant=True)


class Follower(Protocol):
    """Who is told of changes by name: an ``ObjectChanges`` or a ``PodWaker``.

    One that is closed is told nothing, and keeps no stream open.
    """

    closed: bool

    def tell(self, namespace: str, name: str, /) -> None:
        """A read of this object gives another answer than before; must not wait."""
        ...

    def forget(self, namespace: str, name: str, /) -> None:
        """Nobody refers to this object any more."""
        ...

    def close(self) -> None:
        """The store is closed: nothing more will be told."""
        ...


class ObjectStore(Protocol[C_co]):
    """Objects that somebody refers to, while the context is open.

    References are counted: an object is kept as long as one is left.  Adding and deleting them
    never waits for anything.  All but ``peek`` belongs to the event loop.

    - *namespace*: namespace of the object
    - *name*: name of the object
    - *referrer*: UID of the pod that refers to it
    """

    async def __aenter__(self) -> Self: ...

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None: ...

    def add_reference(self, namespace: str, name: str, referrer: str, /) -> None:
        """The pod with the uid *referrer* refers to an object, once more."""
        ...

    def delete_reference(self, namespace: str, name: str, referrer: str, /) -> None:
        """The pod refers to the object once less; nothing happens when it does not at all."""
        ...

    async def get(self, namespace: str, name: str) -> C_co:
        """The object.

        Raises NotRegistered when nobody refers to it, CacheNotSynced when it is not known yet,
        NotFound when there is none, and what the server answers.
        """
        ...

    def peek(self, namespace: str, name: str) -> C_co:
        """The object as it is in memory, from any thread and without waiting.

        Raises what ``get`` raises, CacheNotSynced where that would wait or ask.
        """
        ...

    def follow(self, follower: Follower, /) -> None:
        """Report changes to *follower* until it is closed; ConfigurationError if there are none."""
        ...

    def plan(self) -> StreamPlan:
        """The streams that are open, and why."""
        ...


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
