"""How often one peer may cause work elsewhere.

Owns: a bucket for each peer, which is full at first, and fills again with time.  Only computes.
Must not know what is asked, nor what a peer is.
"""

from __future__ import annotations

from typing import Final

from reflet.runtime.clock import Clock

BURST: Final = 30
EVERY: Final = 0.2  # seconds in which one more comes
DIGITS: Final = 6  # of seconds: sums of fractions are not quite what they should be
MOST_PEERS: Final = 1024  # who are remembered; whoever has not asked for longest is forgotten


class PeerBuckets:
    """Lets each peer take *burst* at once, and one more *every* so many seconds."""

    def __init__(self, *, clock: Clock, burst: int = BURST, every: float = EVERY) -> None:
        self._clock = clock
        self._burst = burst
        self._every = every
        self._full_at: dict[str, float] = {}  # when a bucket will be full again

    def __len__(self) -> int:
        return len(self._full_at)

    def take(self, peer: str) -> float:
        """Take one and return 0; where there is none, return the seconds until there is one."""
        now = self._clock.monotonic()
        full_at = max(now, self._full_at.pop(peer, now)) + self._every
        wait = round(full_at - now - self._burst * self._every, DIGITS)
        self._full_at[peer] = full_at - self._every if wait > 0 else full_at
        if len(self._full_at) > MOST_PEERS:
            del self._full_at[next(iter(self._full_at))]
        return max(0.0, wait)
