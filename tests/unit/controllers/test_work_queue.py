"""The contract of client-go's work queue, and what ours has besides.

Upstream: client-go/util/workqueue/queue_test.go, delaying_queue_test.go,
rate_limiting_queue_test.go
"""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest

from reflet.controllers.rate_limiters import ExponentialFailures
from reflet.controllers.work_queue import FAIR_TURN, QueueFull, QueueShutDown, WorkQueue
from reflet.runtime.metrics import MemoryMetrics
from tests.faults.hurry import RATE, HurriedClock

pytestmark = pytest.mark.virtual_time


async def taken(queue: WorkQueue[str], how_many: int) -> list[str]:
    return [await queue.get() for _ in range(how_many)]


# queue_test.go


@pytest.mark.parametrize("drain", [False, True])
async def test_basic(drain: bool) -> None:
    """Fifty producers add fifty keys each; ten workers do each at least once, never at once."""
    queue: WorkQueue[str] = WorkQueue()
    done: Counter[str] = Counter()
    busy: set[str] = set()

    async def produce(number: int) -> None:
        for key in range(50):
            queue.add(f"key {key}")
            await asyncio.sleep(0.001 * number)

    async def work() -> None:
        while True:
            try:
                key = await queue.get()
            except QueueShutDown:
                return
            assert key not in busy, "two workers have the same key"
            busy.add(key)
            await asyncio.sleep(0.003)
            busy.remove(key)
            done[key] += 1
            queue.done(key)

    async with asyncio.TaskGroup() as group:
        for _ in range(10):
            group.create_task(work())
        async with asyncio.TaskGroup() as producers:
            for number in range(50):
                producers.create_task(produce(number))
        if drain:
            await queue.shut_down_with_drain()
        else:
            queue.shut_down()

    assert len(done) == 50
    assert len(queue) == 0


async def test_a_key_that_is_added_twice_before_it_is_taken_is_there_once() -> None:
    queue: WorkQueue[str] = WorkQueue()
    queue.add("foo")
    queue.add("bar")
    queue.add("foo")

    assert await taken(queue, 2) == ["foo", "bar"]
    assert len(queue) == 0


async def test_a_key_that_is_added_while_worked_on_waits_until_that_is_done() -> None:
    queue: WorkQueue[str] = WorkQueue()
    queue.add("foo")
    assert await queue.get() == "foo"

    queue.add("foo")
    queue.add("foo")
    assert len(queue) == 0
    queue.done("foo")

    assert await queue.get() == "foo"
    queue.done("foo")
    assert len(queue) == 0
    assert queue.is_idle


async def test_keys_come_in_the_order_in_which_they_were_added() -> None:
    queue: WorkQueue[str] = WorkQueue()
    for key in ("foo", "bar", "baz"):
        queue.add(key)

    assert await taken(queue, 3) == ["foo", "bar", "baz"]


async def test_what_is_added_after_the_shutdown_is_not_taken() -> None:
    queue: WorkQueue[str] = WorkQueue()
    queue.shut_down()
    queue.add("foo")
    queue.add_after("bar", 1)

    with pytest.raises(QueueShutDown):
        await queue.get()
    assert queue.is_shut_down


async def test_a_shutdown_with_drain_waits_for_the_workers() -> None:
    queue: WorkQueue[str] = WorkQueue()
    queue.add("foo")
    queue.add("bar")
    first, second = await taken(queue, 2)

    ending = asyncio.create_task(queue.shut_down_with_drain())
    await asyncio.sleep(1)
    assert not ending.done()
    queue.done(first)
    await asyncio.sleep(1)
    assert not ending.done()
    queue.done(second)

    await ending


async def test_a_drain_waits_for_what_was_added_while_worked_on() -> None:
    queue: WorkQueue[str] = WorkQueue()
    queue.add("foo")
    key = await queue.get()
    queue.add("foo")

    ending = asyncio.create_task(queue.shut_down_with_drain())
    queue.done(key)
    await asyncio.sleep(1)
    assert not ending.done()
    assert await queue.get() == "foo"
    queue.done("foo")

    await ending


async def test_a_drain_of_an_empty_queue_ends_at_once() -> None:
    queue: WorkQueue[str] = WorkQueue()

    await queue.shut_down_with_drain()


async def test_all_who_wait_for_a_drain_wait_until_it_is_done() -> None:
    queue: WorkQueue[str] = WorkQueue()
    queue.add("foo")
    key = await queue.get()
    endings = [asyncio.create_task(queue.shut_down_with_drain()) for _ in range(2)]
    await asyncio.sleep(1)
    assert not any(ending.done() for ending in endings)

    queue.done(key)

    async with asyncio.timeout(1):
        await asyncio.gather(*endings)


async def test_a_shutdown_ends_the_wait_of_a_drain() -> None:
    queue: WorkQueue[str] = WorkQueue()
    queue.add("foo")
    await queue.get()
    ending = asyncio.create_task(queue.shut_down_with_drain())
    await asyncio.sleep(1)

    queue.shut_down()

    async with asyncio.timeout(1):
        await ending


async def test_done_of_a_key_that_nobody_has_is_harmless() -> None:
    queue: WorkQueue[str] = WorkQueue()
    queue.add("foo")
    queue.done("foo")

    assert len(queue) == 1


async def test_a_worker_that_waits_is_woken_by_the_shutdown() -> None:
    queue: WorkQueue[str] = WorkQueue()
    waiting = [asyncio.create_task(queue.get()) for _ in range(3)]
    await asyncio.sleep(0)

    queue.shut_down()

    for each in waiting:
        with pytest.raises(QueueShutDown):
            await each


async def test_a_worker_that_is_cancelled_as_it_is_woken_wakes_another() -> None:
    queue: WorkQueue[str] = WorkQueue()
    first, second = (asyncio.create_task(queue.get()) for _ in range(2))
    await asyncio.sleep(0)

    queue.add("foo")  # wakes the first, which is cancelled before it can look
    first.cancel()

    assert await second == "foo"
    await asyncio.wait((first,))


# delaying_queue_test.go


async def test_a_delayed_key_comes_when_its_time_has_come() -> None:
    queue: WorkQueue[str] = WorkQueue()
    queue.add_after("foo", 0.05)
    await asyncio.sleep(0.049)
    assert len(queue) == 0

    assert await queue.get() == "foo"
    queue.done("foo")
    await asyncio.sleep(10)
    assert len(queue) == 0


async def test_the_time_of_a_delayed_key_comes_by_the_clock_that_is_given() -> None:
    queue: WorkQueue[str] = WorkQueue(clock=HurriedClock())
    queue.add_after("late", 60)
    queue.add_after("early", 30)

    assert await taken(queue, 2) == ["early", "late"]
    assert asyncio.get_running_loop().time() == pytest.approx(60 / RATE)


async def test_of_two_moments_the_earlier_counts() -> None:
    queue: WorkQueue[str] = WorkQueue()
    loop = asyncio.get_running_loop()
    queue.add_after("first", 0.05)
    queue.add_after("first", 0.07)
    assert await queue.get() == "first"
    assert loop.time() == 0.05
    queue.done("first")
    await asyncio.sleep(1)
    assert len(queue) == 0

    queue.add_after("second", 1)
    queue.add_after("second", 0.005)
    assert await queue.get() == "second"
    assert loop.time() == pytest.approx(1.055)
    queue.done("second")
    await asyncio.sleep(10)
    assert len(queue) == 0


async def test_delayed_keys_are_added_in_the_order_of_their_moments() -> None:
    queue: WorkQueue[str] = WorkQueue()
    queue.add_after("foo", 1)
    queue.add_after("bar", 0.5)
    queue.add_after("baz", 0.75)

    assert await taken(queue, 3) == ["bar", "baz", "foo"]


@pytest.mark.parametrize("seconds", [0, -1])
async def test_no_delay_is_now(seconds: float) -> None:
    queue: WorkQueue[str] = WorkQueue()
    queue.add_after("foo", seconds)

    assert len(queue) == 1


async def test_a_shutdown_forgets_what_was_for_later() -> None:
    queue: WorkQueue[str] = WorkQueue()
    queue.add_after("foo", 1)
    queue.shut_down()

    await asyncio.sleep(2)
    assert len(queue) == 0


# rate_limiting_queue_test.go


async def test_a_key_that_fails_comes_later_each_time() -> None:
    queue: WorkQueue[str] = WorkQueue(rate_limiter=ExponentialFailures(0.001, 1.0))
    loop = asyncio.get_running_loop()
    waits = []
    for _ in range(3):
        before = loop.time()
        queue.add_rate_limited("one")
        queue.done(await queue.get())
        waits.append(round(loop.time() - before, 6))

    assert waits == [0.001, 0.002, 0.004]
    assert queue.retries("one") == 3
    queue.forget("one")
    assert queue.retries("one") == 0


# Priorities


async def test_what_is_more_urgent_comes_first() -> None:
    queue: WorkQueue[str] = WorkQueue()
    queue.add("low", priority=-100)
    queue.add("usual")
    queue.add("high", priority=10)

    assert await taken(queue, 3) == ["high", "usual", "low"]


async def test_a_key_that_becomes_more_urgent_moves_up_and_never_down() -> None:
    queue: WorkQueue[str] = WorkQueue()
    for key in ("a", "b", "c"):
        queue.add(key)
    queue.add("c", priority=1)
    queue.add("c", priority=-1)

    assert await taken(queue, 3) == ["c", "a", "b"]


async def test_the_priority_of_a_key_that_is_worked_on_counts_when_it_comes_back() -> None:
    queue: WorkQueue[str] = WorkQueue()
    queue.add("a")
    await queue.get()
    queue.add("b")
    queue.add("a", priority=1)
    queue.done("a")

    assert await taken(queue, 2) == ["a", "b"]


async def test_what_is_not_urgent_does_not_wait_for_ever() -> None:
    queue: WorkQueue[str] = WorkQueue()
    queue.add("patient", priority=-1)
    order = []
    for number in range(3 * FAIR_TURN):
        queue.add(f"urgent {number}", priority=1)
        order.append(await queue.get())
        queue.done(order[-1])

    assert order.index("patient") == FAIR_TURN - 1


# A limit


async def test_a_full_queue_refuses_a_new_key_and_takes_one_that_it_has() -> None:
    queue: WorkQueue[str] = WorkQueue("small", limit=1)
    queue.add("a")
    queue.add("a")

    with pytest.raises(QueueFull, match="1 keys wait in small"):
        queue.add("b")


async def test_put_waits_for_room() -> None:
    queue: WorkQueue[str] = WorkQueue(limit=1)
    queue.add("a")
    putting = asyncio.create_task(queue.put("b"))
    await asyncio.sleep(1)
    assert not putting.done()

    assert await queue.get() == "a"
    await putting
    assert await queue.get() == "b"


async def test_a_delayed_key_waits_for_room_and_is_not_lost() -> None:
    queue: WorkQueue[str] = WorkQueue(limit=1)
    queue.add("a")
    queue.add_after("b", 1)
    await asyncio.sleep(5)

    assert await queue.get() == "a"
    assert await queue.get() == "b"


# Numbers


async def test_it_reports_under_the_names_of_client_go() -> None:
    metrics = MemoryMetrics()
    queue: WorkQueue[str] = WorkQueue("web", metrics=metrics)
    queue.add("a")
    queue.add("a")
    assert metrics.level("reflet_workqueue_depth", name="web") == 1
    await asyncio.sleep(2)
    await queue.get()
    await asyncio.sleep(3.25)  # it looks twice a second
    assert metrics.level("reflet_workqueue_longest_running_processor_seconds", name="web") == 3
    assert metrics.level("reflet_workqueue_unfinished_work_seconds", name="web") == 3
    queue.add_rate_limited("a")
    queue.done("a")
    await asyncio.sleep(1)

    assert metrics.counted("reflet_workqueue_adds_total", name="web") == 2
    assert metrics.counted("reflet_workqueue_retries_total", name="web") == 1
    assert metrics.observed("reflet_workqueue_queue_duration_seconds", name="web") == (2,)
    assert metrics.observed("reflet_workqueue_work_duration_seconds", name="web") == (3.25,)
    assert metrics.level("reflet_workqueue_unfinished_work_seconds", name="web") == 0
    queue.shut_down()


async def test_how_long_the_work_takes_is_looked_at_by_the_clock_that_is_given() -> None:
    metrics = MemoryMetrics()
    queue: WorkQueue[str] = WorkQueue("web", metrics=metrics, clock=HurriedClock())
    queue.add("a")
    await queue.get()
    await asyncio.sleep(3.25 / RATE)

    level = metrics.level("reflet_workqueue_longest_running_processor_seconds", name="web")
    assert level == pytest.approx(3)
    queue.shut_down()
