"""From a reflector's deltas to the store: in strict order, or key by key.

Owns: the two orders in which deltas reach the updater.  Must not know who is told.
"""

from __future__ import annotations

from typing import Generic, Literal, Protocol, TypeAlias, TypeVar, assert_never

from reflet.api.meta import KubernetesObject
from reflet.informer.queues.delta_fifo import DeltaFifo
from reflet.informer.updater import Updater
from reflet.store.deltas import Changed, Delta, Replaced, Resynced
from reflet.store.store import Store
from reflet.store.transforms import Transform

T = TypeVar("T", bound=KubernetesObject)

QueueKind: TypeAlias = Literal["ordered", "delta-fifo"]


class Intake(Protocol[T]):
    """Takes deltas, one after the other."""

    def take(self, delta: Delta[T], /, *, initial: bool) -> None:
        """Bring *delta* into the store; *initial* while no list has come before.

        An error is raised when everything that could be taken has been.
        """
        ...


class OrderedIntake(Generic[T]):
    """Batches as they came: a list, and a batch of events, is one change of the store."""

    def __init__(self, updater: Updater[T]) -> None:
        self._updater = updater

    def take(self, delta: Delta[T], /, *, initial: bool) -> None:
        """Bring *delta* into the store."""
        match delta:
            case Changed(events=events):
                self._updater.changed(events)
            case Replaced(items=items, version=version):
                self._updater.replaced(items, version, initial=initial)
            case Resynced():
                self._updater.resynced()
            case _:
                assert_never(delta)


class KeyedIntake(Generic[T]):
    """Through a DeltaFifo: what arrived together is taken key by key.

    *transform* changes objects before they are queued; the store then has none of its own.
    """

    def __init__(
        self, updater: Updater[T], store: Store[T], transform: Transform[T] | None = None
    ) -> None:
        self._updater = updater
        self._store = store
        self._fifo: DeltaFifo[T] = DeltaFifo(known=store, transform=transform, emit_replaced=True)

    def take(self, delta: Delta[T], /, *, initial: bool) -> None:  # noqa: ARG002 - the fifo knows
        """Bring *delta* into the store."""
        version = _version_after(delta, self._store.version)
        try:
            self._fifo.apply(delta)
        finally:
            while len(self._fifo):
                self._fifo.pop_now(self._updater.process)
        # The versions of single objects say nothing about the collection's.
        self._store.bookmark(version)


def _version_after(delta: Delta[T], before: str) -> str:
    match delta:
        case Changed(events=events):
            return events[-1].object.metadata.resource_version if events else before
        case Replaced(version=version):
            return version
        case Resynced():
            return before
        case _:
            assert_never(delta)
