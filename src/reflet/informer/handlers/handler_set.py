"""The handlers of one informer: who is told what.  client-go calls it sharedProcessor.

Upstream: client-go/tools/cache/shared_informer.go, sharedProcessor
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Generic, TypeVar

from reflet.api.meta import KubernetesObject
from reflet.informer.handlers.changes import Change
from reflet.informer.handlers.registration import Registration
from reflet.informer.handlers.resync import ResyncPlan

T = TypeVar("T", bound=KubernetesObject)


class HandlerSet(Generic[T]):
    """The registrations of one informer; *resync_every* is how often it looks who is due."""

    def __init__(self, resync_every: float) -> None:
        self.plan: ResyncPlan[Registration[T]] = ResyncPlan(resync_every)
        self._members: dict[Registration[T], None] = {}
        self._initial = True

    def __iter__(self) -> Iterator[Registration[T]]:
        return iter(tuple(self._members))

    def __len__(self) -> int:
        return len(self._members)

    def __contains__(self, member: object) -> bool:
        return member in self._members

    def join(self, member: Registration[T], present: Sequence[T]) -> None:
        """Tell *member* everything from now on, what is *present* first."""
        self._members[member] = None
        if present:
            member.tell_initial([Change("ADDED", item, initial=True) for item in present])
        if not self._initial:
            member.initial_complete()

    def leave(self, member: Registration[T]) -> None:
        """Tell *member* nothing more; harmless when it is none."""
        if member in self._members:
            del self._members[member]
            self.plan.leave(member)
            member.stop()

    def tell(self, changes: Sequence[Change[T]], /, *, repeated: bool) -> None:
        """Tell everybody what changed, and what is only repeated to those whose turn it is."""
        if not changes:
            return
        if self._initial:
            for member in tuple(self._members):
                member.tell_initial(changes)
            return
        if not repeated:
            for member in tuple(self._members):
                member.tell(changes)
            return
        changed = [change for change in changes if not change.is_resync]
        for member in tuple(self._members):
            told = changes if self.plan.in_round(member) else changed
            if told:
                member.tell(told)

    def initial_complete(self) -> None:
        """The first list has been told: later objects are news."""
        if self._initial:
            self._initial = False
            for member in tuple(self._members):
                member.initial_complete()
