"""When a program that ended may start again: the kubelet's rule against crash loops.

The first restart is at once, then 10 s, 20 s, 40 s … up to 5 minutes after an end, and from the
beginning again once a program has run for 10 minutes.  Pure: moments are handed in.

Upstream: pkg/kubelet/kuberuntime/kuberuntime_manager.go, doBackOff
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

FIRST: Final = 10.0  # seconds
CEILING: Final = 300.0  # seconds
FORGIVEN_AFTER: Final = 2  # ceilings between a restart and the next end


@dataclass(frozen=True, slots=True)
class CrashBackoff:
    """What a program's past restarts say about its next one.

    All moments are seconds of one clock.  ``delay`` is what has to pass after the next end;
    ``restarted_at`` is the last restart, None before the first.  Starting a program for the
    first time is not a restart, and neither is one that is wanted for other reasons.
    """

    first: float = FIRST
    ceiling: float = CEILING
    delay: float = 0.0
    restarted_at: float | None = None

    def left(self, *, ended_at: float, now: float) -> float:
        """Return the seconds until it may start again, 0 for now."""
        if self._is_forgiven(ended_at):
            return 0.0
        return max(0.0, ended_at + self.delay - now)

    def restarted(self, *, ended_at: float, now: float) -> CrashBackoff:
        """What is known after a restart at ``now`` that followed the end at ``ended_at``."""
        if self._is_forgiven(ended_at):
            return replace(self, delay=min(self.first, self.ceiling), restarted_at=now)
        return replace(self, delay=min(self.delay * 2, self.ceiling), restarted_at=now)

    def _is_forgiven(self, ended_at: float) -> bool:
        if self.restarted_at is None:
            return True
        return ended_at - self.restarted_at > FORGIVEN_AFTER * self.ceiling
