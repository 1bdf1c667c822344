from __future__ import annotations

import asyncio

import pytest

from reflet.pleg.relist import Pleg
from reflet.pleg.runtime_status import RuntimePod
from reflet.pleg.status_cache import StatusCache
from reflet.runtime.metrics import MemoryMetrics
from reflet.testing.virtual_time import VirtualClock
from tests.pod_runtime import FakeRuntime
from tests.unit.pleg.relist_scene import EXITED, RUNNING

# The loop


class SlowRuntime(FakeRuntime):
    """Takes its time for every answer, and notes when each was asked for."""

    def __init__(self, *pods: RuntimePod, seconds: float) -> None:
        super().__init__(*pods)
        self.seconds = seconds
        self.times: list[tuple[float, str]] = []

    async def _answering(self, question: str) -> None:
        self.times.append((asyncio.get_running_loop().time(), question))
        await asyncio.sleep(self.seconds)
        await super()._answering(question)


@pytest.mark.virtual_time
async def test_the_first_relist_is_at_once_and_the_next_a_period_after_its_end() -> None:
    runtime = SlowRuntime(seconds=0.5)

    async with Pleg(runtime, StatusCache(), clock=VirtualClock()):
        await asyncio.sleep(4)

    assert runtime.times == [(0, "list"), (1.5, "list"), (3, "list")]


@pytest.mark.virtual_time
async def test_events_can_be_iterated_until_the_context_is_left() -> None:
    runtime = FakeRuntime(RUNNING)

    async def heard(pleg: Pleg) -> list[str]:
        return [event.type async for event in pleg.events]

    async with Pleg(runtime, StatusCache(), clock=VirtualClock()) as pleg:
        listener = asyncio.create_task(heard(pleg))
        await asyncio.sleep(0.5)
        runtime.show(EXITED)
        await asyncio.sleep(1)

    assert await listener == ["ContainerStarted", "ContainerDied"]


@pytest.mark.virtual_time
async def test_a_waiter_is_woken_by_the_next_relist() -> None:
    cache = StatusCache()

    async with Pleg(FakeRuntime(RUNNING), cache, clock=VirtualClock()):
        await asyncio.sleep(0.3)
        found = await cache.newer_than("p", 0.3, timeout=10)

    assert (found.status.name, asyncio.get_running_loop().time()) == ("name of p", 1)


@pytest.mark.virtual_time
async def test_a_request_is_served_before_the_next_relist() -> None:
    runtime, cache = FakeRuntime(RUNNING), StatusCache()

    async with Pleg(runtime, cache, clock=VirtualClock(), period=60) as pleg:
        await asyncio.sleep(5)
        pleg.request_relist("p")
        await cache.newer_than("p", 4, timeout=1)

    assert runtime.asked == ["list", "status p", "find p"]


@pytest.mark.virtual_time
async def test_a_request_older_than_the_last_relist_is_skipped() -> None:
    runtime = SlowRuntime(RUNNING, seconds=1)

    async with Pleg(runtime, StatusCache(), clock=VirtualClock(), period=3) as pleg:
        await asyncio.sleep(4)  # list 0-1, status 1-2, then nothing until 5
        pleg.request_relist("q")  # 4-5
        pleg.request_relist("p")  # waits behind q, and behind the relist that is due at 5
        await asyncio.sleep(3)

    assert runtime.times == [(0, "list"), (1, "status p"), (4, "find q"), (5, "list")]


@pytest.mark.virtual_time
async def test_a_request_made_during_a_relist_is_served_after_it() -> None:
    runtime = SlowRuntime(RUNNING, seconds=1)

    async with Pleg(runtime, StatusCache(), clock=VirtualClock(), period=60) as pleg:
        await asyncio.sleep(0.5)
        pleg.request_relist("p")
        pleg.request_relist("p")
        await asyncio.sleep(10)

    assert runtime.times == [(0, "list"), (1, "status p"), (2, "find p")]


@pytest.mark.virtual_time
async def test_a_request_made_in_the_moment_a_relist_begins_is_served_after_it() -> None:
    runtime = SlowRuntime(RUNNING, seconds=1)

    async with Pleg(runtime, StatusCache(), clock=VirtualClock(), period=60) as pleg:
        await asyncio.sleep(0)
        pleg.request_relist("p")
        await asyncio.sleep(10)

    assert runtime.times == [(0, "list"), (1, "status p"), (2, "find p")]


@pytest.mark.virtual_time
async def test_requests_are_served_in_the_order_of_asking() -> None:
    runtime = SlowRuntime(seconds=1)

    async with Pleg(runtime, StatusCache(), clock=VirtualClock(), period=60) as pleg:
        await asyncio.sleep(2)
        for uid in "abca":
            pleg.request_relist(uid)
        await asyncio.sleep(10)

    assert runtime.times == [(0, "list"), (2, "find a"), (3, "find b"), (4, "find c")]


@pytest.mark.virtual_time
async def test_a_relist_that_is_due_comes_before_the_pods_that_wait() -> None:
    runtime = SlowRuntime(seconds=1)

    async with Pleg(runtime, StatusCache(), clock=VirtualClock(), period=2) as pleg:
        await asyncio.sleep(2.5)  # list 0-1, the next one at 3
        for uid in "abc":
            pleg.request_relist(uid)
        await asyncio.sleep(3)

    assert runtime.times == [(0, "list"), (2.5, "find a"), (3.5, "list")]


@pytest.mark.virtual_time
async def test_it_stays_unhealthy_while_the_runtime_hangs() -> None:
    runtime = SlowRuntime(seconds=1)

    async with Pleg(runtime, StatusCache(), clock=VirtualClock(), period=1) as pleg:
        await asyncio.sleep(2.5)
        healthy = pleg.healthy()
        runtime.seconds = 10_000
        await asyncio.sleep(200)
        why = pleg.why_unhealthy()

    assert healthy
    # The last list that was answered began at 2.
    assert why == "pleg was last seen active 3m20.5s ago; threshold is 3m0s"


@pytest.mark.virtual_time
async def test_leaving_ends_a_look_that_is_under_way() -> None:
    runtime = SlowRuntime(seconds=10_000)

    async with Pleg(runtime, StatusCache(), clock=VirtualClock()) as pleg:
        await asyncio.sleep(1)

    assert asyncio.get_running_loop().time() == 1
    assert [event async for event in pleg.events] == []


@pytest.mark.virtual_time
async def test_the_numbers_of_a_relist_are_reported() -> None:
    metrics = MemoryMetrics()
    runtime = SlowRuntime(RUNNING, seconds=0.25)

    async with Pleg(runtime, StatusCache(), clock=VirtualClock(), metrics=metrics) as pleg:
        await asyncio.sleep(1.75)  # list, status, a second of rest, list
        pleg.request_relist("p")
        await asyncio.sleep(0.5)

    assert metrics.observed("reflet_pleg_relist_duration_seconds") == (0.5, 0.25)
    assert metrics.observed("reflet_pleg_relist_interval_seconds") == (1.5,)
    assert metrics.observed("reflet_pleg_pod_relist_duration_seconds") == (0.25,)
    assert metrics.level("reflet_pleg_last_seen_timestamp_seconds") == pytest.approx(
        VirtualClock().now().timestamp() - 0.75
    )


async def test_it_can_be_entered_once() -> None:
    pleg = Pleg(FakeRuntime(), StatusCache())
    async with pleg:
        pass

    with pytest.raises(RuntimeError, match="was entered before"):
        async with pleg:
            pass
