"""What handlers are told, what a handler is, and one that hears only of some objects.

A ``Handler`` is client-go's ResourceEventHandler as one function: OnAdd, OnUpdate and OnDelete are
the ``type`` of the ``Change``, and ``stale`` says what DeletedFinalStateUnknown does.

Upstream: client-go/tools/cache/controller.go, ResourceEventHandler,
FilteringResourceEventHandler
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from typing import Generic, TypeAlias, TypeVar, assert_never, cast

import msgspec

from reflet.api.meta import KubernetesObject
from reflet.store.deltas import ChangeType
from reflet.store.keys import key_of

T = TypeVar("T", bound=KubernetesObject)


class Change(msgspec.Struct, Generic[T], frozen=True, gc=False):
    """An object came, changed or went; the store shows it already.

    - *type*: ``ADDED``, ``UPDATED`` or ``DELETED``
    - *object*: the object; of a stale deletion, its last known state
    - *old*: the state that an update replaced or a deletion ended; None if there was none, or it
      is not known
    - *initial*: whether the object was there when the informer, or the handler, began
    - *stale*: whether a deletion was missed and noticed later, or the transform cannot digest what
      the object has become
    """

    type: ChangeType
    object: T
    old: T | None = None
    initial: bool = False
    stale: bool = False

    @property
    def key(self) -> str:
        """``namespace/name``, or ``name``."""
        return key_of(self.object)

    @property
    def is_resync(self) -> bool:
        """Nothing changed: the present state is given again."""
        old = self.old
        if old is None or self.type != "UPDATED":
            return False
        version = self.object.metadata.resource_version
        # Without a version, which a transform may have left out, the contents decide.
        return old.metadata.resource_version == version and (version != "" or old == self.object)


Handler: TypeAlias = Callable[[Change[T]], Awaitable[None] | None]
"""A function, or a coroutine function, that is called with one change at a time."""


def is_asynchronous(handler: Handler[T]) -> bool:
    """Whether calling *handler* makes a coroutine: a coroutine function, or an object like one."""
    call = getattr(handler, "__call__", None)  # noqa: B004 - an object with an async __call__
    return inspect.iscoroutinefunction(handler) or inspect.iscoroutinefunction(call)


def filtered(predicate: Callable[[T], bool], handler: Handler[T]) -> Handler[T]:
    """A handler that calls *handler* for objects for which *predicate* holds.

    An object that begins to pass is an addition, one that no longer passes a deletion, with the
    last state that passed.  The predicate looks at nothing but the object: its answers for one
    state must not change.
    """
    if is_asynchronous(handler):

        async def tell_later(change: Change[T]) -> None:
            passed = passed_change(change, predicate)
            if passed is not None:
                await cast("Awaitable[None]", handler(passed))

        return _named_after(handler, tell_later)

    def tell(change: Change[T]) -> Awaitable[None] | None:
        passed = passed_change(change, predicate)
        return None if passed is None else handler(passed)

    return _named_after(handler, tell)


def passed_change(change: Change[T], predicate: Callable[[T], bool]) -> Change[T] | None:
    """What *change* is to somebody who sees only objects that pass; None when it is nothing."""
    old = change.old
    match change.type:
        case "ADDED":
            return change if predicate(change.object) else None
        case "DELETED":
            # Who knew the object must hear that it is gone, however it looked in the end.
            if predicate(change.object) or (old is not None and predicate(old)):
                return change
            return None
        case "UPDATED":
            passes = predicate(change.object)
            if old is None or not predicate(old):
                return msgspec.structs.replace(change, type="ADDED", old=None) if passes else None
            if passes:
                return change
            return msgspec.structs.replace(change, type="DELETED", object=old)
        case _:
            assert_never(change.type)


def _named_after(handler: Handler[T], wrapped: Handler[T]) -> Handler[T]:
    """Logs and metrics speak of the handler, not of its wrapping."""
    name = getattr(handler, "__qualname__", type(handler).__qualname__)
    wrapped.__qualname__ = name
    return wrapped
