from __future__ import annotations

import asyncio

import pytest

from reflet.runtime.waits import SharedCalls

pytestmark = pytest.mark.virtual_time


class Call:
    """A call that takes as long as it is told to."""

    def __init__(self, failure: Exception | None = None) -> None:
        self.begun = 0
        self.cancelled = 0
        self.may_end = asyncio.Event()
        self._failure = failure

    async def __call__(self) -> int:
        self.begun += 1
        try:
            await self.may_end.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        if self._failure is not None:
            raise self._failure
        return self.begun


async def settled() -> None:
    await asyncio.sleep(1)


async def test_all_who_want_a_result_at_the_same_time_share_one_call() -> None:
    calls, call = SharedCalls[str, int]("test"), Call()
    waiting = [asyncio.create_task(calls.result("a", call)) for _ in range(5)]
    await settled()
    under_way = "a" in calls
    call.may_end.set()

    assert await asyncio.gather(*waiting) == [1] * 5
    assert (under_way, "a" in calls) == (True, False)
    assert await calls.result("a", call) == 2


async def test_calls_with_other_keys_are_others() -> None:
    calls, call = SharedCalls[str, int]("test"), Call()
    call.may_end.set()
    results = await asyncio.gather(calls.result("a", call), calls.result("b", call))

    assert sorted(results) == [1, 2]


async def test_a_failure_is_everybodys() -> None:
    calls, call = SharedCalls[str, int]("test"), Call(ValueError("no"))
    waiting = [asyncio.create_task(calls.result("a", call)) for _ in range(2)]
    await settled()
    call.may_end.set()

    results = await asyncio.gather(*waiting, return_exceptions=True)

    assert [str(each) for each in results] == ["no", "no"]
    assert (call.begun, "a" in calls) == (1, False)


async def test_who_leaves_takes_the_call_from_nobody() -> None:
    calls, call = SharedCalls[str, int]("test"), Call()
    first = asyncio.create_task(calls.result("a", call))
    await settled()
    second = asyncio.create_task(calls.result("a", call))
    await settled()
    first.cancel()
    await settled()
    call.may_end.set()

    assert (await second, call.begun, call.cancelled) == (1, 1, 0)


async def test_the_last_who_leaves_takes_the_call_along() -> None:
    calls, call = SharedCalls[str, int]("test"), Call()
    waiting = [asyncio.create_task(calls.result("a", call)) for _ in range(2)]
    await settled()
    for task in waiting:
        task.cancel()
    await asyncio.wait(waiting)

    assert (call.cancelled, "a" in calls) == (1, False)
    assert asyncio.all_tasks() == {asyncio.current_task()}
