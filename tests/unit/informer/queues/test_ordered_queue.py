"""The queue in order of arrival, beyond the recorded cases."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from reflet.api.core.config import ConfigMap
from reflet.api.watch_events import WatchEvent
from reflet.informer.process_deltas import Updater
from reflet.informer.queues.delta_fifo import DeltaType, QueueClosed, QueuedDelta
from reflet.informer.queues.ordered_queue import LARGEST_BATCH, OrderedQueue
from reflet.store.deltas import Changed, Replaced, Resynced
from reflet.store.keys import Tombstone
from reflet.store.store import Store
from reflet.testing.scripted_source import added, bookmark, deleted, modified
from tests.unit.store.config_maps import Keyless, config_map

A1, A2, B1 = (config_map(text[0], text[1]) for text in ("a1", "a2", "b1"))


def ignored(deltas: Sequence[QueuedDelta[ConfigMap]], is_initial: bool) -> None:
    pass


def types(queue: OrderedQueue[ConfigMap]) -> list[str]:
    seen = []
    while len(queue):
        seen += [delta.type.value for delta in queue.pop_now(ignored)]
    return seen


def batch_sizes(queue: OrderedQueue[ConfigMap]) -> list[int]:
    seen = []
    while len(queue):
        seen.append(len(queue.pop_batch_now(ignored)))
    return seen


def knowing(*items: ConfigMap) -> Store[ConfigMap]:
    store = Store[ConfigMap]()
    store.replace(items, "1")
    return store


def test_a_reflectors_deltas_stay_in_order() -> None:
    queue = OrderedQueue[ConfigMap]()

    queue.apply(Replaced([A1], "5"))
    queue.apply(Changed([added(B1), modified(A2), deleted(B1), bookmark("9")]))
    queue.apply(Resynced())

    assert types(queue) == ["ReplacedAll", "Added", "Updated", "Deleted", "Bookmark", "SyncAll"]


def test_with_known_objects_a_list_is_compared_and_bookmarks_are_nothing() -> None:
    queue = OrderedQueue(known=knowing(A1, B1))

    queue.apply(Replaced([A2], "5"))
    queue.apply(Changed([bookmark("9")]))
    queue.apply(Resynced())

    assert types(queue) == ["Deleted", "Replaced"]


def test_a_batch_is_not_larger_than_the_limit() -> None:
    queue = OrderedQueue[ConfigMap]()
    for number in range(LARGEST_BATCH + 1):
        queue.add(config_map(str(number)))

    assert batch_sizes(queue) == [LARGEST_BATCH, 1]


def test_a_batch_has_no_key_twice() -> None:
    queue = OrderedQueue[ConfigMap]()
    for item in (A1, B1, A2):
        queue.add(item)

    assert batch_sizes(queue) == [2, 1]


def test_what_has_no_key_ends_its_batch() -> None:
    keyless: Any = Keyless()
    queue = OrderedQueue[ConfigMap]()
    for item in (A1, keyless, B1):
        queue.add(item)

    assert batch_sizes(queue) == [2, 1]


def test_objects_are_transformed_and_tombstones_are_not() -> None:
    def transform(item: ConfigMap) -> ConfigMap:
        return msgspec.structs.replace(item, data={"transformed": "yes"})

    queue = OrderedQueue(transform=transform)
    queue.replace([A1], "5")
    queue.update(A2)
    queue.delete(Tombstone("shop/b", B1))
    deltas = [queue.pop_now(ignored)[0] for _ in range(3)]

    assert deltas[0].items[0].data == {"transformed": "yes"}
    assert isinstance(deltas[1].object, ConfigMap)
    assert deltas[1].object.data == {"transformed": "yes"}
    assert deltas[2].object == Tombstone("shop/b", B1)


def picky(item: ConfigMap) -> ConfigMap:
    """Cannot digest the second version of anything."""
    if item.metadata.resource_version == "2":
        raise ValueError("no")
    return item


def test_what_the_transform_cannot_digest_counts_as_gone(caplog: pytest.LogCaptureFixture) -> None:
    queue = OrderedQueue(transform=picky)

    queue.apply(Changed([modified(A2), deleted(A2)]))

    deltas = [queue.pop_now(ignored)[0] for _ in range(2)]
    assert deltas == [QueuedDelta(DeltaType.DELETED, Tombstone("shop/a", None))] * 2
    assert "shop/a left out" in caplog.text


def test_a_list_has_what_the_transform_can_digest() -> None:
    queue = OrderedQueue(transform=picky)

    queue.replace([A2, B1], "5")

    assert queue.pop_now(ignored)[0].items == (B1,)


def test_with_known_objects_what_is_left_out_of_a_list_is_gone() -> None:
    queue = OrderedQueue(known=knowing(A1), transform=picky)

    queue.replace([A2, B1], "5")

    deltas = [queue.pop_now(ignored)[0] for _ in range(2)]
    assert deltas == [
        QueuedDelta(DeltaType.DELETED, Tombstone("shop/a", A1)),
        QueuedDelta(DeltaType.REPLACED, B1),
    ]


def test_an_event_of_an_unknown_type_is_reported_and_only_its_version_counts(
    caplog: pytest.LogCaptureFixture,
) -> None:
    strange: Any = "RENAMED"
    queue = OrderedQueue[ConfigMap]()

    queue.apply(Changed([WatchEvent(type=strange, object=A2), added(B1)]))

    assert types(queue) == ["Bookmark", "Added"]
    assert "unable to understand watch event of type 'RENAMED'" in caplog.text


@pytest.mark.virtual_time
@pytest.mark.parametrize("pop", [OrderedQueue.pop, OrderedQueue.pop_batch])
async def test_a_coroutine_function_that_processes_is_waited_for(pop: Any) -> None:
    queue = OrderedQueue[ConfigMap]()
    queue.replace([A1], "5")
    seen: list[tuple[bool, bool]] = []

    async def process(deltas: Sequence[QueuedDelta[ConfigMap]], is_initial: bool) -> None:
        await asyncio.sleep(5)
        seen.append((is_initial, queue.synced.is_set))

    await pop(queue, process)

    assert (seen, queue.synced.is_set) == ([(True, False)], True)


@pytest.mark.virtual_time
async def test_a_pop_waits_for_what_comes_and_ends_when_the_queue_is_closed() -> None:
    queue = OrderedQueue[ConfigMap]()
    popping = asyncio.create_task(queue.pop_batch(ignored))
    await asyncio.sleep(1)
    queue.add(A1)
    queue.close()

    assert [delta.type for delta in await popping] == [DeltaType.ADDED]
    with pytest.raises(QueueClosed):
        await queue.pop(ignored)


@pytest.mark.virtual_time
async def test_an_updater_takes_what_another_task_queued() -> None:
    queue, store = OrderedQueue[ConfigMap](), Store[ConfigMap]()
    told: list[str] = []
    updater = Updater(store, lambda changes, repeated: told.extend(each.type for each in changes))
    queue.apply(Replaced([A1], "5"))
    queue.apply(Changed([added(B1), modified(A2), bookmark("9")]))

    while len(queue):
        await queue.pop_batch(updater.process)

    assert (sorted(store.keys()), store.version) == (["shop/a", "shop/b"], "9")
    assert told == ["ADDED", "ADDED", "UPDATED"]
