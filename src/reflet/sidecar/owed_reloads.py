"""Which reloads are owed, and when: changes that come together are one reload.

Pure: the time comes in.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Final

LONGEST_DELAY: Final = 5.0
"""Seconds after the first change when the reload comes though changes go on; or the debounce."""


@dataclass(frozen=True, slots=True)
class ReloadCall:
    """One reload; *asks_url* is false for the files of the start with REQ_SKIP_INIT.

    *runs_script* is false when script and signal have had their turn.
    """

    asks_url: bool = True
    runs_script: bool = True


@dataclass(slots=True)
class _Owed:
    first: float
    due: float
    asks_url: bool


class OwedReloads:
    """What is owed.  With a *debounce* of 0 every change is a reload of its own."""

    def __init__(self, debounce: float) -> None:
        self._debounce = debounce
        self._owed: list[_Owed] = []

    def __len__(self) -> int:
        return len(self._owed)

    def add(self, now: float, *, at_once: bool = False, asks_url: bool = True) -> None:
        """Files have changed, and are on disk."""
        if not self._debounce or not self._owed:
            delay = 0.0 if at_once else self._debounce
            self._owed.append(_Owed(now, now + delay, asks_url))
            return
        last = self._owed[-1]
        latest = last.first + max(LONGEST_DELAY, self._debounce)
        last.due = now if at_once else min(now + self._debounce, latest)
        last.asks_url = last.asks_url or asks_url

    def due_in(self, now: float) -> float | None:
        """Seconds until the next reload, 0 when it is time; None when none is owed."""
        return max(0.0, self._owed[0].due - now) if self._owed else None

    def take(self) -> ReloadCall:
        """The next reload, which is then owed no more."""
        return ReloadCall(self._owed.pop(0).asks_url)


class ReloadVerdict(enum.Enum):
    """What an answer means for a reload."""

    DONE = enum.auto()
    REFUSED = enum.auto()
    """The next try would be answered the same: a wrong address, or a wrong password."""
    AGAIN = enum.auto()


def verdict_on(status: int) -> ReloadVerdict:
    """What to make of a status."""
    if status < 400:
        return ReloadVerdict.DONE
    return (
        ReloadVerdict.AGAIN if status >= 500 or status in {408, 425, 429} else ReloadVerdict.REFUSED
    )
