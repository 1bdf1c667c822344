"""When handlers are told the present state again: each handler's own resync period.

Pure: the time comes in.  In client-go this is a part of each processorListener.

Upstream: client-go/tools/cache/shared_informer.go, shouldResync and determineResyncPeriod
"""

from __future__ import annotations

import logging
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

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
