"""How long a reflector waits before it asks again.

Owns: the one series of delays that all its waits share, and obeying a server that asks for
more.  Must not know what is waited for.
"""

from __future__ import annotations

from typing import Final

from reflet.api.status import suggests_delay
from reflet.informer.reflector_metrics import ReflectorMetrics
from reflet.runtime.backoff import Backoff
from reflet.runtime.clock import Clock

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
