from __future__ import annotations

import asyncio
import fcntl
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NoReturn, cast

import pytest

from reflet.node.shim import protocol
from reflet.node.shim.protocol import (
    Answered,
    Asked,
    ContainerEnded,
    ContainerRequest,
    Declined,
    Done,
    ExecSync,
    Greeting,
    RemoveContainer,
    ShimAnswer,
    ShimRefused,
    SignalContainer,
    StopContainer,
    StopShim,
    Told,
)
from reflet.node.shim.service import UNEMPLOYED, ShimService, main
from reflet.node.shim.shim import Listener, Shim
from reflet.node.shim.shim_socket import socket_path
from reflet.runtime.permanent_tasks import TaskEnded

pytestmark = pytest.mark.virtual_time


class FakeShim:
    """Has done whatever is asked, but removes nothing, stumbles over commands, lacks memory."""

    def __init__(self) -> None:
        self.has_work = False
        self.ends: asyncio.Queue[TaskEnded] = asyncio.Queue()
        self.listeners: list[Listener] = []

    def listen(self, listener: Listener) -> None:
        self.listeners.append(listener)

    def forget(self, listener: Listener) -> None:
        self.listeners.remove(listener)

    async def ended(self) -> NoReturn:
        raise await self.ends.get()

    async def answer(self, request: ContainerRequest) -> ShimAnswer:
        match request:
            case RemoveContainer():
                raise ShimRefused("the shim removes nothing")
            case ExecSync(arguments=arguments):
                raise KeyError(arguments)
            case StopContainer():
                raise MemoryError
            case _:
                return Done(did=True)


class Agent:
    """Somebody who talks to the service."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    async def greeted(self) -> Greeting:
        return protocol.read_greeting(await self.reader.readline())

    async def hear(self) -> Told:
        return protocol.read_told(await self.reader.readline())

    async def ask(self, number: int, request: Any) -> Told:
        self.writer.write(protocol.encoded(Asked(number, request)))
        return await self.hear()


class Stage:
    def __init__(self, folder: Path) -> None:
        self.shim = FakeShim()
        self.socket = folder / "s"
        service = ShimService(cast("Shim", self.shim))
        self.serving = asyncio.create_task(service.run(self.socket))

    @asynccontextmanager
    async def agent(self) -> AsyncIterator[Agent]:
        """An agent that was greeted."""
        agent = Agent(*await asyncio.open_unix_connection(self.socket))
        await agent.greeted()
        try:
            yield agent
        finally:
            agent.writer.close()


@asynccontextmanager
async def serving(folder: Path) -> AsyncIterator[Stage]:
    stage = Stage(folder)
    await asyncio.sleep(0.1)
    try:
        yield stage
    finally:
        stage.serving.cancel()
        await asyncio.wait((stage.serving,))


async def test_an_agent_is_greeted_by_version_and_process(tmp_path: Path) -> None:
    async with serving(tmp_path) as stage:
        reader, writer = await asyncio.open_unix_connection(stage.socket)
        greeting = await Agent(reader, writer).greeted()
        writer.close()

    assert greeting == Greeting(protocol.VERSION, os.getpid())


async def test_an_answer_carries_the_number_of_its_question(tmp_path: Path) -> None:
    async with serving(tmp_path) as stage, stage.agent() as agent:
        answer = await agent.ask(7, SignalContainer("c1", 15))

    assert answer == Answered(7, Done(did=True))


async def test_what_cannot_be_done_is_refused_in_words(tmp_path: Path) -> None:
    async with serving(tmp_path) as stage, stage.agent() as agent:
        answer = await agent.ask(1, RemoveContainer("c1"))

    assert answer == Declined(1, "the shim removes nothing")


async def test_what_lacks_memory_is_refused_at_once(tmp_path: Path) -> None:
    async with serving(tmp_path) as stage, stage.agent() as agent:
        answer = await agent.ask(1, StopContainer("c1", 2.0))

    assert answer == Declined(1, "the shim is out of memory")


async def test_a_request_that_is_not_understood_is_not_repeated_to_anybody(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with serving(tmp_path) as stage, stage.agent() as agent:
        answers = [
            await agent.ask(1, {"type": "s3cret"}),
            await agent.ask(2, {"type": "ExecSync", "id": "c1", "arguments": "s3cret"}),
            await agent.ask(3, ExecSync("c1", ("s3cret",), 1.0)),
            await agent.ask(4, SignalContainer("c1", 15)),
        ]

    assert answers == [
        Declined(1, "the shim does not understand the request"),
        Declined(2, "the shim does not understand the request"),
        Declined(3, "the shim failed at ExecSync"),
        Answered(4, Done(did=True)),
    ]
    assert "s3cret" not in caplog.text


async def test_what_ends_is_told_to_every_agent_that_still_listens(tmp_path: Path) -> None:
    async with serving(tmp_path) as stage, stage.agent() as one:
        async with stage.agent() as two:
            for listener in stage.shim.listeners:
                listener(ContainerEnded("c1", "u1"))
            heard = [await one.hear(), await two.hear()]
        await asyncio.sleep(1.0)

        assert len(stage.shim.listeners) == 1
    assert heard == [ContainerEnded("c1", "u1")] * 2


async def test_who_talks_nonsense_is_no_longer_heard_and_others_are(tmp_path: Path) -> None:
    async with serving(tmp_path) as stage, stage.agent() as one, stage.agent() as two:
        one.writer.write(b"nonsense\n")
        end = await one.reader.read()
        answer = await two.ask(1, SignalContainer("c1", 15))

    assert (end, answer) == (b"", Answered(1, Done(did=True)))


async def test_it_ends_when_it_is_told_to(tmp_path: Path) -> None:
    async with serving(tmp_path) as stage, stage.agent() as agent:
        stage.shim.has_work = True
        agent.writer.write(protocol.encoded(Asked(1, StopShim())))
        async with asyncio.timeout(UNEMPLOYED / 2):
            await stage.serving


async def test_without_agent_and_without_work_it_ends(tmp_path: Path) -> None:
    async with serving(tmp_path) as stage:
        async with stage.agent():
            await asyncio.sleep(10 * UNEMPLOYED)
            with_agent = stage.serving.done()
        stage.shim.has_work = True
        await asyncio.sleep(10 * UNEMPLOYED)
        with_work = stage.serving.done()
        stage.shim.has_work = False
        await asyncio.sleep(2 * UNEMPLOYED)

        assert (with_agent, with_work, stage.serving.done()) == (False, False, True)


def test_a_second_shim_of_a_folder_leaves_it_to_the_first(tmp_path: Path) -> None:
    socket = socket_path(tmp_path)
    socket.touch()
    lock = os.open(tmp_path / protocol.LOCK, os.O_RDWR | os.O_CREAT)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        code = main([str(tmp_path)])
    finally:
        os.close(lock)

    assert (code, socket.exists()) == (0, True)


async def test_a_shim_that_cannot_keep_its_promises_makes_room_for_another(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with serving(tmp_path) as stage, stage.agent() as agent:
        stage.shim.has_work = True
        stage.shim.ends.put_nowait(TaskEnded("reaper of orphans", "TypeError"))
        await stage.serving
        said = await agent.reader.readline()

    assert said == b""
    assert "the shim ends: the task 'reaper of orphans' has ended for good" in caplog.text
