"""What comes out of a watch stream."""

from __future__ import annotations

import json
from typing import Any

import pytest

from reflet.api.core.config import ConfigMap
from reflet.api.watch_events import EventDecoder
from reflet.client.watch import Watch
from reflet.errors import DecodeError, Expired, TransportError
from tests.unit.client.scripted_transport import ScriptedStream


def line(kind: str, name: str = "a") -> bytes:
    document: dict[str, Any] = {
        "type": kind,
        "object": {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": name}},
    }
    return json.dumps(document).encode() + b"\n"


GONE = (
    json.dumps(
        {"type": "ERROR", "object": {"kind": "Status", "code": 410, "reason": "Expired"}}
    ).encode()
    + b"\n"
)


def watch(*chunks: bytes) -> Watch[ConfigMap]:
    return Watch(ScriptedStream(200, chunks), EventDecoder(ConfigMap))


async def read(watch: Watch[ConfigMap], seen: list[list[str]]) -> None:
    async for batch in watch.batches():
        names = [event.object.metadata.name for event in batch]
        seen.append(names)


async def test_events_that_arrive_together_come_together() -> None:
    seen: list[list[str]] = []
    watched = watch(line("ADDED", "a") + line("ADDED", "b"), line("ADDED", "c"))

    await read(watched, seen)

    assert seen == [["a", "b"], ["c"]]
    assert watched.received_bytes == sum(len(line("ADDED", name)) for name in "abc")


async def test_an_event_split_over_chunks_is_one_event() -> None:
    seen: list[list[str]] = []
    whole = line("ADDED", "a")

    await read(watch(whole[:10], whole[10:20], whole[20:]), seen)

    assert seen == [["a"]]


async def test_an_error_event_is_raised_after_the_events_before_it() -> None:
    seen: list[list[str]] = []

    with pytest.raises(Expired):
        await read(watch(line("ADDED", "a") + GONE), seen)

    assert seen == [["a"]]


async def test_a_broken_line_is_raised_after_the_events_before_it() -> None:
    seen: list[list[str]] = []

    with pytest.raises(DecodeError):
        await read(watch(line("ADDED", "a") + b"{broken\n" + line("ADDED", "b")), seen)

    assert seen == [["a"]]


async def test_a_stream_that_ends_inside_a_line_is_not_a_normal_end() -> None:
    seen: list[list[str]] = []

    with pytest.raises(TransportError, match="inside a line"):
        await read(watch(line("ADDED", "a") + b'{"type":"ADD'), seen)

    assert seen == [["a"]]


async def test_empty_lines_are_nothing() -> None:
    seen: list[list[str]] = []

    await read(watch(b"\n", b"\n\n", line("ADDED", "a")), seen)

    assert seen == [["a"]]
