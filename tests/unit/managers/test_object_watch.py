"""The stream of one object, straight into a place for one object."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from reflet.api.config import ConfigMap
from reflet.api.options import WatchOptions
from reflet.api.watch_events import WatchEvent
from reflet.informer.filling import ListFailed
from reflet.managers.object_entry import ObjectEntry
from reflet.managers.object_watch import ObjectWatch, StreamSettings
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

    def __init__(self, source: ScriptedSource[ConfigMap]) -> None:
        self._source = source

    def resource(self, kind: type[Any], *, namespace: str) -> Any:
        return self._source


def watch_of(
    source: ScriptedSource[ConfigMap], shown: list[Any], *, since: str = "", streaming: bool = True
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

    entry = ObjectEntry[ConfigMap]("shop", "a,b", now=0.0, changed=lambda _: None)
    if since:
        entry.show(None, since)
    return ObjectWatch(settings, entry, shown=show)


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
    end = bookmark("5", ends_initial_events=True)
    unknown = WatchEvent[ConfigMap](type="RENAMED", object=config_map("a,b", "11"))  # type: ignore[arg-type]  # of somebody's own source
    source = ScriptedSource[ConfigMap](
        watches=[
            [
                [added(config_map("other", "3")), added(config_map("a,b", "2")), end],
                modified(config_map("other", "6")),
                bookmark("7"),
                [deleted(config_map("a,b", "8")), bookmark("9")],
                added(config_map("a,b", "10")),
                unknown,
                Quiet.HEALTHY,
            ]
        ]
    )
    async with TaskOwner("test") as tasks:
        watch_of(source, shown).start(tasks)
        await source.until_quiet()

    assert shown == [
        ("2", "5", "5"),
        ("2", "5", "6"),
        ("2", "5", "7"),
        (None, "8", "9"),
        ("10", "10", "10"),
        ("10", "10", "11"),
    ]


class _Swallows(ScriptedSource[ConfigMap]):
    """Goes on after a cancel, as ``asyncio.wait_for`` of Python 3.11 may."""

    def __init__(self) -> None:
        super().__init__()
        self.ended = asyncio.Event()

    @asynccontextmanager
    async def watch(self, options: WatchOptions, /, *, silence: float | None) -> AsyncIterator[Any]:
        yield self

    received_bytes = 0

    async def batches(self) -> AsyncIterator[list[WatchEvent[ConfigMap]]]:
        yield [added(config_map("a,b", "2")), bookmark("5", ends_initial_events=True)]
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            self.ended.set()
        yield [modified(config_map("a,b", "6"))]
        await asyncio.sleep(3600)


async def test_a_watch_that_is_stopped_shows_nothing_more_though_its_source_goes_on() -> None:
    shown: list[Any] = []
    source = _Swallows()
    async with TaskOwner("test") as tasks:
        watch = watch_of(source, shown)
        watch.start(tasks)
        await asyncio.sleep(0.1)
        watch.stop()
        await source.ended.wait()
        await asyncio.sleep(1)
        running = tasks.running

    assert shown == [("2", "5", "5")]
    assert (watch.synced, running) == (False, frozenset())


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
    source = ScriptedSource[ConfigMap](lists=[ValueError("broken"), listing("5")])
    async with TaskOwner("test") as tasks:
        watch = watch_of(source, [], streaming=False)
        watch.start(tasks)
        await asyncio.sleep(0.1)
        failure = watch.entry.failure

    assert isinstance(failure, ListFailed)
