"""One gate for everybody who follows a server over one connection.

While the server cannot be reached, one request at a time is let through to try, for all of them;
the others wait and cost nothing.  Once a request is answered the rest follow, a few at a time and
then more and more.

client-go has no such thing: every reflector sleeps out a back-off of its own, so that after 40
seconds without an API server 2,000 watches dial 11,000 times and stay stale for up to 100 seconds
more.  docs/adr/0012-one-gate-for-a-connection.md has the alternatives.
"""

from __future__ import annotations

import asyncio
import enum
import logging
import math
import random
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

from reflet.api.status import is_from_gateway, suggests_delay
from reflet.errors import ApiError, TLSFailure, TransportError
from reflet.runtime.backoff import Backoff

Answer = TypeVar("Answer")

FIRST_PROBE: Final = 0.2
LONGEST_PROBE: Final = 1.0
PROBE_JITTER: Final = 0.5
"""Seconds between two tries while the server is away: 0.2 to 0.3 at first, 1 to 1.5 in the end.

An API server that starts is ready about a second after it begins to listen, so that a try a second
finds it in time.  ``benchmarks fleet`` simulates what 5,000 nodes that do so cost it.
"""
STEADY: Final = 10.0
"""Seconds that a server must have been there for the next outage to begin with short waits."""
MOST_UNANSWERED: Final = 64
"""The widest window: more at once would only wait in the server, or in our own event loop."""
UNANSWERED: Final = 2.0
"""Seconds after which a request without an answer keeps nobody else waiting.

A large list takes its time, and some proxies hold the head of a watch back until the first event:
behind those, one watch every two seconds would be all that a gate lets through.
"""
COMING_UP: Final = 5.0
"""Seconds after an outage in which a refusal is not believed yet.

An API server answers before it has loaded its authenticators (401), its RBAC rules (403 for
everybody) and its watch caches (429, 500).
"""
SETTLING: Final = 30.0
"""The same for 429: when a whole fleet is back, a server may throttle for longer than it comes up.

Those who share a gate then ask one after the other.  By themselves each would wait longer and
longer, and in a simulation the server had nothing to do while the last of them slept.
"""
ASK_AGAIN: Final = 0.25
"""Seconds, and up to twice as many, after such a refusal; more when the server asks for more.

When it asks for more than is left of the time above, it is believed at once.
"""

logger = logging.getLogger(__name__)


class _Verdict(enum.Enum):
    """What the outcome of a request says about the server."""

    ANSWERED = enum.auto()
    """It is there; what it answered is the affair of whoever asked."""
    NOT_READY = enum.auto()
    """It answers, but was away a moment ago and may not mean what it says."""
    AWAY = enum.auto()
    """It cannot be reached."""
    NOTHING = enum.auto()


class _Waiting:
    """A request that waits to be sent."""

    __slots__ = ("admitted", "failed", "urgent")

    def __init__(
        self,
        admitted: asyncio.Future[None],
        urgent: Callable[[], bool],
        failed: Callable[[Exception], None],
    ) -> None:
        self.admitted = admitted
        self.urgent = urgent
        self.failed = failed


class _Attempt:
    """A request under way; it counts against the window while it has a timer."""

    __slots__ = ("began", "timer")

    def __init__(self, began: float) -> None:
        self.began = began
        self.timer: asyncio.TimerHandle | None = None


class Gate:
    """Lets requests through to a server: while it cannot be reached, one every second or so.

    An outage is what has no answer: refused, reset, timed out, closed during the TLS handshake,
    and, once a stream has broken, a gateway that says 502, 503 or 504 in the API server's stead.
    The refusal of a server that is there (403, 410, 429, 500) is passed on to whoever asked; only
    for the first seconds after an outage 401, 403, 429 and 5xx are asked again, 429 for longer.
    A certificate that is not trusted is passed on, and so is whatever goes wrong before a request
    is sent.

    The window is how many requests may be without an answer: none while the server is away, one
    when nobody knows (at first, and after a stream broke), one more with every answer, up to
    ``MOST_UNANSWERED``: twice as many in every round.  A request that nobody has answered within
    ``UNANSWERED`` seconds widens it too, unless the server is away.  Used by one event loop;
    starts no task.
    """

    def __init__(
        self,
        *,
        first: float = FIRST_PROBE,
        longest: float = LONGEST_PROBE,
        jitter: float = PROBE_JITTER,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._chance = chance
        self._backoff = Backoff(
            first=first, ceiling=longest, jitter=jitter, reset_after=None, chance=chance
        )
        self._window = 1
        self._unanswered = 0
        self._waiting: dict[_Waiting, None] = {}  # in order of arrival
        self._next_try: asyncio.TimerHandle | None = None
        self._broke = False  # a stream broke, and nothing has been answered since
        self._failure: Exception | None = None  # why the server is away
        self._away_since: float | None = None
        self._answered_at = -math.inf
        self._back_at = -math.inf
        self._came_up_at: float | None = None  # the first answer after an outage

    @property
    def is_away(self) -> bool:
        """Whether the server could not be reached when it was last tried."""
        return self._away_since is not None

    @property
    def waiting(self) -> int:
        """How many requests wait to be sent."""
        return len(self._waiting)

    async def send(
        self,
        request: Callable[[], Awaitable[Answer]],
        *,
        urgent: Callable[[], bool] = lambda: False,
        failed: Callable[[Exception], None] = lambda _: None,
        gives_up: Callable[[Exception], bool] = lambda _: False,
    ) -> Answer:
        """Make *request*, again and again until the server answers.

        Of those who wait for a server that comes back, the ones whose *urgent* is true go first.
        *failed* is told why there is no answer yet: what this request met, or another one that
        tried before it.  *gives_up* is asked after a try of this request without an answer, and
        when it is true that is raised.  Raises what *request* raises when that is the server's
        word, or says nothing about the server.
        """
        while True:
            attempt = await self._admission(urgent, failed)
            try:
                answer = await request()
            except Exception as error:
                verdict = self._verdict(error)
                self._ended(attempt, verdict, error)
                if verdict in (_Verdict.ANSWERED, _Verdict.NOTHING) or gives_up(error):
                    raise
                failed(error)
                pause = self._pause(error) if verdict is _Verdict.NOT_READY else None
            except BaseException:
                self._ended(attempt, _Verdict.NOTHING)
                raise
            else:
                self._ended(attempt, _Verdict.ANSWERED)
                return answer
            if pause is not None:
                await asyncio.sleep(pause)

    def broke(self) -> None:
        """A stream broke: the next request goes alone, and tells whether the server is there.

        Without this, everybody whose stream broke in an outage would try once.
        """
        self._broke = True
        self._window = min(self._window, 1)

    # Who may go

    async def _admission(
        self, urgent: Callable[[], bool], failed: Callable[[Exception], None]
    ) -> _Attempt:
        loop = asyncio.get_running_loop()
        if not self._waiting and self._unanswered < self._window:
            self._unanswered += 1
        else:
            waiting = _Waiting(loop.create_future(), urgent, failed)
            self._waiting[waiting] = None
            if self._failure is not None:
                failed(self._failure)
            try:
                await waiting.admitted
            except BaseException:
                self._waiting.pop(waiting, None)
                if not waiting.admitted.cancelled():  # admitted, and then cancelled at once
                    self._unanswered -= 1
                    self._admit()
                raise
        attempt = _Attempt(loop.time())
        attempt.timer = loop.call_later(UNANSWERED, self._count_no_longer, attempt)
        return attempt

    def _admit(self) -> None:
        """Let in whoever may go now."""
        while self._waiting and self._unanswered < self._window:
            waiting = next(iter(self._waiting))
            del self._waiting[waiting]
            if not waiting.admitted.done():  # else it was cancelled, and is about to notice
                self._unanswered += 1
                waiting.admitted.set_result(None)

    def _count_no_longer(self, attempt: _Attempt) -> None:
        attempt.timer = None
        self._unanswered -= 1
        if self._away_since is None:
            self._widen()
        self._admit()

    # What is known of the server

    def _verdict(self, error: Exception) -> _Verdict:
        if isinstance(error, TLSFailure):
            return _Verdict.NOTHING
        if isinstance(error, TransportError) or (self._broke and is_from_gateway(error)):
            return _Verdict.AWAY
        if not isinstance(error, ApiError):
            return _Verdict.NOTHING
        if error.code in {401, 403, 429} or error.code >= 500:
            return _Verdict.NOT_READY if self._is_coming_up(error) else _Verdict.ANSWERED
        return _Verdict.ANSWERED

    def _is_coming_up(self, error: ApiError) -> bool:
        """Whether *error* may be gone by the time at which the server can be asked again."""
        now = asyncio.get_running_loop().time()
        if self._away_since is not None and self._came_up_at is None:
            self._came_up_at = now
        takes = SETTLING if error.code == 429 else COMING_UP
        asked_for = suggests_delay(error) or 0.0
        return self._came_up_at is not None and now + asked_for < self._came_up_at + takes

    def _ended(self, attempt: _Attempt, verdict: _Verdict, error: Exception | None = None) -> None:
        """A request was answered, or failed with *error*."""
        if attempt.timer is not None:
            attempt.timer.cancel()
            self._unanswered -= 1
        # When somebody was answered after this one was sent, how it failed is no news.
        is_news = attempt.began >= self._answered_at
        match verdict:
            case _Verdict.ANSWERED:
                self._is_there()
            case _Verdict.AWAY if error is not None and is_news:
                self._is_away(error)
            case _Verdict.NOT_READY if is_news:
                self._try_after(self._pause(error))
            case _:
                pass
        self._admit()

    def _is_there(self) -> None:
        now = self._answered_at = asyncio.get_running_loop().time()
        if self._next_try is not None:
            self._next_try.cancel()
        if self._away_since is not None:
            logger.info(
                "the server is back after %.1f s; %d requests wait for it",
                now - self._away_since,
                len(self._waiting),
            )
            self._away_since, self._back_at = None, now
            if self._came_up_at is None:
                self._came_up_at = now
            # Stable: within the two groups, those who came first go first.
            self._waiting = dict.fromkeys(sorted(self._waiting, key=lambda it: not it.urgent()))
        self._failure, self._broke = None, False
        self._window = max(self._window, 1)
        self._widen()

    def _widen(self) -> None:
        self._window = min(self._window + 1, MOST_UNANSWERED)

    def _is_away(self, error: Exception) -> None:
        now = asyncio.get_running_loop().time()
        self._failure, self._broke = error, True
        self._came_up_at = None
        if self._away_since is None:
            self._away_since = now
            if now - self._back_at >= STEADY:
                self._backoff.reset()
            logger.warning("%s; %d other requests wait", error, len(self._waiting))
            for waiting in tuple(self._waiting):
                waiting.failed(error)
        if self._window:  # else others failed together with this one, and the next try is due
            self._try_after(self._backoff.next_delay())

    def _try_after(self, seconds: float) -> None:
        self._window = 0
        if self._next_try is not None:
            self._next_try.cancel()
        self._next_try = asyncio.get_running_loop().call_later(seconds, self._try)

    def _try(self) -> None:
        self._window = 1
        self._admit()

    def _pause(self, refusal: Exception | None) -> float:
        return max(ASK_AGAIN, suggests_delay(refusal) or 0.0) * (1 + self._chance())
