"""The handlers of one informer: who is told what, and whose resync is due.

client-go calls it sharedProcessor.  ``ResyncPlan`` decides whose turn it is to hear the present
state again, and is pure: the time comes in.

Upstream: client-go/tools/cache/shared_informer.go, sharedProcessor, shouldResync
"""

from __future__ import annotations

import logging
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from reflet.api.meta import KubernetesObject
from reflet.informer.handlers.changes import Change
from reflet.informer.handlers.registration import Registration

T = TypeVar("T", bound=KubernetesObject)


Member = TypeVar("Member", bound=Hashable)

SHORTEST_PERIOD: Final = 1.0  # seconds; a handler that asks for less gets this

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class _Turn:
    wanted: float
    period: float = 0.0
    next: float = 0.0
    # Everybody is told about everything until the first check has happened.
    in_round: bool = True


class ResyncPlan(Generic[Member]):
    """Whose turn it is to be told everything again.

    *check_every* is how often the informer looks; 0 means never, for anybody.  It is also the
    period of handlers that do not ask for one.  A handler that joins before the start may shorten
    it; one that joins later is told no more often than that.
    """

    def __init__(self, check_every: float) -> None:
        self.check_every = self._inherited = check_every
        self._turns: dict[Member, _Turn] = {}

    def join(self, member: Member, wanted: float | None, *, started: bool, now: float) -> float:
        """A handler asks for a period, 0 for none, None for the informer's; the one it gets."""
        if wanted is None:
            wanted = self._inherited
        if 0 < wanted < SHORTEST_PERIOD:
            logger.warning("a resync period of %g s is too short: it becomes 1 s", wanted)
            wanted = SHORTEST_PERIOD
        if wanted and not self.check_every:
            logger.warning("the informer never resyncs, so a handler cannot ask for it")
            wanted = 0.0
        turn = self._turns[member] = _Turn(wanted)
        if wanted and wanted < self.check_every and not started:
            self.check_every = wanted
            for other in self._turns.values():
                self._settle(other, now)
        self._settle(turn, now)
        return turn.period

    def leave(self, member: Member) -> None:
        """A handler is gone."""
        self._turns.pop(member, None)

    def in_round(self, member: Member) -> bool:
        """Whether the handler is to be told what did not change."""
        turn = self._turns.get(member)
        return turn is not None and turn.in_round

    def check(self, now: float) -> bool:
        """Decide whose turn it is; whether it is anybody's."""
        anybody = False
        for turn in tuple(self._turns.values()):
            turn.in_round = turn.period > 0 and now >= turn.next
            if turn.in_round:
                anybody = True
                turn.next = now + turn.period
        return anybody

    def _settle(self, turn: _Turn, now: float) -> None:
        never = not turn.wanted or not self.check_every
        turn.period = 0.0 if never else max(turn.wanted, self.check_every)
        turn.next = now + turn.period


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
