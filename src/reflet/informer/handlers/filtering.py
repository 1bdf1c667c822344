"""A handler that hears only of objects it cares about.

Owns: what a change means to somebody who sees a part of the collection.  Must not know who calls
the handler.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar, assert_never, cast

import msgspec

from reflet.api.meta import KubernetesObject
from reflet.informer.handlers.changes import Change
from reflet.informer.handlers.registration import Handler, is_asynchronous

T = TypeVar("T", bound=KubernetesObject)


def filtered(predicate: Callable[[T], bool], handler: Handler[T]) -> Handler[T]:
    """A handler that tells *handler* about objects for which *predicate* holds.

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
