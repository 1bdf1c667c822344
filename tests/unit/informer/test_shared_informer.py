"""From the server to the store and the handlers."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
import pytest

from reflet.api.core.config import ConfigMap
from reflet.api.meta import ObjectMeta
from reflet.api.watch_events import WatchEvent
from reflet.informer.handlers.changes import Change
from reflet.informer.options import QueueKind
from reflet.runtime.metrics import MemoryMetrics
from reflet.store.deltas import Changed, Replaced
from reflet.testing.scripted_source import (
    After,
    Quiet,
    ScriptedSource,
    added,
    bookmark,
    deleted,
    listing,
    modified,
)
from tests.unit.informer.informers import (
    A1,
    A2,
    A3,
    B1,
    B2,
    C1,
    GONE,
    Heard,
    idle,
    informer_of,
    settled,
)

pytestmark = pytest.mark.virtual_time


@pytest.mark.parametrize("queue", ["ordered", "delta-fifo"])
async def test_a_list_and_its_watch_reach_store_and_handlers(queue: QueueKind) -> None:
    source = ScriptedSource[ConfigMap](
        lists=[listing("1", A1, B1)],
        watches=[[[modified(A2), deleted(B2)], added(C1), bookmark("9"), Quiet.HEALTHY]],
    )
    heard = Heard()
    informer = informer_of(source, queue=queue)
    informer.add_handler(heard)

    async with informer:
        await source.until_quiet()
        await settled()

    assert heard.told == [
        ("ADDED", "a", "1"),
        ("ADDED", "b", "1"),
        ("UPDATED", "a", "2"),
        ("DELETED", "b", "2"),
        ("ADDED", "c", "1"),
    ]
    assert [change.initial for change in heard.changes] == [True, True, False, False, False]
    assert (sorted(informer.store.keys()), informer.store.version) == (["shop/a", "shop/c"], "9")
    assert informer.last_version == "9"


@pytest.mark.parametrize("queue", ["ordered", "delta-fifo"])
async def test_a_streamed_list_is_as_good_as_a_list(queue: QueueKind) -> None:
    source = ScriptedSource[ConfigMap](
        watches=[[[added(A1), bookmark("5", ends_initial_events=True)], added(B1), Quiet.HEALTHY]]
    )
    heard = Heard()
    informer = informer_of(source, queue=queue, streaming=True)
    registration = informer.add_handler(heard)

    async with informer:
        await source.until_quiet()
        await settled()

    assert heard.told == [("ADDED", "a", "1"), ("ADDED", "b", "1")]
    assert [change.initial for change in heard.changes] == [True, False]
    assert registration.synced.is_set


@pytest.mark.parametrize("queue", ["ordered", "delta-fifo"])
async def test_what_happened_while_the_watch_was_away_is_told_after_the_new_list(
    queue: QueueKind,
) -> None:
    source = ScriptedSource[ConfigMap](
        lists=[listing("1", A1, B1), listing("9", A1, C1)],
        watches=[[After(5), GONE], [Quiet.HEALTHY]],
    )
    informer = informer_of(source, queue=queue)

    async with informer:
        await informer.wait_synced()
        with informer.changes() as changes:
            seen = [await anext(changes) for _ in range(4)]

    assert seen[2:] == [Change("DELETED", B1, B1, stale=True), Change("ADDED", C1)] or seen[2:] == [
        Change("ADDED", C1),
        Change("DELETED", B1, B1, stale=True),
    ]


async def test_a_handler_that_reads_the_store_sees_at_least_what_it_is_told() -> None:
    informer = idle()
    seen: list[str] = []

    def read(change: Change[ConfigMap]) -> None:
        stored = informer.store.get(change.key)
        seen.append("" if stored is None else stored.metadata.resource_version)

    informer.add_handler(read)
    async with informer:
        informer.apply(Replaced([A1], "1"))
        informer.apply(Changed([modified(A2)]))
        await settled()

    assert seen == ["2", "2"]


async def test_a_slow_handler_holds_back_neither_the_store_nor_the_others() -> None:
    quick = Heard()

    async def slow(change: Change[ConfigMap]) -> None:
        await asyncio.sleep(3600)

    informer = idle()
    informer.add_handler(slow)
    informer.add_handler(quick)
    async with informer:
        informer.apply(Replaced([A1, B1], "1"))
        await settled()

        assert (len(quick.changes), len(informer.store)) == (2, 2)


async def test_the_transform_reaches_the_store_and_the_handlers() -> None:
    heard = Heard()
    informer = idle()
    informer.set_transform(lambda item: msgspec.structs.replace(item, data={"seen": "yes"}))
    informer.add_handler(heard)

    async with informer:
        informer.apply(Replaced([A1], "1"))
        informer.apply(Changed([modified(A2)]))
        await settled()

    assert [change.object.data for change in heard.changes] == [{"seen": "yes"}] * 2
    assert heard.changes[1].old is heard.changes[0].object
    assert heard.changes[1].object is informer.store.get("shop/a")


def fussy(item: ConfigMap) -> Any:
    """Neither an index function nor a transform that can digest b."""
    if item.metadata.name == "b":
        raise ValueError("no")
    return item


@pytest.mark.parametrize("queue", ["ordered", "delta-fifo"])
@pytest.mark.parametrize(
    ("options", "kept"),
    [
        ({"indexers": {"fussy": lambda item: [fussy(item).metadata.name]}}, {"a": "3", "b": "2"}),
        ({"transform": fussy}, {"a": "3"}),
    ],
    ids=["index", "transform"],
)
async def test_an_object_that_cannot_be_digested_keeps_it_neither_from_syncing_nor_from_following(
    queue: QueueKind, options: dict[str, Any], kept: dict[str, str]
) -> None:
    source = ScriptedSource[ConfigMap](
        lists=[listing("1", A1, B1), listing("5", A2, B2)],
        watches=[[After(5), GONE], [After(5), modified(A3), Quiet.HEALTHY]],
    )
    informer = informer_of(source, queue=queue, **options)

    async with informer:
        await informer.wait_synced(timeout=1)
        await source.until_quiet()

    assert {
        item.metadata.name: item.metadata.resource_version for item in informer.store.objects()
    } == kept
    assert source.requests == [
        "list at '0'",
        "watch since '1'",
        "list at '1'",
        "watch since '5'",
    ]


async def test_what_is_left_out_is_counted_under_the_resource() -> None:
    metrics = MemoryMetrics()
    informer = idle(transform=fussy, metrics=metrics, resource="configmaps.v1")

    informer.apply(Replaced([A1, B1], "1"))

    labels = {"resource": "configmaps.v1", "place": "store"}
    assert metrics.counted("reflet_store_left_out_total", **labels) == 1


@pytest.mark.parametrize("queue", ["ordered", "delta-fifo"])
async def test_what_is_left_out_does_not_make_it_inconsistent(queue: QueueKind) -> None:
    source = ScriptedSource[ConfigMap](lists=[listing("5", A1, B1), listing("5", A1, B1)])
    informer = informer_of(source, queue=queue, transform=fussy)
    async with informer:
        await source.until_quiet()

        assert await informer.reflector.check_consistency(transform=fussy)


@pytest.mark.parametrize("queue", ["ordered", "delta-fifo"])
async def test_changes_are_told_of_objects_whose_version_the_transform_drops(
    queue: QueueKind,
) -> None:
    def without_metadata(item: ConfigMap) -> ConfigMap:
        metadata = ObjectMeta(name=item.metadata.name, namespace="shop")
        return ConfigMap(metadata=metadata, data={"seen": item.metadata.resource_version})

    informer = idle(queue=queue, transform=without_metadata)
    async with informer:
        changes = informer.changes()
        informer.apply(Replaced([A1], "1"))
        informer.apply(Replaced([A1], "1"))
        informer.apply(Changed([modified(A2)]))

        heard = [(change.type, change.object.data["seen"]) for change in await changes.next_batch()]

    assert heard == [("ADDED", "1"), ("UPDATED", "2")]
    assert informer.store.version == "2"


@pytest.mark.parametrize("queue", ["ordered", "delta-fifo"])
async def test_an_event_of_an_unknown_type_is_skipped_and_the_version_moves(
    queue: QueueKind,
) -> None:
    strange: Any = "RENAMED"
    source = ScriptedSource[ConfigMap](
        lists=[listing("1", A1)],
        watches=[[[WatchEvent(type=strange, object=A2)], Quiet.HEALTHY]],
    )
    informer = informer_of(source, queue=queue)

    async with informer:
        await source.until_quiet()

    assert informer.store.snapshot() == ({"shop/a": A1}, "2")
    assert informer.last_version == "2"
