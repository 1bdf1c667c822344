"""When this process tried to connect to somebody.

Owns: the count, which is the same for whatever is written in Python.  Must not know who connects,
nor why.  Peers run this in environments of their own, so it needs nothing but the standard library.
"""

from __future__ import annotations

import sys
import time


class ConnectAttempts:
    """The moments of all attempts since ``count`` was called, of CLOCK_MONOTONIC.

    The interpreter tells of every ``connect`` of a socket, whichever library it is done by: the
    blocking ones, asyncio, and those who do without its ``create_connection``.
    """

    def __init__(self) -> None:
        self.moments: list[float] = []

    def count(self) -> None:
        """Begin, for as long as the process lives: nothing takes this back."""
        sys.addaudithook(self._hear)

    def _hear(self, event: str, _arguments: tuple[object, ...]) -> None:
        if event == "socket.connect":
            self.moments.append(time.monotonic())
