from __future__ import annotations

import asyncio
import errno
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from reflet.node.shim import protocol, shim_client
from reflet.node.shim.container_records import ContainerRecord
from reflet.node.shim.protocol import KeeperRefused, KeeperUnavailable
from reflet.node.shim.shim_client import ANSWER_PATIENCE, PATIENCE, KeeperClient
from reflet.processes.process_table import process_entry
from reflet.runtime.permanent_tasks import PermanentTasks, TaskEnded

RECORD = ContainerRecord(id="c1", uid="u1", name="main", attempt=0, folder="/nowhere")


class ScriptedKeeper:
    """Listens where a keeper would; *answer* gives what to say to a request, None for nothing."""

    def __init__(self, folder: Path, answer: Callable[[dict[str, Any]], Any]) -> None:
        self.path = protocol.socket_path(folder)
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
        self.say({"version": self.version, "pid": 4711})
        try:
            while line := await reader.readline():
                asked = protocol.decoded(line)
                reply = self.answer(asked)
                if reply is not None:
                    self.say({"number": asked["number"], **reply})
        except ConnectionError:
            pass
        finally:
            self.writers.discard(writer)
            writer.close()

    def say(self, message: dict[str, Any]) -> None:
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
async def keeper_in(
    folder: Path, answer: Callable[[dict[str, Any]], Any] = lambda _: None, **changes: Any
) -> AsyncIterator[ScriptedKeeper]:
    keeper = ScriptedKeeper(folder, answer)
    for name, value in changes.items():
        setattr(keeper, name, value)
    await keeper.start()
    try:
        yield keeper
    finally:
        await keeper.close()


@pytest.mark.virtual_time
async def test_an_answer_goes_to_whoever_asked(tmp_path: Path) -> None:
    waiting: list[dict[str, Any]] = []

    def answer(asked: dict[str, Any]) -> None:
        """Answer the second question first."""
        waiting.append(asked)
        if len(waiting) == 2:
            for each in reversed(waiting):
                reply = [RECORD.document() | {"uid": each["uid"]}]
                keeper.say({"number": each["number"], "answer": reply})

    async with keeper_in(tmp_path, answer) as keeper, KeeperClient(tmp_path) as client:
        first, second = await asyncio.gather(client.records("a"), client.records("b"))

    assert (first[0].uid, second[0].uid) == ("a", "b")


@pytest.mark.virtual_time
async def test_a_refusal_is_told_in_the_keepers_words(tmp_path: Path) -> None:
    async with (
        keeper_in(tmp_path, lambda _: {"refusal": "there is no container c1"}),
        KeeperClient(tmp_path) as client,
    ):
        with pytest.raises(KeeperRefused, match=r"^there is no container c1$"):
            await client.end("c1", 1.0)


@pytest.mark.virtual_time
async def test_whoever_waits_for_an_end_waits_as_long_as_the_end_may_take(tmp_path: Path) -> None:
    async with keeper_in(tmp_path), KeeperClient(tmp_path) as client:
        loop = asyncio.get_running_loop()
        began = loop.time()
        with pytest.raises(KeeperUnavailable, match="did not answer 'end' in time"):
            await client.end("c1", 600.0)

        assert loop.time() - began == pytest.approx(600.0 + ANSWER_PATIENCE, abs=1.0)


@pytest.mark.virtual_time
async def test_the_end_of_a_container_is_told_by_its_pod(tmp_path: Path) -> None:
    ended: list[str] = []
    async with (
        keeper_in(tmp_path, lambda _: {"answer": []}) as keeper,
        KeeperClient(tmp_path, on_ended=ended.append) as client,
    ):
        keeper.say({"ended": "c1", "uid": "u1"})
        await client.listed()

    assert ended == ["u1"]


@pytest.mark.virtual_time
async def test_a_keeper_that_is_lost_fails_who_waits_and_is_found_again(tmp_path: Path) -> None:
    found = asyncio.Event()
    async with (
        keeper_in(tmp_path) as keeper,
        KeeperClient(tmp_path, on_lost=found.set) as client,
    ):
        asking = asyncio.create_task(client.listed())
        await asyncio.sleep(1.0)
        keeper.hang_up()
        with pytest.raises(KeeperUnavailable, match="the keeper was lost"):
            await asking
        await found.wait()

        assert (client.is_connected, keeper.greeted) == (True, 2)


@pytest.mark.virtual_time
async def test_the_first_keeper_is_no_news(tmp_path: Path) -> None:
    lost: list[str] = []
    async with (
        keeper_in(tmp_path, lambda _: {"answer": []}),
        KeeperClient(tmp_path, on_lost=lambda: lost.append("lost")) as client,
    ):
        await client.listed()

    assert lost == []


@pytest.mark.virtual_time
async def test_a_keeper_of_another_version_is_told_and_not_pestered(tmp_path: Path) -> None:
    async with keeper_in(tmp_path, version=99) as keeper:
        with pytest.raises(KeeperUnavailable, match="speaks version 99, and this agent 2"):
            async with KeeperClient(tmp_path):
                pass

    assert keeper.greeted <= PATIENCE + 1


async def test_a_keeper_is_started_where_there_is_none_and_ended_when_told(tmp_path: Path) -> None:
    async with KeeperClient(tmp_path) as client:
        listed = await client.listed()
        was_there = process_entry(client.pid) is not None
        await client.stop()
        with pytest.raises(KeeperUnavailable):
            await client.listed()

        assert (listed, was_there) == ([], True)
        assert process_entry(client.pid) is None
        assert not protocol.socket_path(tmp_path).exists()


@pytest.mark.virtual_time
async def test_no_other_keeper_is_started_for_one_that_was_stopped(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with keeper_in(tmp_path) as keeper, KeeperClient(tmp_path) as client:
        keeper.answer = lambda asked: keeper.hang_up()
        await client.stop()
        await asyncio.sleep(60.0)
        with pytest.raises(KeeperUnavailable, match=r"^the keeper has been stopped$"):
            await client.listed()

        assert client._keeper is None
    assert caplog.records == []


async def test_the_keeper_outlives_the_agent_and_the_next_one_finds_it(tmp_path: Path) -> None:
    async with KeeperClient(tmp_path) as client:
        first = client.pid
    async with KeeperClient(tmp_path) as client:
        second = client.pid
        await client.stop()
    # Ours, though nobody in this life of the agent started it.
    await asyncio.to_thread(os.waitpid, first, 0)

    assert first == second


async def test_a_keeper_that_cannot_be_reached_for_long_is_complained_of_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    tries: list[str] = []
    enough = asyncio.Event()

    async def no_descriptors(*_: object, **__: object) -> None:
        tries.append("try")
        if len(tries) == 5:
            enough.set()
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr(shim_client, "TRY_EVERY", 0.0)
    async with keeper_in(tmp_path) as keeper, KeeperClient(tmp_path) as client:
        with monkeypatch.context() as without:
            without.setattr(asyncio, "open_unix_connection", no_descriptors)
            keeper.hang_up()
            await enough.wait()
        await client.up()

    assert [each for each in caplog.messages if "cannot be reached" in each] == [
        "the keeper cannot be reached: [Errno 24] Too many open files"
    ]


async def test_a_mistake_in_the_line_to_the_keeper_ends_it_for_good(tmp_path: Path) -> None:
    def mistaken(_: str) -> None:
        raise TypeError("a mistake")

    permanent = PermanentTasks()
    client = KeeperClient(tmp_path, on_ended=mistaken, permanent=permanent)
    async with keeper_in(tmp_path) as keeper:
        await client.__aenter__()
        keeper.say({"ended": "c1", "uid": "u1"})
        with pytest.raises(TaskEnded, match="'keeper'"):
            await permanent.ended()
        with pytest.raises(ExceptionGroup):
            await client.__aexit__(None, None, None)
