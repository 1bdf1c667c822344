"""When "at once" is too soon.

Owns: the rules that keep a reflector from hammering a server whose streams end quickly, or whose
history is always gone.  Pure: whoever asks does the waiting.
"""

from __future__ import annotations

import enum
import math
from typing import Final

from reflet.informer.watch_endings import SHORTEST_HONEST_WATCH


class Pause(enum.Enum):
    """How long to wait before the next watch."""

    NONE = enum.auto()
    REST_OF_A_SECOND = enum.auto()
    """Until a second after the last watch began."""
    BACKOFF = enum.auto()
    """As long as the back-off says."""


class Pacing:
    """Watches one series of watches.

    The first stream that ends within a second is followed at once: servers restart.  Those
    right after it are not: when the version moved, data flows and one watch a second is enough
    to keep up; when it did not, the server is not well.
    """

    __slots__ = ("_short_in_a_row",)

    def __init__(self) -> None:
        self._short_in_a_row = 0

    def after(self, *, lasted: float, moved: bool) -> Pause:
        """Say how to wait after a stream of *lasted* seconds; *moved* says the version did."""
        if lasted >= SHORTEST_HONEST_WATCH:
            self._short_in_a_row = 0
            return Pause.NONE
        self._short_in_a_row += 1
        if self._short_in_a_row == 1:
            return Pause.NONE
        return Pause.REST_OF_A_SECOND if moved else Pause.BACKOFF


ONE_EXPIRY_IN: Final = 60.0
"""Seconds in which one 410 is normal.  Histories are compacted every five minutes."""


class Expiries:
    """Whether a new list may follow a 410 at once.

    The first one is no fault: after a restart of the server every watch is told that its version
    is gone, and waiting for as long as the outage made everybody patient is most of the time for
    which client-go's caches stay stale.  A second one soon after it is a server whose lists are
    older than its watches, and must not be hammered.
    """

    __slots__ = ("_last",)

    def __init__(self) -> None:
        self._last = -math.inf

    def may_list_at_once(self, now: float) -> bool:
        """A version has expired *now*, in seconds of a clock that does not go back."""
        soon = now - self._last < ONE_EXPIRY_IN
        self._last = now
        return not soon
