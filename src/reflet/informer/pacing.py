"""When "at once" is too soon.

Owns: the rule that keeps a reflector from hammering a server whose streams end quickly.  Pure:
whoever asks does the waiting.  Must not know why streams end.
"""

from __future__ import annotations

import enum

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
