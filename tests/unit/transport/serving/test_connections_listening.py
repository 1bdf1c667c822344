from __future__ import annotations

import asyncio
import errno
import itertools
import os
import socket
from typing import Any

import pytest

from reflet.errors import ConfigurationError
from reflet.runtime.tasks import TaskOwner
from reflet.transport.serving import connections
from reflet.transport.serving.connections import (
    FIRST_PAUSE,
    LONGEST_PAUSE,
    accept_all,
    listening_sockets,
    serve_all,
)

pytestmark = pytest.mark.virtual_time


class Queue:
    """What the system answers to each try to accept; afterwards nobody comes any more."""

    def __init__(self, *answers: OSError | str) -> None:
        self._answers = list(answers)
        self.tries: list[float] = []
        self.accepted: list[str] = []
        self.is_empty = asyncio.Event()

    async def accept(self, _: socket.socket) -> tuple[socket.socket, Any]:
        if not self._answers:
            self.is_empty.set()
            await asyncio.Event().wait()
        self.tries.append(asyncio.get_running_loop().time())
        answer = self._answers.pop(0)
        if isinstance(answer, OSError):
            raise answer
        return socket.socket(), (answer, 0)

    def _take(self, connection: socket.socket, address: str) -> None:
        connection.close()
        self.accepted.append(address)

    async def emptied(self) -> None:
        (listening,) = await listening_sockets("127.0.0.1", 0)
        with listening:
            task = asyncio.create_task(accept_all(listening, self._take, accept=self.accept))
            await self.is_empty.wait()
            task.cancel()
            await asyncio.wait((task,))


def failure(number: int) -> OSError:
    return OSError(number, os.strerror(number))


@pytest.mark.parametrize("number", [errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM])
async def test_failures_to_accept_are_told_once_and_tried_again_with_back_off(
    number: int, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    queue = Queue(*[failure(number) for _ in range(100)], "192.0.2.7")

    await queue.emptied()

    port_and_words = [message.split(" at port ")[0] for message in caplog.messages]
    assert port_and_words == [
        "no connections are accepted for now",
        "connections are accepted again",
    ]
    pauses = [round(b - a, 6) for a, b in itertools.pairwise(queue.tries)]
    assert pauses[0] == FIRST_PAUSE
    assert set(pauses[10:]) == {LONGEST_PAUSE}
    assert queue.accepted == ["192.0.2.7"]


async def test_the_next_shortage_is_told_again(caplog: pytest.LogCaptureFixture) -> None:
    short = failure(errno.EMFILE)

    await Queue(short, "a", short, short, "b").emptied()

    assert [record.levelname for record in caplog.records].count("WARNING") == 2


async def test_whoever_has_left_the_queue_is_nobodys_failure(
    caplog: pytest.LogCaptureFixture,
) -> None:
    queue = Queue(failure(errno.ECONNABORTED), "a")

    await queue.emptied()

    assert (queue.accepted, caplog.messages) == (["a"], [])


async def test_others_have_their_turn_between_any_two_connections() -> None:
    queue = Queue(*"abcdefgh")
    turns: list[int] = []

    async def other() -> None:
        while not queue.is_empty.is_set():
            turns.append(len(queue.accepted))
            await asyncio.sleep(0)

    await asyncio.gather(queue.emptied(), other())

    assert max(b - a for a, b in itertools.pairwise(turns)) == 1


async def test_every_address_of_a_host_has_the_same_port() -> None:
    found = await listening_sockets("localhost", 0)
    ports = {each.getsockname()[1] for each in found}
    for each in found:
        each.close()

    assert len(ports) == 1


async def test_a_host_that_is_none_is_named() -> None:
    with pytest.raises(ConfigurationError, match=r"cannot listen on 192\.0\.2\.7 port 0"):
        await listening_sockets("192.0.2.7", 0)


async def test_whoever_is_gone_before_it_is_served_keeps_nobody_else_from_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    really, gone = connections.streams_of, iter([True, False])

    async def streams_of(connection: socket.socket) -> Any:
        if next(gone):
            raise failure(errno.EINVAL)  # macOS, of a connection that was reset
        return await really(connection)

    async def serve(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"hello")
        writer.close()
        await writer.wait_closed()

    monkeypatch.setattr(connections, "streams_of", streams_of)
    (listening,) = await listening_sockets("127.0.0.1", 0)
    place = listening.getsockname()
    async with TaskOwner("test") as tasks:
        serve_all(tasks, listening, serve)
        heard = [await heard_from(place) for _ in range(2)]

    assert heard == [b"", b"hello"]
    assert tasks.failures == 0


async def heard_from(place: tuple[str, int]) -> bytes:
    reader, writer = await asyncio.open_connection(*place)
    try:
        return await reader.read()
    finally:
        writer.close()
        await writer.wait_closed()
