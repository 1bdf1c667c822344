"""The stream of one object, straight into a place for one object."""

from __future__ import annotations

from typing import Any

import pytest

from reflet.api.config import ConfigMap
from reflet.api.options import WatchOptions
from reflet.managers.object_watch import ObjectWatch, StreamSettings
from reflet.runtime.tasks import TaskOwner
from reflet.store.deltas import Changed, Replaced, Resynced
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

    return ObjectWatch(settings, "shop", "a,b", shown=show, failed=shown.append, since=since)


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
    watch = watch_of(ScriptedSource(), shown)

    watch.apply(Replaced([config_map("other", "3"), config_map("a,b", "2")], "5"))
    watch.apply(Changed([modified(config_map("other", "6"))]))
    watch.apply(Changed([bookmark("7")]))
    watch.apply(Resynced())
    watch.apply(Changed([deleted(config_map("a,b", "8")), bookmark("9")]))
    watch.apply(Changed([added(config_map("a,b", "10"))]))
    watch.apply(Replaced([], "12"))

    assert shown == [
        ("2", "5", "5"),
        ("2", "5", "6"),
        ("2", "5", "7"),
        (None, "8", "9"),
        ("10", "10", "10"),
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
    failure = ValueError("broken")
    told: list[Any] = []
    source = ScriptedSource[ConfigMap](lists=[failure, listing("5")])
    async with TaskOwner("test") as tasks:
        watch_of(source, told, streaming=False).start(tasks)
        await source.until_quiet()

    assert [type(each).__name__ for each in told] == ["ValueError", "ListFailed", "tuple"]
