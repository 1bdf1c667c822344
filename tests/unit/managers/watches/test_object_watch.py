"""The stream of one object, straight into a place for one object."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from reflet.api.core.config import ConfigMap
from reflet.api.options import WatchOptions
from reflet.api.watch_events import WatchEvent
from reflet.errors import Expired
from reflet.managers.object_entry import ObjectEntry
from reflet.managers.watches.object_watch import ObjectWatch, StreamSettings
from reflet.runtime.tasks import TaskOwner
from reflet.testing.scripted_source import (
    Quiet,
    ScriptedSource,
    added,
    bookmark,
    deleted,
    listing,
    modified,
)
from reflet.testing.virtual_time import VirtualClock
from tests.unit.store.config_maps import config_map

pytestmark = pytest.mark.virtual_time


class OneSource:
    """A server that has one source for everything."""

    def __init__(self, source: Any) -> None:
        self._source = source

    def resource(self, kind: type[Any], *, namespace: str) -> Any:
        return self._source


def entry(since: str = "") -> ObjectEntry[ConfigMap]:
    """An entry of which *since* is known."""
    made: ObjectEntry[ConfigMap] = ObjectEntry("shop", "a,b", now=0.0, changed=lambda _: None)
    if since:
        made.show(None, since)
    return made


RENAMED = WatchEvent[ConfigMap](type="RENAMED", object=config_map("a,b", "11"))  # type: ignore[arg-type]  # of somebody's own source


def watch_of(
    source: Any, shown: list[Any], *, since: str = "", streaming: bool = True
) -> ObjectWatch[ConfigMap]:
    settings = StreamSettings(
        server=OneSource(source),
        kind=ConfigMap,
        word="configmap",
        clock=VirtualClock(),
        streaming=streaming,
    )

    def show(watch: ObjectWatch[ConfigMap]) -> None:
        version = watch.object.metadata.resource_version if watch.object else None
        shown.append((version, watch.claim, watch.version))

    return ObjectWatch(settings, entry(since), shown=show)


async def test_it_asks_for_one_object_and_stays_for_half_an_hour_at_least() -> None:
    source = ScriptedSource[ConfigMap](
        watches=[[bookmark("7", ends_initial_events=True), Quiet.HEALTHY]]
    )
    async with TaskOwner("test") as tasks:
        watch_of(source, [], since="5").start(tasks)
        await source.until_quiet()

    (asked,) = source.asked
    assert isinstance(asked, WatchOptions)
    query = dict(asked.query())
    assert 1800 <= int(query.pop("timeoutSeconds")) < 3600
    assert query == {
        "allowWatchBookmarks": "true",
        "fieldSelector": r"metadata.name=a\,b",
        "resourceVersion": "5",
        "resourceVersionMatch": "NotOlderThan",
        "sendInitialEvents": "true",
        "watch": "true",
    }


async def test_the_first_request_names_no_version() -> None:
    source = ScriptedSource[ConfigMap](
        watches=[[bookmark("7", ends_initial_events=True), Quiet.HEALTHY]]
    )
    async with TaskOwner("test") as tasks:
        watch_of(source, []).start(tasks)
        await source.until_quiet()

    assert "resourceVersion" not in dict(source.asked[0].query())


async def test_only_its_own_object_counts() -> None:
    shown: list[Any] = []
    source = ScriptedSource(
        lists=[listing("5", config_map("other", "3"), config_map("a,b", "2")), listing("12")],
        watches=[
            [
                modified(config_map("other", "6")),
                bookmark("7"),
                [deleted(config_map("a,b", "8")), bookmark("9")],
                added(config_map("a,b", "10")),
                RENAMED,
                Expired("too old"),
            ]
        ],
    )
    async with TaskOwner("test") as tasks:
        watch_of(source, shown, streaming=False).start(tasks)
        await source.until_quiet()

    assert shown == [
        ("2", "5", "5"),
        ("2", "5", "6"),
        ("2", "5", "7"),
        (None, "8", "9"),
        ("10", "10", "10"),
        ("10", "10", "11"),
        (None, "12", "12"),
    ]


async def test_a_watch_that_is_started_again_goes_on_from_its_last_version() -> None:
    source = ScriptedSource[ConfigMap](lists=[listing("5"), listing("6")])
    async with TaskOwner("test") as tasks:
        watch = watch_of(source, [], streaming=False)
        watch.start(tasks)
        watch.start(tasks)
        await source.until_quiet()
        watch.stop()
        watch.stop()
        stopped = (watch.running, watch.synced, watch.last_version)
        watch.start(tasks)
        source._quiet.clear()
        await source.until_quiet()

    assert stopped == (False, False, "5")
    assert source.requests == ["list at '0'", "watch since '5'", "list at '5'", "watch since '6'"]
    assert "stopped" not in repr(watch)


async def test_errors_are_told() -> None:
    source = ScriptedSource[ConfigMap](lists=[ValueError("broken")])
    watch = watch_of(source, [], streaming=False)
    async with TaskOwner("test") as tasks:
        watch.start(tasks)
        await asyncio.sleep(0.001)

    assert str(watch.entry.failure) == "failed to list configmap: broken"


class Deaf:
    """A source that does not hear a cancel when something happens in the same moment.

    So does ``asyncio.wait_for`` of Python 3.11.
    """

    def __init__(self) -> None:
        self.open = self.most_open = 0
        self.happens = asyncio.Event()
        self._version = 0

    @asynccontextmanager
    async def watch(self, options: WatchOptions, /, *, silence: float | None) -> Any:
        self.open += 1
        self.most_open = max(self.most_open, self.open)
        try:
            yield self
        finally:
            self.open -= 1

    gate = None
    received_bytes = 0

    async def batches(self) -> AsyncIterator[list[WatchEvent[ConfigMap]]]:
        yield [bookmark("1", ends_initial_events=True)]
        while True:
            try:
                await self.happens.wait()
            except asyncio.CancelledError:
                if not self.happens.is_set():
                    raise
            self.happens.clear()
            self._version += 1
            yield [added(config_map("a,b", f"1{self._version}"))]


async def test_a_stopped_watch_shows_nothing_though_its_source_did_not_hear_it() -> None:
    source, shown = Deaf(), list[Any]()
    watch = watch_of(source, shown)
    async with TaskOwner("test") as tasks:
        watch.start(tasks)
        await asyncio.sleep(0.001)
        source.happens.set()
        watch.stop()
        await asyncio.sleep(0.001)

        assert (shown, source.open) == ([(None, "1", "1")], 0)
        assert (watch.last_version, watch.synced) == ("1", False)


@pytest.mark.parametrize("times", [1, 2, 3])
async def test_a_watch_goes_on_with_one_stream_though_its_source_did_not_hear_the_end(
    times: int,
) -> None:
    source, shown = Deaf(), list[Any]()
    watch = watch_of(source, shown)
    async with TaskOwner("test") as tasks:
        watch.start(tasks)
        await asyncio.sleep(0.001)
        source.happens.set()
        for _ in range(times):
            watch.stop()
            watch.start(tasks)
        await asyncio.sleep(0.001)

        assert (shown, source.open) == ([(None, "1", "1")] * 2, 1)
        assert (watch.synced, source.most_open) == (True, 1)


async def test_a_watch_that_was_stopped_while_it_waited_for_its_own_end_does_not_go_on() -> None:
    source, shown = Deaf(), list[Any]()
    watch = watch_of(source, shown)
    async with TaskOwner("test") as tasks:
        watch.start(tasks)
        await asyncio.sleep(0.001)
        watch.stop()
        watch.start(tasks)
        watch.stop()
        await asyncio.sleep(0.001)

        assert (len(shown), source.open, tasks.running) == (1, 0, frozenset())
