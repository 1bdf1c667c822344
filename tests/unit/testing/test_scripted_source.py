from __future__ import annotations

import asyncio

import pytest

from reflet.api.core.config import ConfigMap
from reflet.api.meta import ObjectMeta
from reflet.api.options import ListOptions, WatchOptions
from reflet.api.watch_events import WatchEvent
from reflet.errors import DeadlineExceeded, Expired
from reflet.testing.scripted_source import (
    After,
    Quiet,
    ScriptedSource,
    ScriptEnded,
    added,
    bookmark,
    deleted,
    listing,
    modified,
)

A = ConfigMap(metadata=ObjectMeta(name="a"))


async def read(
    source: ScriptedSource[ConfigMap], *, silence: float | None = None
) -> list[WatchEvent[ConfigMap]]:
    async with source.watch(WatchOptions(), silence=silence) as watch:
        return [event async for batch in watch.batches() for event in batch]


async def test_lists_and_watches_come_in_the_order_of_the_script() -> None:
    source = ScriptedSource(
        lists=[listing("5", A), listing("6")],
        watches=[[added(A)], [modified(A), [deleted(A), bookmark("9")]]],
    )

    assert await source.page(ListOptions()) == listing("5", A)
    assert await source.page(ListOptions()) == listing("6")
    assert await read(source) == [added(A)]
    assert await read(source) == [modified(A), deleted(A), bookmark("9")]


async def test_what_was_asked_is_remembered_in_words_and_as_options() -> None:
    source = ScriptedSource[ConfigMap](lists=[listing("5"), listing("5")], watches=[[], []])
    options: list[ListOptions | WatchOptions] = [
        ListOptions(resource_version="0"),
        ListOptions(continue_="more"),
        WatchOptions(resource_version="7"),
        WatchOptions(send_initial_events=True),
    ]

    for asked in options:
        if isinstance(asked, ListOptions):
            await source.page(asked)
        else:
            async with source.watch(asked, silence=None):
                pass

    assert source.requests == ["list at '0'", "page 'more'", "watch since '7'", "stream at ''"]
    assert source.asked == options


async def test_errors_refuse_requests_and_break_streams() -> None:
    source = ScriptedSource[ConfigMap](
        lists=[Expired("list")], watches=[Expired("request"), [added(A), Expired("stream")]]
    )

    for what, asking in [
        ("list", source.page(ListOptions())),
        ("request", read(source)),
        ("stream", read(source)),
    ]:
        with pytest.raises(Expired, match=what):
            await asking


async def test_a_list_beyond_the_script_is_a_mistake_of_the_test() -> None:
    with pytest.raises(ScriptEnded):
        await ScriptedSource[ConfigMap]().page(ListOptions())


async def test_a_watch_beyond_the_script_is_open_and_quiet() -> None:
    source = ScriptedSource[ConfigMap]()
    reading = asyncio.create_task(read(source, silence=0))

    await source.until_quiet()
    assert source.open_watches == 1
    reading.cancel()
    await asyncio.wait((reading,))

    assert source.open_watches == 0


@pytest.mark.virtual_time
async def test_a_dead_stream_ends_with_the_patience_of_its_reader() -> None:
    with pytest.raises(DeadlineExceeded):
        await read(ScriptedSource[ConfigMap](watches=[[Quiet.DEAD]]), silence=90)

    assert asyncio.get_running_loop().time() == 90


@pytest.mark.virtual_time
async def test_a_pause_takes_its_time() -> None:
    assert await read(ScriptedSource[ConfigMap](watches=[[After(7), added(A)]])) == [added(A)]

    assert asyncio.get_running_loop().time() == 7
