"""How fast we may ask: a token bucket in front of the server.

Owns: the arithmetic and the order of those who wait.  Must not know requests, servers or what a
refused request looks like; the server's own Retry-After is obeyed elsewhere.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from reflet.errors import ConfigurationError
from reflet.runtime.clock import SystemClock

SYSTEM_CLOCK: Final = SystemClock()

# What a kubelet allows itself (kubeAPIQPS, kubeAPIBurst): Reflet stands in for one, and server
# operators have sized priority levels for it.  client-go's bare default of 5 and 10 predates
# priority and fairness in the server and makes the first minute of a busy node crawl.
DEFAULT_QPS: Final = 50.0
DEFAULT_BURST: Final = 100


class RateLimit:
    """At most *burst* requests at once and *qps* a second after that.

    Those who wait are served in the order they came.  One who is cancelled while waiting takes
    no token, and the next in line moves up.  ``qps`` of 0 or less means no limit.
    """

    def __init__(
        self,
        *,
        qps: float = DEFAULT_QPS,
        burst: int = DEFAULT_BURST,
        monotonic: Callable[[], float] = SYSTEM_CLOCK.monotonic,
        sleep: Callable[[float], Awaitable[None]] = SYSTEM_CLOCK.sleep,
    ) -> None:
        if qps > 0 and burst < 1:
            raise ConfigurationError(f"burst must be at least 1 when qps is set, not {burst}")
        self._qps = qps
        self._burst = burst
        self._monotonic = monotonic
        self._sleep = sleep
        self._tokens = float(burst)
        # Not read before the first request: outside the event loop the clock may be another.
        self._counted_at: float | None = None
        self._turn = asyncio.Lock()  # hands itself on in order of arrival

    async def acquire(self) -> None:
        """Return when one more request may be sent."""
        if self._qps <= 0:
            return
        async with self._turn:
            counted_at = self._refill(self._monotonic())
            if self._tokens < 1:
                # A moment to wait for, not an amount to reach: adding up tiny amounts may never
                # get there, for rounding.
                due = counted_at + (1 - self._tokens) / self._qps
                while (wait := due - self._monotonic()) > 0:
                    await self._sleep(wait)
                self._tokens, self._counted_at = 1.0, due
            self._tokens -= 1

    def _refill(self, now: float) -> float:
        """Count what was earned until *now*; returns it."""
        if self._counted_at is not None:
            earned = (now - self._counted_at) * self._qps
            self._tokens = min(float(self._burst), self._tokens + earned)
        self._counted_at = now
        return now
