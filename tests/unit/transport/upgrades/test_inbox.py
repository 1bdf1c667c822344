"""What has arrived and is not read: in order, bounded, and its end."""

from __future__ import annotations

import asyncio

import pytest

from reflet.errors import TransportError
from reflet.transport.upgrades.inbox import Inbox, Room


async def test_what_was_put_is_read_at_once_then_the_end() -> None:
    inbox = Inbox()
    await inbox.put(b"a")
    await inbox.put(b"b")
    inbox.end()
    await inbox.put(b"too late")

    assert [await inbox.read(), await inbox.read()] == [b"ab", b""]


async def test_a_full_one_lets_nobody_put_until_it_is_read() -> None:
    inbox = Inbox(most=4)
    await inbox.put(b"full")
    putting = asyncio.ensure_future(inbox.put(b"next"))
    await asyncio.sleep(0)

    assert not putting.done()
    assert await inbox.read() == b"full"
    await putting
    assert await inbox.read() == b"next"


async def test_an_error_comes_after_what_has_arrived() -> None:
    inbox = Inbox()
    await inbox.put(b"a")
    inbox.end(TransportError("broken"))

    assert await inbox.read() == b"a"
    with pytest.raises(TransportError, match="broken"):
        await inbox.read()


async def test_one_that_nobody_reads_takes_everything_and_keeps_nothing() -> None:
    inbox = Inbox(most=4)
    await inbox.put(b"full")
    putting = asyncio.ensure_future(inbox.put(b"next"))
    await asyncio.sleep(0)
    inbox.drop()
    await putting
    await inbox.put(b"more")

    assert await inbox.read() == b""


async def test_those_that_share_a_room_wait_for_each_other() -> None:
    room = Room(4)
    first, second = Inbox(room=room), Inbox(room=room)
    await first.put(b"full")
    putting = asyncio.ensure_future(second.put(b"next"))
    await asyncio.sleep(0)

    assert not putting.done()
    assert await first.read() == b"full"
    await putting
    second.drop()
    assert room.taken == 0
