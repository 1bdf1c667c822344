from __future__ import annotations

import asyncio
from typing import cast

import pytest

from reflet.devserver.faults import Action, SeenRequest
from reflet.devserver.watches.watch_connection import WatchConnection
from reflet.devserver.watches.watch_feed import WatchFeed


class EndingTransport:
    """A connection that ends: like asyncio's over TLS, it fails when it is written to."""

    def get_write_buffer_limits(self) -> tuple[int, int]:
        return (0, 0)

    def is_closing(self) -> bool:
        return True

    def write(self, data: bytes) -> None:
        raise AttributeError("nobody is there to encrypt")


@pytest.mark.parametrize("now", [True, False])
def test_a_reset_of_a_connection_that_ends_already_changes_nothing(now: bool) -> None:
    transport = cast("asyncio.Transport", EndingTransport())
    stream = WatchConnection(cast("WatchFeed", None), transport, SeenRequest("GET", "/"))

    if now:
        stream.strike_now(Action.RESET)
    else:
        stream.strike_next_line(Action.RESET)

    assert now or stream.write(b"2\r\n{}\r\n")
