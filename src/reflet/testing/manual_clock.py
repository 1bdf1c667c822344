"""A clock that a test turns by hand, for code that asks the time and does not wait.

Tests of code that waits use ``virtual_time``.

Upstream: k8s.io/utils/clock/testing, FakeClock
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

START = datetime(2025, 1, 1, tzinfo=UTC)


class ManualClock:
    """Stands still until ``advance`` is called.

    ``sleep`` advances the clock and returns at once: the sleeper is the one who turns it.
    """

    def __init__(self, start: datetime = START) -> None:
        self._start = start
        self._elapsed = 0.0

    def advance(self, seconds: float) -> None:
        """Let ``seconds`` pass."""
        if seconds < 0:
            raise ValueError(f"time does not go back by {-seconds} seconds")
        self._elapsed += seconds

    def now(self) -> datetime:
        """Return the start plus all that has passed."""
        return self._start + timedelta(seconds=self._elapsed)

    def monotonic(self) -> float:
        """Return the seconds that have passed since the start."""
        return self._elapsed

    async def sleep(self, seconds: float, /) -> None:
        """Let ``seconds`` pass at once."""
        self.advance(max(0.0, seconds))
