"""When "at once" is too soon.

Owns: the rules that keep a reflector from hammering a server whose streams end quickly, or whose
history is always gone.  Pure: whoever asks does the waiting.

How long a reflector waits before it asks again.

Owns: the one series of delays that all its waits share, and obeying a server that asks for
more.  Must not know what is waited for.

For how long a server's own failures are forgiven.

Owns: the window that opens with a first failure.  Pure: the caller brings the time.  Must not
know what failed.
"""

from __future__ import annotations

import enum
import math
from typing import Final

from reflet.api.status import suggests_delay
from reflet.informer.reflector.endings import SHORTEST_HONEST_WATCH
from reflet.informer.reflector.reflector_metrics import ReflectorMetrics
from reflet.runtime.backoff import Backoff
from reflet.runtime.clock import Clock


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


LONGEST_ASKED_DELAY: Final = 120.0
"""Seconds; a server that asks to wait longer is asked again after this."""


class Patience:
    """Waits, on *clock*, as long as *backoff* says."""

    def __init__(self, clock: Clock, backoff: Backoff, metrics: ReflectorMetrics) -> None:
        self._clock = clock
        self._backoff = backoff
        self._metrics = metrics

    async def wait(self, error: Exception | None = None) -> None:
        """Wait for the next delay, or longer when *error* is a server that asks for it."""
        asked = min(suggests_delay(error) or 0.0, LONGEST_ASKED_DELAY)
        self._metrics.delayed()
        await self._clock.sleep(max(self._backoff.next_delay(), asked))


RESET_AFTER: Final = 60.0  # seconds


class RetryWindow:
    """Open for *duration* seconds after the first of a series of failures.

    A pause of *reset_after* seconds or more begins a new series.  Once the window is found
    closed, the series is forgotten: the next failure begins another.  A duration of 0 never
    opens it.
    """

    __slots__ = ("_duration", "_first", "_last", "_reset_after")

    def __init__(self, duration: float, *, reset_after: float = RESET_AFTER) -> None:
        self._duration = duration
        self._reset_after = reset_after
        self._first: float | None = None
        self._last: float | None = None

    def failed(self, now: float) -> None:
        """A failure happened *now*, in seconds of any clock that does not go back."""
        if self._last is not None and now - self._last >= self._reset_after:
            self._first = None
        if self._first is None:
            self._first = now
        self._last = now

    def is_open(self, now: float) -> bool:
        """Whether to try again without further ado."""
        if not self._duration or self._first is None:
            return False
        if now - self._first <= self._duration:
            return True
        self._first = self._last = None
        return False
