"""How fast we may ask: a token bucket in front of the server (QPS and burst).

The server's own ``Retry-After`` is obeyed in ``connection``.

Upstream: client-go/util/flowcontrol/throttle.go, NewTokenBucketRateLimiter;
    client-go/rest/request.go, tryThrottleWithInfo (the log lines)
"""

from __future__ import annotations

import asyncio
import logging
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

# client-go's: a wait that can be felt is told where details are asked for, one that hurts to
# everybody, but only now and then, as those who wait are many.
LONG_WAIT: Final = 0.05
VERY_LONG_WAIT: Final = 1.0
TELL_EVERY: Final = 10.0
"""Seconds, all three."""

logger = logging.getLogger(__name__)


class RateLimit:
    """At most *burst* requests at once and *qps* a second after that.

    Those who wait are served in the order they came.  One who is cancelled while waiting takes
    no token, and the next in line moves up.  ``qps`` of 0 or less means no limit.

    Long waits are logged: more than LONG_WAIT seconds for debugging, more than VERY_LONG_WAIT as
    a warning, at most once in TELL_EVERY seconds.
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
        self._told_at: float | None = None

    async def acquire(self, request: str = "") -> None:
        """Return when one more request may be sent; *request* names it in the log."""
        if self._qps <= 0:
            return
        came_at = self._monotonic()
        async with self._turn:
            counted_at = self._refill(self._monotonic())
            if self._tokens < 1:
                # A moment to wait for, not an amount to reach: adding up tiny amounts may never
                # get there, for rounding.
                due = counted_at + (1 - self._tokens) / self._qps
                while (wait := due - self._monotonic()) > 0:
                    await self._sleep(wait)
                self._tokens = 1.0
                self._counted_at = counted_at = due
            self._tokens -= 1
        if counted_at - came_at > LONG_WAIT:
            self._tell(counted_at - came_at, request)

    def _tell(self, waited: float, request: str) -> None:
        now = self._monotonic()
        level = logging.DEBUG
        if waited > VERY_LONG_WAIT and (self._told_at is None or now - self._told_at >= TELL_EVERY):
            level = logging.WARNING
            self._told_at = now
        logger.log(
            level,
            "waited %.3g s due to client-side throttling (qps %g, burst %d), not priority and "
            "fairness of the server: %s",
            waited,
            self._qps,
            self._burst,
            request,
        )

    def _refill(self, now: float) -> float:
        """Count what was earned until *now*; returns it."""
        if self._counted_at is not None:
            earned = (now - self._counted_at) * self._qps
            self._tokens = min(float(self._burst), self._tokens + earned)
        self._counted_at = now
        return now
