"""For how long a server's own failures are forgiven.

Owns: the window that opens with a first failure.  Pure: the caller brings the time.  Must not
know what failed.
"""

from __future__ import annotations

from typing import Final

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
