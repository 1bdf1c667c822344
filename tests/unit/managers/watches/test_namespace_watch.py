"""One stream for all objects of a namespace that somebody refers to."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from reflet.api.core.config import ConfigMap
from reflet.api.watch_events import WatchEvent
from reflet.managers.watches.namespace_watch import NamespaceWatch
from reflet.managers.watches.object_watch import StreamSettings
from reflet.runtime.tasks import TaskOwner
from reflet.store.deltas import Changed
from reflet.testing.virtual_time import VirtualClock
from tests.served_objects import ServedObjects
from tests.unit.store.config_maps import config_map

pytestmark = pytest.mark.virtual_time

A_MOMENT = 0.001


class Heard:
    """Remembers what it is told."""

    def __init__(self) -> None:
        self.words: list[Any] = []

    def filled(self, found: Mapping[str, ConfigMap], unknown: frozenset[str]) -> None:
        self.words.append(("filled", sorted(found), sorted(unknown)))

    def changed(self, events: list[WatchEvent[ConfigMap]]) -> None:
        self.words.append([(event.type, event.object.metadata.name) for event in events])

    def refused(self, reason: str) -> None:
        self.words.append(reason)

    def failed(self, error: Exception) -> None:
        self.words.append(type(error).__name__)


def watch_of(
    server: ServedObjects, heard: Heard, *, most_objects: int = 100
) -> NamespaceWatch[ConfigMap]:
    settings = StreamSettings(server=server, kind=ConfigMap, word="configmap", clock=VirtualClock())
    return NamespaceWatch(settings, "shop", heard, most_objects=most_objects)


async def test_only_wanted_objects_are_told_and_the_version_moves_with_all() -> None:
    server, heard = ServedObjects(), Heard()
    for name in ("a", "b"):
        server.put("shop", name)
    watch = watch_of(server, heard)
    watch.want("a")
    async with TaskOwner("test") as tasks:
        watch.start(tasks)
        await asyncio.sleep(A_MOMENT)
        server.put("shop", "b")
        await asyncio.sleep(A_MOMENT)
        after_b = watch.version
        server.put("shop", "a")
        await asyncio.sleep(A_MOMENT)

    assert heard.words == [("filled", ["a"], []), [], [("MODIFIED", "a")]]
    assert (after_b, watch.version, watch.synced) == ("103", "104", True)


async def test_of_what_is_wanted_late_nothing_is_known_until_it_changes() -> None:
    server, heard = ServedObjects(), Heard()
    server.put("shop", "a")
    watch = watch_of(server, heard)
    async with TaskOwner("test") as tasks:
        watch.start(tasks)
        await asyncio.sleep(A_MOMENT)
        watch.want("a")
        server.put("shop", "a")
        await asyncio.sleep(A_MOMENT)
        watch.unwant("a")
        server.put("shop", "a")
        await asyncio.sleep(A_MOMENT)

    assert heard.words == [("filled", [], []), [("MODIFIED", "a")], []]


async def test_a_list_reaches_as_far_as_its_version_though_no_object_has_it() -> None:
    server, heard = ServedObjects(streaming=False), Heard()
    for name in ("a", "b"):
        server.put("shop", name)
    server.delete("shop", "b")
    server.bookmark_everywhere()
    watch = watch_of(server, heard)
    async with TaskOwner("test") as tasks:
        before = watch.reached
        watch.start(tasks)
        await asyncio.sleep(A_MOMENT)

        assert (before, watch.reached) == (0, 104)


async def test_what_is_being_filled_reaches_as_far_as_the_newest_object() -> None:
    server, heard = ServedObjects(), Heard()
    for name in ("a", "b", "c"):
        server.put("shop", name)
    server.page_size = 2
    server.delays = lambda place: 1.0
    watch = watch_of(server, heard)
    async with TaskOwner("test") as tasks:
        watch.start(tasks)
        await asyncio.sleep(1.5)

        assert (watch.version, watch.reached) == ("", 102)


async def test_trying_a_forbidden_namespace_is_no_news_for_the_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    server, heard = ServedObjects(), Heard()
    server.forbids = lambda verb, place: True
    watch = watch_of(server, heard)
    with caplog.at_level("DEBUG", logger="reflet"):
        async with TaskOwner("test") as tasks:
            watch.start(tasks)
            await asyncio.sleep(A_MOMENT)
            watch.stop()

    assert {record.levelname for record in caplog.records} == {"DEBUG"}
    assert "forbidden" in caplog.text


async def test_a_forbidden_namespace_is_refused_once() -> None:
    server, heard = ServedObjects(), Heard()
    server.forbids = lambda verb, place: True
    watch = watch_of(server, heard)
    async with TaskOwner("test") as tasks:
        watch.start(tasks)
        await asyncio.sleep(A_MOMENT)
        watch.stop()
        await asyncio.sleep(60)

    assert heard.words == ["watching the whole namespace is forbidden"]


async def test_a_namespace_that_is_too_large_is_refused() -> None:
    server, heard = ServedObjects(), Heard()
    for number in range(5):
        server.put("shop", f"object-{number}")
    watch = watch_of(server, heard, most_objects=4)
    async with TaskOwner("test") as tasks:
        watch.start(tasks)
        await asyncio.sleep(A_MOMENT)

    assert heard.words[0] == "the namespace has more than 4 objects"


async def test_trouble_is_told_and_a_stopped_watch_tells_nothing() -> None:
    server, heard = ServedObjects(), Heard()
    server.go_away()
    watch = watch_of(server, heard)
    async with TaskOwner("test") as tasks:
        watch.start(tasks)
        await asyncio.sleep(A_MOMENT)
        watch.stop()
        server.come_back()
        await asyncio.sleep(60)

    assert (heard.words, watch.running) == (["ConnectionRefused"], False)


async def test_a_namespace_that_becomes_too_large_is_refused() -> None:
    server, heard = ServedObjects(), Heard()
    for number in range(4):
        server.put("shop", f"object-{number}")
    watch = watch_of(server, heard, most_objects=4)
    async with TaskOwner("test") as tasks:
        watch.start(tasks)
        await asyncio.sleep(A_MOMENT)
        for _ in range(3):
            server.put("shop", "object-0")
            server.delete("shop", "object-1")
            server.put("shop", "object-1")
            await asyncio.sleep(A_MOMENT)
        as_many_as_before = "the namespace has more than 4 objects" in heard.words
        server.put("shop", "object-4")
        await asyncio.sleep(A_MOMENT)

    assert (as_many_as_before, heard.words[-1]) == (False, [])
    assert heard.words[-2] == "the namespace has more than 4 objects"


async def test_a_stopped_watch_ends_though_its_source_did_not_hear_it() -> None:
    server, heard = ServedObjects(), Heard()
    server.swallows_cancels = True
    watch = watch_of(server, heard)
    watch.want("a")
    async with TaskOwner("test") as tasks:
        watch.start(tasks)
        await asyncio.sleep(A_MOMENT)
        server.put("shop", "a")
        watch.stop()
        await asyncio.sleep(A_MOMENT)

        assert (heard.words, server.streams) == ([("filled", [], [])], [])


async def test_an_event_of_a_type_that_nobody_knows_moves_the_version_alone() -> None:
    server, heard = ServedObjects(), Heard()
    renamed: Any = WatchEvent(type="RENAMED", object=config_map("a", "200"))  # type: ignore[arg-type]  # of somebody's own source
    watch = watch_of(server, heard)
    watch.want("a")
    async with TaskOwner("test") as tasks:
        watch.start(tasks)
        await asyncio.sleep(A_MOMENT)
        watch.apply(Changed([renamed]))

    assert (heard.words, watch.version) == ([("filled", [], []), []], "200")
