"""From a reflector's deltas to the store and to those who follow: the store first, then they.

``Updater`` changes the store and tells what changed; ``replaced`` is where the deletions that a
watch missed are noticed, client-go's tombstones (DeletedFinalStateUnknown) on Replace: they are
told as ``stale``.  The two intakes are the two orders in which deltas reach it: in batches as they
came, or, as before Kubernetes 1.36, key by key through a ``DeltaFifo``.

Upstream: client-go/tools/cache/controller.go, processDeltas, processDeltasInBatch,
processReplacedAllInfo
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, Protocol, TypeVar, assert_never

from reflet.api.meta import KubernetesObject
from reflet.api.watch_events import WatchEvent
from reflet.errors import RefletError
from reflet.informer.handlers.changes import Change
from reflet.informer.queues.delta_fifo import DeltaFifo, DeltaType, QueuedDelta
from reflet.store.deltas import (
    Changed,
    Delta,
    Operation,
    Put,
    Remove,
    Replaced,
    Resynced,
    TransactionError,
)
from reflet.store.keys import Tombstone, key_of_deleted, within
from reflet.store.store import Note, Store
from reflet.store.transforms import Transform

T = TypeVar("T", bound=KubernetesObject)


class Tell(Protocol[T]):
    """Takes what changed, in order.

    *repeated* says that some of it is no change: the state that was known is told again.
    """

    def __call__(self, changes: Sequence[Change[T]], /, *, repeated: bool) -> None:
        """Tell whom it concerns."""
        ...


class BatchFailed(RefletError):
    """Some deltas of a batch were not carried out, and nobody was told of them."""

    def __init__(self, cause: TransactionError) -> None:
        super().__init__(f"not all items in the batch successfully processed: {cause}")
        self.successful = cause.successful
        self.__cause__ = cause


class Updater(Generic[T]):
    """Keeps a store up to date and tells what changed.  Nobody else writes to the store."""

    def __init__(self, store: Store[T], tell: Tell[T]) -> None:
        self._store = store
        self._tell = tell

    def changed(self, events: Sequence[WatchEvent[T]]) -> None:
        """Apply a batch of events, and tell what changed."""
        note: Note[T, Change[T]] = Change
        changes, repeated = self._store.change(events, note)
        self._tell(changes, repeated=repeated)

    def replaced(
        self, items: Sequence[T], version: str, *, initial: bool, namespace: str | None = None
    ) -> None:
        """Swap the whole collection; deletions are told first, then the rest in its order.

        What was there and is not in *items* was deleted unseen: its last state is told as stale,
        client-go's tombstone on Replace (processReplacedAllInfo).  With *namespace* the collection
        is that namespace, and nothing is told of the others.
        """
        before = self._store.replace(items, version, namespace=namespace)
        now, _ = self._store.snapshot()
        if namespace is not None:
            before, now = within(namespace, before), within(namespace, now)
        changes = [
            Change("DELETED", gone, gone, stale=True)
            for key, gone in before.items()
            if key not in now
        ]
        for key, item in now.items():
            old = before.get(key)
            if old is None:
                changes.append(Change("ADDED", item, initial=initial))
            else:
                changes.append(Change("UPDATED", item, old))
        self._tell(changes, repeated=True)

    def resynced(self) -> None:
        """Nothing changes; every object is told again."""
        changes = [Change("UPDATED", item, item) for item in self._store.objects()]
        self._tell(changes, repeated=True)

    def process(self, deltas: Sequence[QueuedDelta[T]], is_initial: bool, /) -> None:
        """Carry out what was popped from a queue: the store at once, then everybody is told.

        Deltas that the store refuses are not told; once the others are, BatchFailed is raised.
        """
        match deltas:
            case [QueuedDelta(type=DeltaType.REPLACED_ALL, items=items, version=version)]:
                self.replaced(items, version, initial=is_initial)
            case [QueuedDelta(type=DeltaType.SYNC_ALL)]:
                self.resynced()
            case [QueuedDelta(type=DeltaType.BOOKMARK, version=version)]:
                self._store.bookmark(version)
            case _:
                self._process_objects(deltas, is_initial=is_initial)

    def _process_objects(self, deltas: Sequence[QueuedDelta[T]], *, is_initial: bool) -> None:
        operations = [_operation(delta) for delta in deltas]
        state = self._states_of(operations)
        failure: BatchFailed | None = None
        carried_out: Sequence[Operation[T]] = operations
        try:
            self._store.transaction(operations)
        except TransactionError as error:
            failure = BatchFailed(error)
            carried_out = [operations[position] for position in error.successful]
        changes = []
        for operation in carried_out:
            key = key_of_deleted(operation.object)
            change = _change(operation, state.get(key), initial=is_initial)
            state[key] = operation.object if isinstance(operation, Put) else None
            if change is not None:
                changes.append(change)
        self._tell(changes, repeated=True)
        if failure is not None:
            raise failure

    def _states_of(self, operations: Sequence[Operation[T]]) -> dict[str, T | None]:
        """What the store has now of all that the operations are about."""
        states = {}
        for operation in operations:
            try:
                key = key_of_deleted(operation.object)
            except RefletError:
                continue  # the transaction reports it
            states[key] = self._store.get(key)
        return states


def _operation(delta: QueuedDelta[T]) -> Operation[T]:
    item = delta.object
    if item is None:
        raise RefletError(f"a delta of type {delta.type.value} cannot be part of a batch")
    if delta.type is DeltaType.DELETED or isinstance(item, Tombstone):
        return Remove(item)
    return Put(item)


def _change(operation: Operation[T], old: T | None, *, initial: bool) -> Change[T] | None:
    """What to tell of an operation; None when not even the last state of the object is known."""
    match operation:
        case Put(object=item):
            if old is None:
                return Change("ADDED", item, initial=initial)
            return Change("UPDATED", item, old)
        case Remove(object=item):
            if not isinstance(item, Tombstone):
                return Change("DELETED", item, old)
            last = item.object if item.object is not None else old
            return None if last is None else Change("DELETED", last, old, stale=True)
        case _:
            assert_never(operation)


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
            case Replaced(items=items, version=version, namespace=namespace):
                self._updater.replaced(items, version, initial=initial, namespace=namespace)
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
        """Bring *delta* into the store; a fifo knows no single namespace."""
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
