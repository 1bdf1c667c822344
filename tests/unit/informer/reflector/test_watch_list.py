from __future__ import annotations

import asyncio

import pytest

from reflet.api.core.config import ConfigMap
from reflet.api.meta import ObjectMeta
from reflet.api.options import WatchOptions
from reflet.errors import TransportError
from reflet.informer.reflector.requests import OpenWatch
from reflet.informer.reflector.watch_list import InitialEvents, read_initial_events
from reflet.testing.scripted_source import (
    After,
    Quiet,
    ScriptedSource,
    Step,
    added,
    bookmark,
    deleted,
    modified,
)
from reflet.testing.virtual_time import VirtualClock


def config_map(name: str, version: str) -> ConfigMap:
    return ConfigMap(metadata=ObjectMeta(name=name, namespace="shop", resource_version=version))


A, B = config_map("a", "1"), config_map("b", "2")
END = bookmark("9", ends_initial_events=True)


async def opened(*script: Step[ConfigMap]) -> OpenWatch[ConfigMap]:
    source = ScriptedSource[ConfigMap](watches=[script])
    return await OpenWatch.open(source.watch(WatchOptions(), silence=None), opened_at="", since=0.0)


async def read(watch: OpenWatch[ConfigMap]) -> InitialEvents[ConfigMap] | None:
    try:
        return await read_initial_events(
            watch,
            accept=lambda events: events,
            progressed=lambda: None,
            name="test",
            clock=VirtualClock(),
        )
    finally:
        await watch.close()


def test_the_state_is_complete_at_the_bookmark_that_says_so() -> None:
    initial = InitialEvents[ConfigMap]()

    assert initial.take([added(A), bookmark("5")]) is None
    assert initial.take([added(B), END]) == []
    assert (initial.items, initial.version) == ([A, B], "9")


def test_changes_before_the_end_are_part_of_the_state() -> None:
    initial = InitialEvents[ConfigMap]()
    newer = config_map("a", "3")

    initial.take([added(A), added(B), modified(newer), deleted(B), END])

    assert initial.items == [newer]


def test_what_comes_behind_the_bookmark_is_left_over() -> None:
    assert InitialEvents[ConfigMap]().take([END, added(A), added(B)]) == [added(A), added(B)]


async def test_the_stream_goes_on_where_the_state_ends() -> None:
    watch = await opened([added(A), END, added(B)], Quiet.HEALTHY)

    initial = await read(watch)

    assert initial is not None
    assert initial.items == [A]
    assert await watch.next_batch() == [added(B)]
    assert watch.opened_at == "9"


async def test_a_stream_that_is_closed_early_gives_nothing() -> None:
    assert await read(await opened(added(A))) is None


async def test_a_stream_that_breaks_raises() -> None:
    with pytest.raises(TransportError):
        await read(await opened(added(A), TransportError("reset")))


@pytest.mark.virtual_time
async def test_waiting_for_a_stream_that_brings_nothing_is_complained_about(
    caplog: pytest.LogCaptureFixture,
) -> None:
    await read(await opened(After(25), END))

    assert [record.message for record in caplog.records] == [
        "test: awaiting required bookmark event for initial events stream, "
        f"no events received for {seconds}s"
        for seconds in (10, 20)
    ]


@pytest.mark.virtual_time
async def test_waiting_for_the_end_is_complained_about(caplog: pytest.LogCaptureFixture) -> None:
    await read(await opened(After(4), added(A), After(8), END))

    (record,) = caplog.records
    assert record.message == (
        "test: hasn't received required bookmark event marking the end of initial events stream, "
        "received last event 6s ago"
    )


@pytest.mark.virtual_time
async def test_a_cancelled_reader_leaves_nobody_complaining() -> None:
    watch = await opened(Quiet.HEALTHY)
    reading = asyncio.create_task(read(watch))
    await asyncio.sleep(1)

    reading.cancel()
    await asyncio.wait((reading,))

    assert asyncio.all_tasks() == {asyncio.current_task()}
