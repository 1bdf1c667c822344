"""When nobody needs an object to be fresh.

Owns: how long an object may go unread before its stream is closed, and how often that is looked
at.  Must not know streams.

The kubelet closes the stream of an object that was never read at the first look after it came,
because it counts reads from the beginning of time.  Here being referred to counts as a read:
what a pod refers to is about to be read, and closing a stream to open it again a moment later
serves nobody.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

SYNC_FREQUENCY: Final = 60.0
"""Seconds between two looks of the kubelet at a pod, each of which reads the pod's volumes."""
LOOK_EVERY: Final = 60.0
SHORTEST_IDLE: Final = 60.0
MISSED_SYNCS: Final = 5
"""How many looks at its pods an object may be left out of: then only variables use it."""


@dataclass(frozen=True, slots=True)
class IdleRule:
    """Seconds that an object may go unread, and seconds between two looks for such objects."""

    longest: float
    look_every: float = LOOK_EVERY

    @classmethod
    def for_syncs_every(cls, seconds: float) -> IdleRule:
        """The kubelet's rule for a sync frequency."""
        return cls(max(SHORTEST_IDLE, MISSED_SYNCS * seconds))

    def is_idle(self, last_access: float, now: float) -> bool:
        """Whether what was last read at *last_access* has not been read for too long."""
        return last_access + self.longest < now


DEFAULT_IDLE_RULE: Final = IdleRule.for_syncs_every(SYNC_FREQUENCY)
