"""Back-off: how long to wait after a failure: delays that double, with jitter, up to a ceiling.

The series of delays of client-go's reflector: the growth, the jitter, and the rule by which it is
reset (``reset_after``).  Only computes; whoever asks does the waiting.

Upstream: apimachinery/pkg/util/wait/backoff.go, Backoff.DelayWithReset
"""

from __future__ import annotations

import random
from collections.abc import Callable

from reflet.runtime.clock import Clock, SystemClock


class Backoff:
    """A sequence of delays, in seconds.

    Every delay lies in ``[base, base + jitter * base)``, where ``base`` begins at ``first``
    and is multiplied by ``factor`` until it reaches ``ceiling`` or ``steps`` are used up, and
    stays there.  With the defaults the bases are 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 30, 30, …

    The reset: a delay asked for more than ``reset_after`` seconds after the sequence began starts
    it over; ``None`` never does.  It began when it was made or last started over: how long ago
    the previous delay was asked for plays no role, so under a lasting failure the delays
    grow, fall back to ``first`` and grow again.

    ``chance`` gives numbers in ``[0, 1)``.  Belongs to one task; it takes no lock.

    - *first*: base of the first delay, in seconds
    - *factor*: by how much the base grows each time
    - *ceiling*: largest base, in seconds
    - *jitter*: how much is added at most, as a part of the base
    - *steps*: how often the base grows at most
    - *reset_after*: seconds after which the sequence starts over; None never does
    """

    def __init__(
        self,
        *,
        first: float = 0.8,
        factor: float = 2.0,
        ceiling: float = 30.0,
        jitter: float = 1.0,
        steps: int = 38,
        reset_after: float | None = 120.0,
        clock: Clock | None = None,
        chance: Callable[[], float] = random.random,
    ) -> None:
        if first < 0 or ceiling < first:
            raise ValueError(f"0 <= first <= ceiling must hold, not {first=} and {ceiling=}")
        if factor < 1:
            raise ValueError(f"factor must be at least 1, so that delays do not shrink: {factor=}")
        if jitter < 0 or steps < 0:
            raise ValueError(f"jitter and steps cannot be negative: {jitter=}, {steps=}")
        self._first = first
        self._factor = factor
        self._ceiling = ceiling
        self._jitter = jitter
        self._steps = steps
        self._reset_after = reset_after
        self._clock = SystemClock() if clock is None else clock
        self._chance = chance
        self.reset()

    def reset(self) -> None:
        """Start over: the next delay has ``first`` as its base."""
        self._began = self._clock.monotonic()
        self._base = self._first
        self._steps_left = self._steps

    def next_delay(self) -> float:
        """Return how long to wait now, and move on to the next base."""
        if (
            self._reset_after is not None
            and self._clock.monotonic() - self._began > self._reset_after
        ):
            self.reset()
        base = self._base
        if self._steps_left > 0:
            self._steps_left -= 1
            self._base = base * self._factor
            if self._base > self._ceiling:
                self._base = self._ceiling
                self._steps_left = 0
        return base + self._chance() * self._jitter * base
