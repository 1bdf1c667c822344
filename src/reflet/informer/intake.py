"""From a reflector's deltas to the store: in strict order, or key by key.

Owns: the transform on the way in, and the two orders in which deltas reach the updater.  Must
not know who is told.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, Literal, Protocol, TypeAlias, TypeVar, assert_never

from reflet.api.meta import KubernetesObject
from reflet.api.watch_events import WatchEvent
from reflet.errors import RefletError
from reflet.informer.delta_fifo import DeltaFifo
from reflet.informer.updater import Updater
from reflet.store.deltas import Changed, Delta, Replaced, Resynced
from reflet.store.store import Store, Transform

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
    """Through a DeltaFifo: what arrived together is taken key by key."""

    def __init__(self, updater: Updater[T], store: Store[T]) -> None:
        self._updater = updater
        self._store = store
        self._fifo: DeltaFifo[T] = DeltaFifo(known=store, emit_replaced=True)

    def take(self, delta: Delta[T], /, *, initial: bool) -> None:  # noqa: ARG002 - the fifo knows
        """Bring *delta* into the store."""
        failures: list[Exception] = []
        version = _version_after(delta, self._store.version)
        try:
            self._fifo.apply(delta)
        except Exception as error:  # noqa: BLE001 - raised below, once the rest is taken
            failures.append(error)
        while len(self._fifo):
            try:
                self._fifo.pop_now(self._updater.process)
            except Exception as error:  # noqa: BLE001 - the same
                failures.append(error)
        # The versions of single objects say nothing about the collection's.
        self._store.bookmark(version)
        raise_all(failures)


class TransformingIntake(Generic[T]):
    """Changes objects on their way to another intake."""

    def __init__(self, transform: Transform[T], intake: Intake[T]) -> None:
        self._transform = transform
        self._intake = intake

    def take(self, delta: Delta[T], /, *, initial: bool) -> None:
        """Hand on *delta*, transformed.

        Events that cannot be are left out; a list that cannot be is refused as a whole, because
        what is missing from a list counts as deleted.
        """
        failures: list[Exception] = []
        match delta:
            case Changed(events=events):
                delta = Changed(self._transformed_events(events, failures))
            case Replaced(items=items, version=version):
                delta = Replaced([self._transformed(item) for item in items], version)
            case Resynced():
                pass
            case _:
                assert_never(delta)
        try:
            self._intake.take(delta, initial=initial)
        except Exception as error:  # noqa: BLE001 - raised below with the others
            failures.append(error)
        raise_all(failures)

    def _transformed_events(
        self, events: Sequence[WatchEvent[T]], failures: list[Exception]
    ) -> list[WatchEvent[T]]:
        transformed = []
        for event in events:
            if event.type == "BOOKMARK":
                transformed.append(event)
                continue
            try:
                item = self._transformed(event.object)
            except RefletError as error:
                failures.append(error)
            else:
                transformed.append(WatchEvent(type=event.type, object=item))
        return transformed

    def _transformed(self, item: T) -> T:
        try:
            return self._transform(item)
        except Exception as error:
            raise RefletError(f"transforming: {error}") from error


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


def raise_all(failures: Sequence[Exception]) -> None:
    """Raise the failure, or all of them as a group."""
    if len(failures) == 1:
        raise failures[0]
    if failures:
        raise ExceptionGroup(f"{len(failures)} changes were not taken", failures)
