from __future__ import annotations

import asyncio
import errno
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from reflet.node.shim import protocol, shim_client
from reflet.node.shim.container_records import ContainerRecord
from reflet.node.shim.protocol import (
    Answered,
    Asked,
    ContainerEnded,
    ContainerList,
    ContainerRecords,
    Declined,
    Done,
    Greeting,
    ListRecords,
    Message,
    ShimAnswer,
    ShimRefused,
    ShimUnavailable,
)
from reflet.node.shim.shim_client import ANSWER_TIMEOUT, STARTUP_TIMEOUT, ShimClient
from reflet.node.shim.shim_socket import socket_path
from reflet.processes.process_table import process_entry
from reflet.runtime.permanent_tasks import PermanentTasks, TaskEnded

RECORD = ContainerRecord(id="c1", uid="u1", name="main", attempt=0, folder="/nowhere")


Answering = Callable[[Asked], ShimAnswer | None]


class ScriptedShim:
    """Listens where a shim would; *answer* gives what to say to a request, None for nothing."""

    def __init__(self, folder: Path, answer: Answering) -> None:
        self.path = socket_path(folder)
        self.answer = answer
        self.version = protocol.VERSION
        self.greeted = 0
        self.writers: set[asyncio.StreamWriter] = set()
        self._server: asyncio.Server | None = None

    async def start(self) -> None:
        self._server = await asyncio.start_unix_server(self._serve, self.path)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.greeted += 1
        self.writers.add(writer)
        self.say(Greeting(self.version, 4711))
        try:
            while line := await reader.readline():
                asked = protocol.read_asked(line)
                reply = self.answer(asked)
                if reply is not None:
                    self.say(Answered(asked.number, reply))
        except ConnectionError:
            pass
        finally:
            self.writers.discard(writer)
            writer.close()

    def say(self, message: Message | Greeting) -> None:
        for writer in self.writers:
            writer.write(protocol.encoded(message))

    def hang_up(self) -> None:
        for writer in tuple(self.writers):
            writer.close()

    async def close(self) -> None:
        self.hang_up()
        if self._server is not None:
            self._server.close()
            await self._server.wait_closed()


@asynccontextmanager
async def shim_in(
    folder: Path, answer: Answering = lambda _: None, **changes: Any
) -> AsyncIterator[ScriptedShim]:
    shim = ScriptedShim(folder, answer)
    for name, value in changes.items():
        setattr(shim, name, value)
    await shim.start()
    try:
        yield shim
    finally:
        await shim.close()


@pytest.mark.virtual_time
async def test_an_answer_goes_to_whoever_asked(tmp_path: Path) -> None:
    waiting: list[Asked] = []

    def answer(asked: Asked) -> None:
        """ShimAnswer the second question first."""
        waiting.append(asked)
        if len(waiting) == 2:
            for each in reversed(waiting):
                request = each.read()
                assert isinstance(request, ListRecords)
                reply = ContainerRecords((msgspec.structs.replace(RECORD, uid=request.uid),))
                shim.say(Answered(each.number, reply))

    async with shim_in(tmp_path, answer) as shim, ShimClient(tmp_path) as client:
        first, second = await asyncio.gather(client.records("a"), client.records("b"))

    assert (first[0].uid, second[0].uid) == ("a", "b")


@pytest.mark.virtual_time
async def test_a_refusal_is_told_in_the_shims_words(tmp_path: Path) -> None:
    def refuse(asked: Asked) -> None:
        shim.say(Declined(asked.number, "there is no container c1"))

    async with shim_in(tmp_path, refuse) as shim, ShimClient(tmp_path) as client:
        with pytest.raises(ShimRefused, match=r"^there is no container c1$"):
            await client.end("c1", 1.0)


@pytest.mark.virtual_time
async def test_what_is_no_answer_to_the_question_is_none_at_all(tmp_path: Path) -> None:
    async with (
        shim_in(tmp_path, lambda _: Done(did=True)),
        ShimClient(tmp_path) as client,
    ):
        for asking in (client.listed(), client.listing(ContainerList())):
            with pytest.raises(ShimUnavailable, match="answered with <Done>"):
                await asking


@pytest.mark.virtual_time
async def test_whoever_waits_for_an_end_waits_as_long_as_the_end_may_take(tmp_path: Path) -> None:
    async with shim_in(tmp_path), ShimClient(tmp_path) as client:
        loop = asyncio.get_running_loop()
        began = loop.time()
        with pytest.raises(ShimUnavailable, match="did not answer StopContainer in time"):
            await client.end("c1", 600.0)

        assert loop.time() - began == pytest.approx(600.0 + ANSWER_TIMEOUT, abs=1.0)


@pytest.mark.virtual_time
async def test_the_end_of_a_container_is_told_by_its_pod(tmp_path: Path) -> None:
    ended: list[str] = []
    async with (
        shim_in(tmp_path, lambda _: ContainerList()) as shim,
        ShimClient(tmp_path, on_ended=ended.append) as client,
    ):
        shim.say(ContainerEnded("c1", "u1"))
        await client.listed()

    assert ended == ["u1"]


@pytest.mark.virtual_time
async def test_a_shim_that_is_lost_fails_who_waits_and_is_found_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    found = asyncio.Event()
    async with (
        shim_in(tmp_path) as shim,
        ShimClient(tmp_path, on_lost=found.set) as client,
    ):
        asking = asyncio.create_task(client.listed())
        await asyncio.sleep(1.0)
        shim.hang_up()
        with pytest.raises(ShimUnavailable, match="the line to the shim was lost"):
            await asking
        await found.wait()

        assert (client.is_connected, shim.greeted) == (True, 2)
    # Whoever reads the log of an agent asks first whether that was one shim or two.
    assert f"the same shim answers, process {client.pid}" in caplog.messages


@pytest.mark.virtual_time
async def test_the_first_shim_is_no_news(tmp_path: Path) -> None:
    lost: list[str] = []
    async with (
        shim_in(tmp_path, lambda _: ContainerList()),
        ShimClient(tmp_path, on_lost=lambda: lost.append("lost")) as client,
    ):
        await client.listed()

    assert lost == []


@pytest.mark.virtual_time
async def test_a_shim_of_another_version_is_told_and_not_pestered(tmp_path: Path) -> None:
    async with shim_in(tmp_path, version=99) as shim:
        with pytest.raises(ShimUnavailable, match="speaks version 99, and this agent 4"):
            async with ShimClient(tmp_path):
                pass

    assert shim.greeted <= STARTUP_TIMEOUT + 1


@pytest.mark.parametrize("words", [b"", b"nonsense\n"])
@pytest.mark.virtual_time
async def test_a_shim_that_hangs_up_without_a_greeting_is_not_pestered(
    tmp_path: Path, words: bytes
) -> None:
    greeted = 0

    def hang_up(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal greeted
        greeted += 1
        writer.write(words)
        writer.close()

    async with await asyncio.start_unix_server(hang_up, socket_path(tmp_path)):
        with pytest.raises(ShimUnavailable, match="ended the line without a greeting"):
            async with ShimClient(tmp_path):
                pass

    assert greeted <= STARTUP_TIMEOUT + 1


@pytest.mark.virtual_time
async def test_what_an_earlier_version_left_running_is_found_and_refused(tmp_path: Path) -> None:
    def greet(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b'{"version":1,"pid":7}\n')  # as every version says it, whatever follows
        writer.close()

    async with await asyncio.start_unix_server(greet, tmp_path / "keeper.sock"):
        with pytest.raises(ShimUnavailable, match="the shim 7 speaks version 1"):
            async with ShimClient(tmp_path):
                pass

    assert not (tmp_path / protocol.JOURNAL).exists()  # and nobody started one beside it


async def test_a_shim_is_started_where_there_is_none_and_ended_when_told(tmp_path: Path) -> None:
    async with ShimClient(tmp_path) as client:
        listed = await client.listed()
        was_there = process_entry(client.pid) is not None
        await client.stop()
        with pytest.raises(ShimUnavailable):
            await client.listed()

        assert (listed, was_there) == ((), True)
        assert process_entry(client.pid) is None
        assert not socket_path(tmp_path).exists()


@pytest.mark.virtual_time
async def test_no_other_shim_is_started_for_one_that_was_stopped(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with shim_in(tmp_path) as shim, ShimClient(tmp_path) as client:
        shim.answer = lambda asked: shim.hang_up()
        await client.stop()
        await asyncio.sleep(60.0)
        with pytest.raises(ShimUnavailable, match=r"^the shim has been stopped$"):
            await client.listed()

        assert client._shim is None
    assert caplog.records == []


async def test_the_shim_outlives_the_agent_and_the_next_one_finds_it(tmp_path: Path) -> None:
    async with ShimClient(tmp_path) as client:
        first = client.pid
    async with ShimClient(tmp_path) as client:
        second = client.pid
        await client.stop()
    # Ours, though nobody in this life of the agent started it.
    await asyncio.to_thread(os.waitpid, first, 0)

    assert first == second


async def test_a_shim_that_cannot_be_reached_for_long_is_complained_of_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    tries: list[str] = []
    enough = asyncio.Event()

    async def no_descriptors(*_: object, **__: object) -> None:
        tries.append("try")
        if len(tries) == 5:
            enough.set()
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr(shim_client, "RETRY_EVERY", 0.0)
    async with shim_in(tmp_path) as shim, ShimClient(tmp_path) as client:
        with monkeypatch.context() as without:
            without.setattr(asyncio, "open_unix_connection", no_descriptors)
            shim.hang_up()
            await enough.wait()
        await client.up()

    assert [each for each in caplog.messages if "cannot be reached" in each] == [
        "the shim cannot be reached: [Errno 24] Too many open files"
    ]


async def test_a_mistake_in_the_line_to_the_shim_ends_it_for_good(tmp_path: Path) -> None:
    def mistaken(_: str) -> None:
        raise TypeError("a mistake")

    permanent = PermanentTasks()
    client = ShimClient(tmp_path, on_ended=mistaken, permanent=permanent)
    async with shim_in(tmp_path) as shim:
        await client.__aenter__()
        shim.say(ContainerEnded("c1", "u1"))
        with pytest.raises(TaskEnded, match="'shim'"):
            await permanent.ended()
        with pytest.raises(ExceptionGroup):
            await client.__aexit__(None, None, None)
