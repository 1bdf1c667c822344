"""Those who stay long: whoever has left is noticed, and silence has an end."""

from __future__ import annotations

import asyncio
import socket
from types import SimpleNamespace
from typing import cast

import pytest

from reflet.transport.serving.connections import IDLE_TIMEOUT, LOOK_EVERY, until_left

ESTABLISHED, CLOSE_WAIT = b"\x01", b"\x08"


class Scene:
    """A connection in a state of TCP's, and a line on which so many bytes have moved."""

    def __init__(self, state: bytes = ESTABLISHED) -> None:
        self.state = state
        self.line = SimpleNamespace(moved=0)
        connection = cast("socket.socket", SimpleNamespace(getsockopt=lambda *_: self.state))
        self.looking = asyncio.ensure_future(until_left(connection, self.line))

    async def after(self, seconds: float) -> bool:
        """Whether it was given up after so many more seconds."""
        await asyncio.sleep(seconds)
        return self.looking.done()


@pytest.mark.virtual_time
async def test_who_has_left_is_noticed_at_the_next_look() -> None:
    scene = Scene(CLOSE_WAIT)

    assert not await scene.after(LOOK_EVERY - 0.1)
    assert await scene.after(0.2)


@pytest.mark.virtual_time
async def test_as_long_as_something_moves_nobody_is_taken_for_gone() -> None:
    scene = Scene(CLOSE_WAIT)
    for _ in range(10):
        scene.line.moved += 1
        assert not await scene.after(LOOK_EVERY)

    assert await scene.after(2 * LOOK_EVERY)


@pytest.mark.virtual_time
async def test_silence_ends_after_hours_and_a_word_begins_them_anew() -> None:
    scene = Scene()
    assert not await scene.after(IDLE_TIMEOUT - 2 * LOOK_EVERY)
    scene.line.moved += 1
    assert not await scene.after(IDLE_TIMEOUT - 2 * LOOK_EVERY)

    assert await scene.after(3 * LOOK_EVERY)
