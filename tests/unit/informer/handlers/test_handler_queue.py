"""What waits for one handler."""

from __future__ import annotations

import asyncio
import logging
from itertools import pairwise

import pytest

from reflet.api.core.config import ConfigMap
from reflet.informer.handlers.changes import Change
from reflet.informer.handlers.handler_queue import AT_A_TIME, HandlerQueue
from reflet.informer.queues.delta_fifo import QueueClosed
from tests.unit.store.config_maps import config_map


def came(*names: str) -> list[Change[ConfigMap]]:
    return [Change("ADDED", config_map(name, "1")) for name in names]


def updates(name: str, count: int) -> list[Change[ConfigMap]]:
    states = [config_map(name, str(version)) for version in range(count + 1)]
    return [Change("UPDATED", new, old) for old, new in pairwise(states)]


async def test_what_waits_comes_out_in_order() -> None:
    queue = HandlerQueue[ConfigMap]("test")
    queue.put(came("a", "b"))
    queue.put(came("c"))

    assert [change.key for change in await queue.get()] == ["shop/a", "shop/b", "shop/c"]


async def test_who_waits_is_woken() -> None:
    queue = HandlerQueue[ConfigMap]("test")
    waiting = asyncio.create_task(queue.get())
    await asyncio.sleep(0)

    queue.put(came("a"))

    assert [change.key for change in await waiting] == ["shop/a"]


async def test_who_gives_up_waiting_takes_nothing_along() -> None:
    queue = HandlerQueue[ConfigMap]("test")
    waiting = asyncio.create_task(queue.get())
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.sleep(0)

    queue.put(came("a"))

    assert len(await queue.get()) == 1


async def test_a_handler_gets_so_many_at_a_time() -> None:
    queue = HandlerQueue[ConfigMap]("test")
    queue.put(updates("a", AT_A_TIME + 1))

    assert [len(await queue.get()), len(await queue.get())] == [AT_A_TIME, 1]


async def test_past_the_limit_changes_of_one_key_merge(caplog: pytest.LogCaptureFixture) -> None:
    queue = HandlerQueue[ConfigMap]("slow", limit=4)
    queue.put(came("b"))
    changes = updates("a", 8)

    with caplog.at_level(logging.WARNING):
        queue.put(changes)

    assert await queue.get() == [*came("b"), Change("UPDATED", changes[-1].object, changes[0].old)]
    assert queue.merged == 7
    assert [record.message for record in caplog.records] == [
        "handler slow is slow: more than 4 changes wait, so changes of one key merge now"
    ]


async def test_a_handler_that_has_caught_up_gets_every_change_again() -> None:
    queue = HandlerQueue[ConfigMap]("slow", limit=2)
    queue.put(came("b"))
    queue.put(updates("a", 8))
    await queue.get()

    queue.put(updates("a", 2))

    assert (len(await queue.get()), queue.merged) == (2, 7)


async def test_what_comes_while_changes_merge_merges_too() -> None:
    queue = HandlerQueue[ConfigMap]("slow", limit=2)
    queue.put(came("b"))
    queue.put(updates("a", 3))
    queue.put(updates("a", 5)[3:])

    assert len(await queue.get()) == 2


async def test_names_that_come_and_go_do_not_pile_up(caplog: pytest.LogCaptureFixture) -> None:
    queue = HandlerQueue[ConfigMap]("stuck", limit=10)
    for number in range(100):
        item = config_map(str(number), "1")
        queue.put([Change("ADDED", item), Change("DELETED", item, item)])

    queue.put(came("b"))

    assert await queue.get() == came("b")
    assert (queue.merged, len(caplog.records)) == (200, 1)


async def test_a_large_list_is_no_sign_of_a_slow_handler(caplog: pytest.LogCaptureFixture) -> None:
    queue = HandlerQueue[ConfigMap]("new", limit=2)

    queue.put(came(*"abcdefgh"))
    queue.put(came(*"ijkl"))

    assert (len(queue), queue.merged, caplog.records) == (12, 0, [])


async def test_merged_changes_come_out_many_at_a_time() -> None:
    queue = HandlerQueue[ConfigMap]("slow", limit=1)
    queue.put(came("x"))
    queue.put(came(*map(str, range(AT_A_TIME + 5))))

    assert [len(await queue.get()), len(await queue.get())] == [AT_A_TIME, 6]


async def test_a_closed_queue_drops_what_waits() -> None:
    queue = HandlerQueue[ConfigMap]("test")
    queue.put(came("a"))

    queue.close()
    queue.put(came("b"))

    assert len(queue) == 0
    with pytest.raises(QueueClosed):
        await queue.get()


async def test_closing_wakes_who_waits() -> None:
    queue = HandlerQueue[ConfigMap]("test")
    waiting = asyncio.create_task(queue.get())
    await asyncio.sleep(0)

    queue.close()

    with pytest.raises(QueueClosed):
        await waiting
