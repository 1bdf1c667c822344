"""Whether the server serves us, and when it last gave a sign of life.

What health checks and people ask of a reflector.  A sign of life is something that came: that a
loop turns proves nothing.  Reports only: a half-open connection is found by HTTP/2 pings and TCP
keep-alive (``reflet.transport.http``), and in the end by a stream's ``silence``.
"""

from __future__ import annotations

import enum
import logging
from collections.abc import Callable
from typing import Final

from reflet.errors import TransportError
from reflet.informer.reflector.endings import Ending
from reflet.informer.reflector.reflector_metrics import ReflectorMetrics
from reflet.runtime.clock import Clock

SHOW_EVERY: Final = 1.0  # seconds; finer than anybody collects
CONNECTIONS_ARE_CHECKED_WITHIN: Final = 60.0
"""Seconds after which a dead connection has ended its streams: HTTP/2 pings, TCP keep-alive."""

logger = logging.getLogger(__name__)


class _Connection(enum.Enum):
    UNKNOWN = enum.auto()
    """Nothing was answered yet, or nobody asks any more."""
    SERVED = enum.auto()
    LOST = enum.auto()


class ServerHealth:
    """What is known of the way to the server.  May be read from any thread.

    *on_connection* is called with the error when the server is lost, and with None
    when it is back: once each.  *expected_errors* are kinds of errors that whoever follows has
    an answer to: they are told as all others are, and logged for debugging only.  *has_gate*
    says that the gate of the connection logs an outage, once for all.
    """

    def __init__(
        self,
        name: str,
        *,
        clock: Clock,
        metrics: ReflectorMetrics,
        on_connection: Callable[[Exception | None], None] | None,
        expected_errors: tuple[type[Exception], ...] = (),
        has_gate: bool = False,
    ) -> None:
        self.last_progress: float | None = None
        self._name = name
        self._clock = clock
        self._metrics = metrics
        self._on_connection = on_connection
        self._expected_errors = expected_errors
        self._has_gate = has_gate
        self._began: float | None = None
        self._shown: float | None = None
        self._connection = _Connection.UNKNOWN

    @property
    def connected(self) -> bool:
        """Whether the server serves us, as far as is known."""
        return self._connection is _Connection.SERVED

    def begun(self) -> None:
        """The reflector has begun: from now on there should be progress."""
        self._began = self._clock.monotonic()

    def progressed(self) -> None:
        """Something has come."""
        self.last_progress = now = self._clock.monotonic()
        if self._shown is None or now - self._shown >= SHOW_EVERY:
            self._shown = now
            self._metrics.progressed(self._clock.now().timestamp())

    def is_live(self, within: float, *, is_watching: bool) -> bool:
        """Whether the server is known to have been there within the last *within* seconds.

        Something has come since, or the reflector has begun since, or a watch is open and
        *within* is long enough for a dead connection to have been noticed.
        """
        if is_watching and within >= CONNECTIONS_ARE_CHECKED_WITHIN:
            return True
        signs = [moment for moment in (self._began, self.last_progress) if moment is not None]
        return bool(signs) and self._clock.monotonic() - max(signs) <= within

    def reached(self) -> None:
        """The server has answered."""
        self.progressed()
        before, self._connection = self._connection, _Connection.SERVED
        if before is _Connection.LOST:
            level = logging.DEBUG if self._has_gate else logging.INFO
            logger.log(level, "%s: the server is back", self._name)
            self._tell(None)

    def failed(self, ending: Ending, error: Exception, *, refused: bool = False) -> None:
        """Something ended with *error*: the server may be lost.

        *refused* says that it was a request without which nothing works.
        """
        if ending is Ending.SILENT:
            return  # a quiet cluster looks the same; the next watch will tell
        lost = ending in {Ending.REFUSED, Ending.THROTTLED} or isinstance(error, TransportError)
        if lost or (refused and ending is Ending.FAILED):
            self.lost(error)

    def lost(self, error: Exception) -> None:
        """The server cannot be reached, or does not serve us."""
        before, self._connection = self._connection, _Connection.LOST
        if before is not _Connection.LOST:
            logger.log(self.level_of(error), "%s: lost the server: %s", self._name, error)
            self._tell(error)

    def gave_up(self) -> None:
        """The reflector has ended by an error of the program, and asks no more."""
        if self._connection is _Connection.SERVED:
            self._connection = _Connection.UNKNOWN

    def level_of(self, error: Exception) -> int:
        """How loudly to log that something ended with *error*."""
        told_elsewhere = self._has_gate and isinstance(error, TransportError)
        return logging.DEBUG if told_elsewhere or self.is_expected(error) else logging.WARNING

    def is_expected(self, error: Exception | None) -> bool:
        """Whether *error* is one that somebody has an answer to."""
        return isinstance(error, self._expected_errors)

    def _tell(self, error: Exception | None) -> None:
        if self._on_connection is None:
            return
        try:
            self._on_connection(error)
        except Exception:
            logger.exception("%s: whoever follows the connection failed", self._name)
