"""How often a request to any web server is tried again, and how long is waited before.

Pure.  The rule is that of Python's requests and urllib3, which people know the numbers of: tries
are counted in total and by what went wrong, and they wait 0, 2f, 4f, 8f … seconds.

Upstream: urllib3/util/retry.py, Retry.increment and get_backoff_time
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Final

LONGEST_WAIT: Final = 120.0
"""Seconds."""
ASK_AGAIN: Final = frozenset({413, 429, 503})
"""Statuses that are tried again when they say ``Retry-After``."""


class Missed(enum.Enum):
    """Why a try brought no answer that counts."""

    CONNECTION = enum.auto()
    ANSWER = enum.auto()
    OTHER = enum.auto()
    """A certificate, or a status that is to be tried again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """Tries after the first: in *total*, and of each kind; *statuses* count as failures."""

    total: int = 0
    connect: int = 0
    read: int = 0
    factor: float = 0.0
    statuses: frozenset[int] = frozenset()

    def retries(self, status: int, *, says_when: bool) -> bool:
        """Whether a status is tried again; *says_when* when it has a ``Retry-After``."""
        return status in self.statuses or (bool(self.total) and says_when and status in ASK_AGAIN)


class RetrySeries:
    """The tries of one request."""

    def __init__(self, policy: RetryPolicy) -> None:
        self._policy = policy
        self._missed: list[Missed] = []

    def wait_after(self, missed: Missed, *, asked: float | None = None) -> float | None:
        """Seconds to wait before the next try, None when there is none any more.

        *asked* is what the server asks for.
        """
        self._missed.append(missed)
        policy, count = self._policy, self._missed.count
        if len(self._missed) > policy.total:
            return None
        if count(Missed.CONNECTION) > policy.connect or count(Missed.ANSWER) > policy.read:
            return None
        if asked is not None:
            return min(asked, LONGEST_WAIT)
        failures = len(self._missed)
        if failures <= 1:
            return 0.0
        # A factor of hours must not become a number that no clock can count.
        return min(policy.factor * 2.0 ** min(failures - 1, 64), LONGEST_WAIT)

    @property
    def longest(self) -> float:
        """Seconds that all waits of the policy take together, when nobody answers."""
        tries = min(self._policy.total, self._policy.connect)
        factor = self._policy.factor
        return sum(min(factor * 2.0 ** min(n - 1, 64), LONGEST_WAIT) for n in range(2, tries + 1))
