"""A stream for each object."""

from __future__ import annotations

import asyncio

import pytest

from reflet.api.core.config import ConfigMap
from reflet.managers.object_entry import EntryEvent, EntryState, ObjectEntry
from reflet.managers.watches.object_watch import StreamSettings
from reflet.managers.watches.streams import IndividualStreams
from reflet.runtime.tasks import TaskOwner
from reflet.testing.virtual_time import VirtualClock
from tests.served_objects import ServedObjects

pytestmark = pytest.mark.virtual_time

A_MOMENT = 0.001


def entry(name: str) -> ObjectEntry[ConfigMap]:
    return ObjectEntry("shop", name, now=0.0, changed=lambda changed: None)


def streams_of(server: ServedObjects) -> IndividualStreams[ConfigMap]:
    clock = VirtualClock()
    settings = StreamSettings(server=server, kind=ConfigMap, word="configmap", clock=clock)
    return IndividualStreams(settings)


async def test_each_entry_has_a_stream_while_it_needs_one() -> None:
    server = ServedObjects()
    streams = streams_of(server)
    first, second, third = entry("a"), entry("b"), entry("c")
    async with TaskOwner("test") as tasks:
        streams.open(tasks)
        for each in (first, second, third):
            streams.start(each)
        await asyncio.sleep(A_MOMENT)
        all_open = sorted(server.streams)
        streams.idle(first)
        streams.release(second)
        streams.release(second)
        await asyncio.sleep(A_MOMENT)
        rest = list(server.streams)
        streams.start(first)
        await asyncio.sleep(A_MOMENT)

        assert all_open == [("shop", "a"), ("shop", "b"), ("shop", "c")]
        assert rest == [("shop", "c")]
        assert {stream.name for stream in streams.plan().streams} == {"a", "c"}
        assert (first.synced, third.synced) == (True, True)


async def test_an_idle_entry_has_no_answer() -> None:
    streams = streams_of(ServedObjects())
    item = entry("a")
    async with TaskOwner("test") as tasks:
        streams.open(tasks)
        streams.start(item)
        await asyncio.sleep(A_MOMENT)
        item.happened(EntryEvent.UNREAD_FOR_LONG)
        streams.idle(item)

        assert item.state is EntryState.IDLE


async def test_nothing_begins_before_the_opening_or_after_the_end() -> None:
    server = ServedObjects()
    streams = streams_of(server)
    streams.start(entry("a"))
    async with TaskOwner("test") as tasks:
        streams.open(tasks)
        streams.close()
        streams.start(entry("a"))
        await asyncio.sleep(A_MOMENT)

    assert server.requests == []
