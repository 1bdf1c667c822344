"""A namespace's collection, without the objects that nobody refers to."""

from __future__ import annotations

from collections.abc import Sequence

from reflet.api.core.config import ConfigMap
from reflet.api.options import ListOptions, WatchOptions
from reflet.api.watch_events import WatchEvent
from reflet.managers.watches.namespace_watch import NamespaceFilter
from reflet.testing.scripted_source import (
    ScriptedSource,
    added,
    bookmark,
    deleted,
    listing,
    modified,
)
from tests.unit.store.config_maps import config_map

A1, B2, C3 = config_map("a", "1"), config_map("b", "2"), config_map("c", "3")


def filtered(
    source: ScriptedSource[ConfigMap], wanted: set[str], counts: list[int] | None = None
) -> NamespaceFilter[ConfigMap]:
    told = [] if counts is None else counts
    return NamespaceFilter(source, ConfigMap, wanted, counted=told.append)


def shown(events: Sequence[WatchEvent[ConfigMap]]) -> list[tuple[str, str, str]]:
    return [
        (event.type, event.object.metadata.name, event.object.metadata.resource_version)
        for event in events
    ]


async def test_a_list_has_only_what_is_wanted() -> None:
    source = ScriptedSource(lists=[listing("5", A1, B2, C3)])
    counts: list[int] = []
    objects = filtered(source, {"a"}, counts)

    page = await objects.page(ListOptions())

    assert (page.items, page.metadata.resource_version, counts) == ((A1,), "5", [3])
    assert objects.seen_up_to == 3
    assert objects.take_dropped() == {"b", "c"}


async def test_pages_of_one_list_count_together_and_a_new_list_begins_anew() -> None:
    source = ScriptedSource(
        lists=[listing("5", B2, continue_="next"), listing("5", C3), listing("6", A1)]
    )
    counts: list[int] = []
    objects = filtered(source, set(), counts)

    for options in (ListOptions(), ListOptions(continue_="next"), ListOptions()):
        await objects.page(options)

    assert (counts, objects.take_dropped()) == ([1, 2, 1], frozenset({"a"}))


async def test_dropped_events_leave_their_version_behind() -> None:
    source = ScriptedSource[ConfigMap](
        watches=[
            [
                [added(A1), added(B2), bookmark("5", ends_initial_events=True)],
                [modified(B2), deleted(config_map("c", "9"))],
                [modified(config_map("b", "10")), modified(config_map("a", "11"))],
                bookmark("12"),
            ]
        ]
    )
    objects = filtered(source, {"a"})

    async with objects.watch(WatchOptions(send_initial_events=True), silence=None) as stream:
        seen = [shown(batch) async for batch in stream.batches()]
        received = stream.received_bytes

    assert seen == [
        [("ADDED", "a", "1"), ("BOOKMARK", "", "5")],
        [("BOOKMARK", "", "9")],
        [("MODIFIED", "a", "11")],
        [("BOOKMARK", "", "12")],
    ]
    assert (objects.seen_up_to, received, source.open_watches) == (11, 8, 0)


async def test_what_is_wanted_late_is_remembered_as_dropped_while_it_is_being_filled() -> None:
    source = ScriptedSource[ConfigMap](watches=[[added(B2), added(C3)], [added(B2)]])
    wanted: set[str] = set()
    objects = filtered(source, wanted)
    async with objects.watch(WatchOptions(send_initial_events=True), silence=None) as stream:
        batches = stream.batches()
        await anext(batches)
        wanted |= {"b", "c"}
        await anext(batches)
    dropped = objects.take_dropped()
    async with objects.watch(WatchOptions(), silence=None) as stream:
        wanted.clear()
        await anext(stream.batches())

    assert (dropped, objects.take_dropped()) == (frozenset({"b"}), frozenset())
