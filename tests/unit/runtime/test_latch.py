from __future__ import annotations

import asyncio
import threading

import pytest

from reflet.runtime.latch import Latch


def test_it_is_open_until_it_is_set() -> None:
    latch = Latch()
    before = latch.is_set

    latch.set()

    assert (before, latch.is_set) == (False, True)


def test_only_the_first_to_set_it_is_told_so() -> None:
    latch = Latch()

    assert [latch.set(), latch.set()] == [True, False]


async def test_waiting_for_a_set_latch_does_not_let_others_run_first() -> None:
    latch = Latch()
    latch.set()
    others: list[str] = []
    asyncio.get_running_loop().call_soon(others.append, "ran")

    await latch.wait()

    assert others == []


@pytest.mark.virtual_time
async def test_waiters_wake_in_the_order_in_which_they_came() -> None:
    latch = Latch()
    woken: list[int] = []

    async def wait(number: int) -> None:
        await latch.wait()
        woken.append(number)

    async with asyncio.TaskGroup() as tasks:
        for number in range(5):
            tasks.create_task(wait(number))
        await asyncio.sleep(1)
        latch.set()

    assert woken == [0, 1, 2, 3, 4]


@pytest.mark.virtual_time
async def test_a_deadline_ends_the_wait() -> None:
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(30):
            await Latch().wait()


@pytest.mark.virtual_time
async def test_a_cancelled_waiter_leaves_nothing_behind() -> None:
    latch = Latch()
    waiter = asyncio.create_task(latch.wait())
    await asyncio.sleep(0)
    waiting = repr(latch)

    waiter.cancel()
    await asyncio.wait([waiter])

    assert (waiting, repr(latch)) == ("<Latch open, 1 waiting>", "<Latch open, 0 waiting>")


@pytest.mark.virtual_time
async def test_a_waiter_cancelled_as_the_latch_is_set_is_cancelled() -> None:
    latch = Latch()
    waiter = asyncio.create_task(latch.wait())
    await asyncio.sleep(0)

    waiter.cancel()
    latch.set()
    await asyncio.wait([waiter])

    assert waiter.cancelled()


async def test_it_can_be_set_from_another_thread() -> None:
    latch = Latch()
    thread = threading.Thread(target=latch.set)
    waiter = asyncio.create_task(latch.wait())
    await asyncio.sleep(0)

    thread.start()
    await waiter
    thread.join()

    assert latch.is_set


async def test_one_latch_wakes_waiters_in_several_loops() -> None:
    latch = Latch()
    waiting_elsewhere = threading.Event()

    async def elsewhere() -> None:
        asyncio.get_running_loop().call_soon(waiting_elsewhere.set)
        await latch.wait()

    other_loop = asyncio.to_thread(asyncio.run, elsewhere())
    here = asyncio.create_task(latch.wait())
    there = asyncio.create_task(other_loop)
    await asyncio.to_thread(waiting_elsewhere.wait)

    latch.set()

    ended, waiting = await asyncio.wait([here, there])
    assert (ended, waiting) == ({here, there}, set())


def test_a_waiter_whose_loop_is_gone_does_not_matter() -> None:
    latch = Latch()
    loop = asyncio.new_event_loop()
    waiting = latch.wait()
    task = loop.create_task(waiting)
    loop.call_soon(loop.stop)
    loop.run_forever()
    loop.close()

    assert latch.set()

    # The task can no longer end by itself; closing its coroutine is what its loop's end left us.
    waiting.close()
    task._log_destroy_pending = False  # type: ignore[attr-defined]  # a task nobody can finish


@pytest.mark.virtual_time
async def test_from_its_own_loop_it_wakes_without_a_detour() -> None:
    latch = Latch()
    steps: list[str] = []

    async def wait() -> None:
        await latch.wait()
        steps.append("woken")

    waiter = asyncio.create_task(wait())
    await asyncio.sleep(0)
    latch.set()
    await asyncio.sleep(0)

    assert steps == ["woken"]
    await waiter
