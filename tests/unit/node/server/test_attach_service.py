"""Attaching on the node: what a log holds by stream, who may, and how it ends."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from reflet.api.core.containers import Container
from reflet.api.core.pods import Pod, PodSpec
from reflet.api.meta import ObjectMeta
from reflet.node.server.attach_service import AttachService, by_stream
from reflet.node.server.stream_channels import StreamPlaces
from reflet.node.shim.container_records import ContainerRecord
from reflet.node.shim.protocol import ShimUnavailable
from reflet.pleg.runtime_status import RuntimeState
from reflet.runtime.clock import SystemClock
from reflet.transport.serving.http_answers import Answer, Question, Upgrade
from reflet.transport.upgrades.channels import STDERR, STDOUT
from reflet.transport.upgrades.websocket import WebSocket
from tests.byte_lines import MemoryLine

HEADERS = {
    "upgrade": "websocket",
    "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
    "sec-websocket-version": "13",
    "sec-websocket-protocol": "v5.channel.k8s.io",
}
SUCCESS = b'\x03{"metadata": {}, "status": "Success"}'


class Node:
    """A pod with one container, whose log and pipe are in *folder*."""

    def __init__(self, folder: Path, *, most: int = 4, **settings: Any) -> None:
        self.record = ContainerRecord(
            id="c1",
            uid="u1",
            name="main",
            attempt=0,
            folder=str(folder),
            pid=1,
            started_at=1.0,
            **settings,
        )
        self.record.log.write_bytes(b"t stdout F before\n")
        if self.record.stdin:
            os.mkfifo(self.record.pipe("stdin"))
        self.ended_inputs: list[str] = []
        self.failure: Exception | None = None
        container = Container(name="main", tty=settings.get("stdin_once", False))
        self._pod = Pod(
            metadata=ObjectMeta(name="web", namespace="shop", uid="u1"),
            spec=PodSpec(containers=(container,)),
        )
        self.service = AttachService(
            find_pod=lambda *_: self._pod,
            records=self._records,
            close_stdin=self._close_stdin,
            places=StreamPlaces(most),
            turns=asyncio.Semaphore(),
            clock=SystemClock(),
        )

    def end(self) -> None:
        """Let the container end."""
        self.record = ContainerRecord(
            **{name: getattr(self.record, name) for name in ("id", "uid", "name", "folder")},
            attempt=0,
            pid=1,
            finished_at=2.0,
        )

    def write(self, lines: bytes) -> None:
        with self.record.log.open("ab") as log:
            log.write(lines)

    async def _records(self, _: str) -> list[ContainerRecord]:
        if self.failure is not None:
            raise self.failure
        return [self.record]

    async def _close_stdin(self, container: str) -> bool:
        self.ended_inputs.append(container)
        return True

    async def answer(self, **query: str) -> Answer | Upgrade:
        return await self.service.answer(
            Question(("attach", "shop", "web", "main"), query, HEADERS)
        )

    @asynccontextmanager
    async def attached(self, **query: str) -> AsyncIterator[WebSocket]:
        """A client that is attached."""
        answer = await self.answer(**query)
        assert isinstance(answer, Upgrade), answer
        here, there = MemoryLine.pair()
        client = WebSocket(here, is_client=True)
        serving = asyncio.ensure_future(answer.serve(there))
        await client.receive()  # the first word, which says that it is
        try:
            yield client
        finally:
            await client.close()
            await serving


async def heard(client: WebSocket) -> bytes | None:
    message = await client.receive()
    return None if message is None else message.payload


def test_a_log_is_taken_apart_by_stream_and_put_together_as_it_was_written() -> None:
    block = (
        b"t stdout F one\nt stdout P two \nt stdout F three\n"
        b"t stderr F wrong\nt stdout F \nt other F none\nnonsense\n"
    )

    assert list(by_stream(block)) == [
        (STDOUT, b"one\ntwo three\n"),
        (STDERR, b"wrong\n"),
        (STDOUT, b"\n"),
    ]


async def test_output_comes_from_now_on_until_the_container_has_ended(tmp_path: Path) -> None:
    node = Node(tmp_path)
    async with node.attached(output="1", error="1") as client:
        node.write(b"t stdout F after\n")
        first = await heard(client)
        node.write(b"t stderr P last words\n")
        node.end()
        rest = [await heard(client) for _ in range(3)]

    assert first == b"\x01after\n"
    assert rest == [b"\x02last words", SUCCESS, None]


async def test_a_stream_that_was_not_asked_for_is_left_out(tmp_path: Path) -> None:
    node = Node(tmp_path)
    async with node.attached(error="1") as client:
        node.write(b"t stdout F no\nt stderr F yes\n")

        assert await heard(client) == b"\x02yes\n"


async def test_what_was_written_last_reaches_the_container_of_a_client_that_left(
    tmp_path: Path,
) -> None:
    node = Node(tmp_path, stdin=True)
    descriptor = os.open(node.record.pipe("stdin"), os.O_RDWR | os.O_NONBLOCK)
    with os.fdopen(descriptor, "rb", buffering=0) as container:
        async with node.attached(input="1", output="1") as client:
            await client.send(b"\x00last")

        assert container.read(100) == b"last"
    assert node.ended_inputs == []


async def test_an_input_that_is_read_once_ends_with_whoever_was_attached(tmp_path: Path) -> None:
    node = Node(tmp_path, stdin=True, stdin_once=True)
    with os.fdopen(os.open(node.record.pipe("stdin"), os.O_RDWR), "rb", buffering=0):
        async with node.attached(input="1", output="1"):
            assert node.ended_inputs == []

    assert node.ended_inputs == ["c1"]


@pytest.mark.parametrize(
    ("settings", "query", "words"),
    [
        ({}, {"input": "1"}, "has no stdin to attach to"),
        ({"stdin_once": True}, {"output": "1", "tty": "1"}, "has no terminal"),
        ({}, {}, "at least 1 of stdin"),
    ],
)
async def test_what_a_container_does_not_have_is_refused(
    tmp_path: Path, settings: dict[str, bool], query: dict[str, str], words: str
) -> None:
    answer = await Node(tmp_path, **settings).answer(**query)

    assert isinstance(answer, Answer)
    assert isinstance(answer.body, bytes)
    assert (answer.status, words in answer.body.decode()) == (400, True)


async def test_a_terminal_is_not_missed_by_a_container_that_asked_for_none(tmp_path: Path) -> None:
    assert isinstance(await Node(tmp_path).answer(output="1", tty="1"), Upgrade)


async def test_a_container_that_does_not_run_or_cannot_be_found_is_said_so(tmp_path: Path) -> None:
    node = Node(tmp_path)
    node.end()
    ended = await node.answer(output="1")
    node.failure = ShimUnavailable("away")
    unknown = await node.answer(output="1")

    assert node.record.state is RuntimeState.EXITED
    assert isinstance(ended, Answer)
    assert isinstance(unknown, Answer)
    assert (ended.status, ended.body) == (404, b"container main not found in pod web_shop\n")
    assert unknown.status == 503


async def test_only_so_many_are_attached_at_a_time(tmp_path: Path) -> None:
    node = Node(tmp_path, most=1)
    agreed = await node.answer(output="1")
    assert isinstance(agreed, Upgrade)
    async with node.attached(output="1"):
        refused = await node.answer(output="1")
        here, there = MemoryLine.pair()
        late = WebSocket(here, is_client=True)
        serving = asyncio.ensure_future(agreed.serve(there))
        said: list[Any] = [await heard(late) for _ in range(2)]
        await late.close()
        await serving

    assert isinstance(refused, Answer)
    assert refused.status == 429
    assert "no more fit" in json.loads(said[1][1:])["message"]
