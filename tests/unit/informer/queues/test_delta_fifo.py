"""The queue by key, beyond the recorded cases."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from reflet.api.core.config import ConfigMap
from reflet.api.watch_events import WatchEvent
from reflet.informer.queues.delta_fifo import DeltaFifo, DeltaType, QueueClosed, QueuedDelta
from reflet.store.deltas import Changed, Delta, Replaced, Resynced
from reflet.store.keys import Tombstone
from reflet.store.store import Store
from reflet.testing.scripted_source import added, bookmark, deleted, modified
from tests.unit.store.config_maps import config_map

A1, A2, A3, B1 = (config_map(text[0], text[1]) for text in ("a1", "a2", "a3", "b1"))
Popped = list[tuple[str, str, bool]]


def popped(queue: DeltaFifo[ConfigMap]) -> Popped:
    """What is queued: type, key, and whether it belongs to the initial list."""
    seen: Popped = []

    def process(deltas: Sequence[QueuedDelta[ConfigMap]], is_initial: bool) -> None:
        seen.extend((delta.type.value, delta.key, is_initial) for delta in deltas)

    while len(queue):
        queue.pop_now(process)
    return seen


def knowing(*items: ConfigMap) -> Store[ConfigMap]:
    store = Store[ConfigMap]()
    store.replace(items, "1")
    return store


def ignored(deltas: Sequence[QueuedDelta[ConfigMap]], is_initial: bool) -> None:
    pass


def test_a_reflectors_events_are_queued_by_key() -> None:
    queue = DeltaFifo[ConfigMap]()

    queue.apply(
        Changed([added(A1), added(B1), modified(A2), bookmark("9"), deleted(A3), deleted(A3)])
    )

    assert popped(queue) == [
        ("Added", "shop/a", False),
        ("Updated", "shop/a", False),
        ("Deleted", "shop/a", False),
        ("Added", "shop/b", False),
    ]


def test_a_reflectors_list_and_resync_are_compared_with_what_is_known() -> None:
    queue = DeltaFifo(known=knowing(A1, B1), emit_replaced=True)

    queue.apply(Replaced([A2], "5"))
    queue.apply(Resynced())

    assert popped(queue) == [("Replaced", "shop/a", True), ("Deleted", "shop/b", True)]


def test_a_resync_tells_the_known_objects_that_are_not_queued() -> None:
    queue = DeltaFifo(known=knowing(A1, B1))
    queue.update(A2)

    queue.resync()

    assert popped(queue) == [("Updated", "shop/a", False), ("Sync", "shop/b", False)]


def test_objects_are_transformed_once_on_their_way_in() -> None:
    transformed = []

    def transform(item: ConfigMap) -> ConfigMap:
        transformed.append(item.metadata.name)
        return msgspec.structs.replace(item, data={"times": str(len(transformed))})

    queue = DeltaFifo(known=knowing(B1), transform=transform)
    queue.add(A1)
    queue.resync()
    queue.delete(Tombstone("shop/b", B1))

    assert transformed == ["a"]
    assert popped(queue)[0] == ("Added", "shop/a", False)


def picky(item: ConfigMap) -> ConfigMap:
    """Cannot digest the third version of anything."""
    if item.metadata.resource_version == "3":
        raise ValueError("no")
    return item


def deltas_of(queue: DeltaFifo[ConfigMap]) -> list[QueuedDelta[ConfigMap]]:
    return [delta for _ in range(len(queue)) for delta in queue.pop_now(ignored)]


@pytest.mark.parametrize(
    "delta", [Changed([modified(A3)]), Changed([deleted(A3)]), Replaced([A3], "3")]
)
def test_what_the_transform_cannot_digest_counts_as_gone(delta: Delta[ConfigMap]) -> None:
    queue = DeltaFifo(known=knowing(A1), transform=picky)

    queue.apply(delta)

    assert deltas_of(queue) == [QueuedDelta(DeltaType.DELETED, Tombstone("shop/a", A1))]


def test_the_tombstone_of_what_cannot_be_digested_has_the_last_state_that_is_queued() -> None:
    queue = DeltaFifo(known=knowing(A1), transform=picky)

    queue.apply(Changed([modified(A2), modified(A3)]))

    assert deltas_of(queue) == [
        QueuedDelta(DeltaType.UPDATED, A2),
        QueuedDelta(DeltaType.DELETED, Tombstone("shop/a", A2)),
    ]


def test_what_nobody_has_heard_of_and_cannot_be_digested_is_not_queued(
    caplog: pytest.LogCaptureFixture,
) -> None:
    queue = DeltaFifo(known=knowing(), transform=picky)

    queue.apply(Changed([added(A3), added(B1)]))

    assert popped(queue) == [("Added", "shop/b", False)]
    assert "shop/a left out" in caplog.text


def test_an_event_of_an_unknown_type_is_reported_and_skipped(
    caplog: pytest.LogCaptureFixture,
) -> None:
    strange: Any = "RENAMED"
    queue = DeltaFifo[ConfigMap]()

    queue.apply(Changed([WatchEvent(type=strange, object=A1), added(B1)]))

    assert popped(queue) == [("Added", "shop/b", False)]
    assert "unable to understand watch event of type 'RENAMED'" in caplog.text


@pytest.mark.virtual_time
async def test_a_coroutine_function_that_processes_is_waited_for() -> None:
    queue = DeltaFifo[ConfigMap]()
    queue.add(A1)
    ended: list[str] = []

    async def process(deltas: Sequence[QueuedDelta[ConfigMap]], is_initial: bool) -> None:
        await asyncio.sleep(5)
        ended.extend(delta.key for delta in deltas)

    await queue.pop(process)

    assert ended == ["shop/a"]


@pytest.mark.virtual_time
async def test_a_coroutine_function_that_fails_is_raised_and_the_deltas_are_gone() -> None:
    queue = DeltaFifo[ConfigMap]()
    queue.add(A1)

    async def process(deltas: Sequence[QueuedDelta[ConfigMap]], is_initial: bool) -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match=r"^no$"):
        await queue.pop(process)
    assert len(queue) == 0


@pytest.mark.virtual_time
async def test_a_pop_waits_for_what_comes() -> None:
    queue = DeltaFifo[ConfigMap]()
    popping = asyncio.create_task(queue.pop(ignored))
    await asyncio.sleep(1)

    queue.add(A1)

    assert [delta.type for delta in await popping] == [DeltaType.ADDED]


@pytest.mark.virtual_time
async def test_several_may_wait_and_each_gets_something() -> None:
    queue = DeltaFifo[ConfigMap]()
    popping = [asyncio.create_task(queue.pop(ignored)) for _ in range(2)]
    await asyncio.sleep(1)

    queue.add(A1)
    await asyncio.sleep(1)
    queue.add(B1)

    keys = {delta.key for deltas in await asyncio.gather(*popping) for delta in deltas}
    assert keys == {"shop/a", "shop/b"}


@pytest.mark.virtual_time
async def test_closing_wakes_everybody_who_waits() -> None:
    queue = DeltaFifo[ConfigMap]()
    popping = [asyncio.create_task(queue.pop(ignored)) for _ in range(2)]
    await asyncio.sleep(1)

    queue.close()

    results = await asyncio.gather(*popping, return_exceptions=True)
    assert [type(result) for result in results] == [QueueClosed, QueueClosed]
