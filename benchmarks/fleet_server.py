"""The model of an API server that was away: how fast it works, and what it answers.

Owns: rates, queues and refusals, and counting what arrives.  Must not know how clients wait.

Everything is worked at in the order in which it came, so that the moment at which a handshake or a
request is done is known when it arrives: all that the server remembers of its queues is when it
will have worked them off.
"""

from __future__ import annotations

import asyncio
import enum
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

BINS: Final = 10  # of a second, in which arrivals are counted
ROUND_TRIP: Final = 0.001  # seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Capacity:
    """What a server does in a second, and how many requests it lets wait.

    *loading* is for how many seconds it knows no rules yet after it began to listen.
    """

    handshakes: float
    requests: float
    most_waiting: float
    loading: float


class Arrival(enum.StrEnum):
    """What is counted."""

    REFUSED = "refused"
    """A connection attempt, or a request to the load balancer, while the server is away."""
    HANDSHAKE = "handshakes"
    """A connection attempt while it listens."""
    REQUEST = "requests"
    THROTTLED = "throttled"
    """A request that was answered with 429; it counts as a request too."""


class Answer(enum.Enum):
    """What becomes of a request."""

    SERVED = enum.auto()
    FORBIDDEN = enum.auto()
    THROTTLED = enum.auto()
    UNAVAILABLE = enum.auto()
    """By the load balancer."""


class ModelServer:
    """One address.  Before it stops for the first time it answers everybody at once.

    A request is as much work whatever it asks for.  One that finds the queue full is refused, and
    refusing costs nothing, which favours whoever is refused often.  A handshake that nobody waits
    for any more is worked at all the same.
    """

    def __init__(self, capacity: Capacity) -> None:
        self.listening = True
        self.version = "1"
        self.arrivals: dict[Arrival, Counter[int]] = {kind: Counter() for kind in Arrival}
        self._capacity: Capacity | None = None  # no limits
        self._when_back = capacity
        self._loaded_at = 0.0
        self._handshakes_done_at = 0.0
        self._requests_done_at = 0.0
        self._connected: dict[Callable[[], None], None] = {}

    def stop(self) -> None:
        """Go away: whoever is connected is reset."""
        self.listening = False
        connected, self._connected = self._connected, {}
        for reset in connected:
            reset()

    def start(self, *, restarted: bool = True) -> None:
        """Listen again; *restarted*, with a watch cache that knows nothing of what was before."""
        self.listening = True
        self._capacity = self._when_back
        if restarted:
            self.version = "2"
            self._loaded_at = _now() + self._capacity.loading

    def connect(self, reset: Callable[[], None]) -> None:
        """A connection is open; *reset* is called when the server goes away."""
        self._connected[reset] = None

    def handshake(self) -> float | None:
        """A connection attempt: the moment at which it succeeds, None when it is refused."""
        now = _now()
        self._count(Arrival.HANDSHAKE if self.listening else Arrival.REFUSED, now)
        if not self.listening:
            return None
        if self._capacity is None:
            return now
        began = max(self._handshakes_done_at, now)
        self._handshakes_done_at = began + 1 / self._capacity.handshakes
        return self._handshakes_done_at + 2 * ROUND_TRIP

    def request(self) -> tuple[Answer, float]:
        """A request: what is answered, and the moment at which the answer is there."""
        now = _now()
        if not self.listening:
            self._count(Arrival.REFUSED, now)
            return Answer.UNAVAILABLE, now + ROUND_TRIP
        self._count(Arrival.REQUEST, now)
        if self._capacity is None:
            return Answer.SERVED, now
        began = max(self._requests_done_at, now)
        if (began - now) * self._capacity.requests >= self._capacity.most_waiting:
            self._count(Arrival.THROTTLED, now)
            return Answer.THROTTLED, now + ROUND_TRIP
        self._requests_done_at = began + 1 / self._capacity.requests
        answer = Answer.FORBIDDEN if now < self._loaded_at else Answer.SERVED
        return answer, self._requests_done_at + ROUND_TRIP

    def _count(self, kind: Arrival, now: float) -> None:
        self.arrivals[kind][int(now * BINS)] += 1


def _now() -> float:
    return asyncio.get_running_loop().time()
