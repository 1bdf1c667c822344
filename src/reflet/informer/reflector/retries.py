"""When a reflector asks again: its back-off, and the rules for "at once".

``DelayHandler`` does every wait of a reflector, and resets its back-off after ``BACKOFF_RESET``
seconds; the arithmetic is ``reflet.runtime.backoff``.  The other three only decide and are pure,
the caller brings the time: ``ShortWatchGuard`` about watches that end too soon, ``ExpiryGuard``
about lists after a 410, ``RetryWithDeadline`` about a server's internal errors.

For a server that cannot be reached at all nobody waits here: ``reflet.runtime.gate`` does, once
for everybody on the connection.

Upstream: client-go/tools/cache/reflector.go, delayHandler (once backoffManager);
client-go/tools/cache/retry_with_deadline.go, RetryWithDeadline
"""

from __future__ import annotations

import enum
import math
import random
from collections.abc import Callable
from typing import Final, assert_never

from reflet.api.status import is_internal_error, suggests_delay
from reflet.informer.reflector.endings import SHORTEST_HONEST_WATCH
from reflet.informer.reflector.reflector_metrics import ReflectorMetrics
from reflet.runtime.backoff import Backoff
from reflet.runtime.clock import Clock

FIRST_DELAY: Final = 0.8  # seconds; these are client-go's
LONGEST_DELAY: Final = 30.0
BACKOFF_RESET: Final = 120.0
"""Seconds after which the delays start over, however long the failure lasts."""

LONGEST_ASKED_DELAY: Final = 120.0
"""Seconds; a server that asks to wait longer (Retry-After) is asked again after this."""

ONE_EXPIRY_IN: Final = 60.0
"""Seconds in which one 410 is normal.  Histories are compacted every five minutes."""

RESET_AFTER: Final = 60.0
"""Seconds without an internal error after which the next one is the first of a series."""


class Delay(enum.Enum):
    """How long to wait before the next watch."""

    NONE = enum.auto()
    REST_OF_A_SECOND = enum.auto()
    """Until a second after the last watch began."""
    BACKOFF = enum.auto()
    """As long as the back-off says."""


class DelayHandler:
    """Waits, on *clock*, as long as *backoff* says: one series of delays for all of a reflector.

    One series, because whatever fails, it is the same server that needs the time.  Without a
    *backoff* it is client-go's, and begins with ``begin``.
    """

    def __init__(
        self,
        clock: Clock,
        metrics: ReflectorMetrics,
        *,
        backoff: Backoff | None = None,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._clock = clock
        self._metrics = metrics
        self._backoff = backoff
        self._chance = chance

    def begin(self) -> Backoff:
        """The reflector runs: the series begins, unless it has.

        Not when the reflector is made: that may be long before, and outside the event loop, where
        some clocks cannot be asked.
        """
        if self._backoff is None:
            self._backoff = Backoff(
                first=FIRST_DELAY,
                ceiling=LONGEST_DELAY,
                reset_after=BACKOFF_RESET,
                clock=self._clock,
                chance=self._chance,
            )
        return self._backoff

    async def wait(self, error: Exception | None = None) -> None:
        """Wait for the next delay, or longer when *error* is a server that asks for it."""
        asked = min(suggests_delay(error) or 0.0, LONGEST_ASKED_DELAY)
        self._metrics.delayed()
        await self._clock.sleep(max(self.begin().next_delay(), asked))

    async def wait_after_watch(self, delay: Delay, *, lasted: float) -> None:
        """Wait as a ``ShortWatchGuard`` said after a watch of *lasted* seconds."""
        match delay:
            case Delay.NONE:
                pass
            case Delay.REST_OF_A_SECOND:
                await self._clock.sleep(SHORTEST_HONEST_WATCH - lasted)
            case Delay.BACKOFF:
                await self.wait()
            case _:
                assert_never(delay)


class ShortWatchGuard:
    """Keeps a reflector from hammering a server whose watches end quickly.  Pure.

    The first watch that ends within a second is followed at once: servers restart.  Those right
    after it are not: when the version moved, data flows and one watch a second is enough to keep
    up; when it did not, the server is not well.
    """

    __slots__ = ("_short_in_a_row",)

    def __init__(self) -> None:
        self._short_in_a_row = 0

    def after(self, *, lasted: float, moved: bool) -> Delay:
        """Say how to wait after a watch of *lasted* seconds; *moved* says the version did."""
        if lasted >= SHORTEST_HONEST_WATCH:
            self._short_in_a_row = 0
            return Delay.NONE
        self._short_in_a_row += 1
        if self._short_in_a_row == 1:
            return Delay.NONE
        return Delay.REST_OF_A_SECOND if moved else Delay.BACKOFF


class ExpiryGuard:
    """Whether a new list may follow a 410 at once.  Pure.

    The first one is no fault: after a restart of the server every watch is told that its version
    is gone.  client-go backs off there too, by a delay that has grown during the outage, and that
    is most of the time for which its caches stay stale.  A second one soon after it is a server
    whose lists are older than its watches, and must not be hammered.
    """

    __slots__ = ("_last",)

    def __init__(self) -> None:
        self._last = -math.inf

    def may_list_at_once(self, now: float) -> bool:
        """A version has expired *now*, in seconds of a clock that does not go back."""
        soon = now - self._last < ONE_EXPIRY_IN
        self._last = now
        return not soon


class RetryWithDeadline:
    """Forgives a server's internal errors for *duration* seconds after the first of a series.

    A pause of *reset_after* seconds or more begins a new series.  Once the deadline has been found
    passed the series is forgotten: the next failure begins another.  A duration of 0 forgives
    nothing.  Pure.
    """

    __slots__ = ("_duration", "_first", "_last", "_reset_after")

    def __init__(self, duration: float, *, reset_after: float = RESET_AFTER) -> None:
        self._duration = duration
        self._reset_after = reset_after
        self._first: float | None = None
        self._last: float | None = None

    def forgives(self, error: Exception | None, now: float) -> bool:
        """Whether *error*, which happened *now*, is an internal error within the deadline."""
        if not is_internal_error(error):
            return False
        self.failed(now)
        return self.should_retry(now)

    def failed(self, now: float) -> None:
        """A failure happened *now*, in seconds of any clock that does not go back."""
        if self._last is not None and now - self._last >= self._reset_after:
            self._first = None
        if self._first is None:
            self._first = now
        self._last = now

    def should_retry(self, now: float) -> bool:
        """Whether to try again without further ado."""
        if not self._duration or self._first is None:
            return False
        if now - self._first <= self._duration:
            return True
        self._first = self._last = None
        return False
