"""How long a key waits before it is worked on again.

Only computes; the work queue does the waiting.  ``RateLimiter`` is client-go's: ``when`` counts a
failure of the key and says how long to wait, ``forget`` ends the count, ``retries`` tells it.

Upstream: client-go/util/workqueue/default_rate_limiters.go
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final, Protocol

from reflet.runtime.clock import Clock, SystemClock

FIRST_DELAY: Final = 0.005  # seconds after the first failure of a key
LONGEST_DELAY: Final = 1000.0  # seconds
QPS: Final = 10.0
BURST: Final = 100


class RateLimiter(Protocol):
    """Decides about one key at a time; used by one event loop."""

    def when(self, key: Hashable, /) -> float:
        """Count one more failure of *key*; return how many seconds it has to wait."""
        ...

    def forget(self, key: Hashable, /) -> None:
        """Count from zero again: the key was worked on with success, or is given up."""
        ...

    def retries(self, key: Hashable, /) -> int:
        """Return how often the key has failed since it was last forgotten."""
        ...


class ExponentialFailures:
    """``first * 2 ** failures`` seconds for each key by itself, up to ``ceiling``.

    - *first*: seconds after the first failure
    - *ceiling*: longest delay, in seconds
    """

    def __init__(self, first: float = FIRST_DELAY, ceiling: float = LONGEST_DELAY) -> None:
        self._first = first
        self._ceiling = ceiling
        self._failures: dict[Hashable, int] = {}

    def when(self, key: Hashable, /) -> float:
        """Return twice as much as the last time."""
        failures = self._failures.get(key, 0)
        self._failures[key] = failures + 1
        # 2.0 ** 1024 is an error, and a key may fail for months.
        return min(self._first * 2.0 ** min(failures, 1000), self._ceiling)

    def forget(self, key: Hashable, /) -> None:
        """Begin with ``first`` again."""
        self._failures.pop(key, None)

    def retries(self, key: Hashable, /) -> int:
        """Return the failures so far."""
        return self._failures.get(key, 0)


class FastThenSlow:
    """*fast* seconds for the first *fast_tries* failures of a key, *slow* for all others."""

    def __init__(self, fast: float, slow: float, fast_tries: int) -> None:
        self._fast = fast
        self._slow = slow
        self._fast_tries = fast_tries
        self._failures: dict[Hashable, int] = {}

    def when(self, key: Hashable, /) -> float:
        """Return the short or the long delay."""
        self._failures[key] = failures = self._failures.get(key, 0) + 1
        return self._fast if failures <= self._fast_tries else self._slow

    def forget(self, key: Hashable, /) -> None:
        """Begin with the short delay again."""
        self._failures.pop(key, None)

    def retries(self, key: Hashable, /) -> int:
        """Return the failures so far."""
        return self._failures.get(key, 0)


class TokenBucket:
    """*qps* keys a second over all of them, after a first *burst*; it counts no failures."""

    def __init__(self, qps: float = QPS, burst: int = BURST, *, clock: Clock | None = None) -> None:
        if qps <= 0 or burst < 1:
            raise ValueError(f"qps must be positive and burst at least 1, not {qps} and {burst}")
        self._qps = qps
        self._burst = burst
        self._clock = clock or SystemClock()
        self._tokens = float(burst)
        self._last: float | None = None

    def when(self, _: Hashable, /) -> float:
        """Take a token, ahead of time if there is none; return when it will be there."""
        now = self._clock.monotonic()
        passed = 0.0 if self._last is None else now - self._last
        self._last = now
        self._tokens = min(self._burst, self._tokens + passed * self._qps) - 1
        return max(0.0, -self._tokens / self._qps)

    def forget(self, _: Hashable, /) -> None:
        """Nothing is known of single keys."""

    def retries(self, _: Hashable, /) -> int:
        """Return 0: failures are not counted here."""
        return 0


class MaxOf:
    """The longest delay of several limiters, all of which hear of every failure.

    - *limiters*: the limiters to combine
    """

    def __init__(self, *limiters: RateLimiter) -> None:
        self._limiters = limiters

    def when(self, key: Hashable, /) -> float:
        """Return what the strictest says."""
        return max((limiter.when(key) for limiter in self._limiters), default=0.0)

    def forget(self, key: Hashable, /) -> None:
        """Tell all."""
        for limiter in self._limiters:
            limiter.forget(key)

    def retries(self, key: Hashable, /) -> int:
        """Return the largest count."""
        return max((limiter.retries(key) for limiter in self._limiters), default=0)


def default_rate_limiter(*, clock: Clock | None = None) -> RateLimiter:
    """Controllers' usual one: 5 ms doubling to 1000 s for a key, 10 a second for all of them."""
    return MaxOf(ExponentialFailures(), TokenBucket(clock=clock))
