"""What becomes of a call that fails: when it comes again, and what is logged.

Upstream: controller-runtime/pkg/internal/controller/controller_test.go
"""

from __future__ import annotations

import asyncio
import logging

import pytest

from reflet.controllers.rate_limiters import ExponentialFailures
from reflet.controllers.reconciler import LOG_AGAIN_AFTER, Controller, TerminalError
from reflet.controllers.work_queue import WorkQueue
from reflet.errors import Conflict
from reflet.runtime.metrics import MemoryMetrics
from tests.faults.hurry import RATE, HurriedClock
from tests.unit.controllers.running_controllers import A1, mirror_of, now, running

pytestmark = pytest.mark.virtual_time


def patient_queue() -> WorkQueue[str]:
    """A second after the first failure, a minute at most."""
    return WorkQueue(rate_limiter=ExponentialFailures(1.0, 60.0))


class Log:
    """What a controller logs, from a level on."""

    def __init__(self, caplog: pytest.LogCaptureFixture, level: int = logging.INFO) -> None:
        caplog.set_level(level, "reflet.controllers")
        self.records = caplog.records

    def lines(self) -> list[str]:
        return [f"{each.levelname} {each.getMessage()}" for each in self.records]


async def test_the_key_comes_again_later_each_time_until_the_call_succeeds() -> None:
    calls: list[float] = []

    async def work(_: str) -> None:
        calls.append(now())
        if len(calls) < 4:
            raise ValueError("no colour")

    queue = patient_queue()
    async with mirror_of(A1) as mirror, running(Controller(mirror, work, queue=queue)):
        await asyncio.sleep(600)

    assert calls == [0, 1, 3, 7]
    assert queue.retries("shop/a") == 0


async def test_an_error_is_one_line_and_so_is_its_end(caplog: pytest.LogCaptureFixture) -> None:
    log = Log(caplog)
    calls = 0

    async def work(_: str) -> None:
        nonlocal calls
        calls += 1
        if calls < 4:
            raise ValueError("no colour")

    async with mirror_of(A1) as mirror, running(Controller(mirror, work, queue=patient_queue())):
        await asyncio.sleep(60)

    assert log.lines() == [
        "WARNING configmaps: shop/a failed, again in 1 s: ValueError: no colour",
        "INFO configmaps: shop/a works again, failed 3 times",
    ]
    assert all(record.exc_info is None for record in log.records)


async def test_another_reason_is_logged_at_once(caplog: pytest.LogCaptureFixture) -> None:
    log = Log(caplog)
    reasons = iter(("no colour", "no colour", "no size", "no size"))

    async def work(_: str) -> None:
        raise ValueError(next(reasons, "no size"))

    async with mirror_of(A1) as mirror, running(Controller(mirror, work, queue=patient_queue())):
        await asyncio.sleep(60)

    assert log.lines() == [
        "WARNING configmaps: shop/a failed, again in 1 s: ValueError: no colour",
        "WARNING configmaps: shop/a failed, 3 times, again in 4 s: ValueError: no size",
    ]


async def test_what_goes_on_failing_is_logged_again_every_ten_minutes(
    caplog: pytest.LogCaptureFixture,
) -> None:
    log = Log(caplog)

    async def work(_: str) -> None:
        raise ValueError("no colour")

    async with mirror_of(A1) as mirror, running(Controller(mirror, work, queue=patient_queue())):
        await asyncio.sleep(3 * LOG_AGAIN_AFTER + 200)

    assert log.lines() == [
        "WARNING configmaps: shop/a failed, again in 1 s: ValueError: no colour",
        "WARNING configmaps: shop/a failed, 16 times, again in 60 s: ValueError: no colour",
        "WARNING configmaps: shop/a failed, 26 times, again in 60 s: ValueError: no colour",
        "WARNING configmaps: shop/a failed, 36 times, again in 60 s: ValueError: no colour",
    ]


async def test_every_attempt_and_its_traceback_are_there_for_those_who_log_debug(
    caplog: pytest.LogCaptureFixture,
) -> None:
    log = Log(caplog, logging.DEBUG)

    async def work(_: str) -> None:
        raise ValueError("no colour")

    async with mirror_of(A1) as mirror, running(Controller(mirror, work, queue=patient_queue())):
        await asyncio.sleep(6)

    attempts = [record for record in log.records if record.exc_info is not None]
    assert len(attempts) == 3
    assert "DEBUG configmaps: shop/a failed, 2 times, again in 2 s: ValueError: no colour" in (
        log.lines()
    )


async def test_a_conflict_is_no_warning(caplog: pytest.LogCaptureFixture) -> None:
    log = Log(caplog)
    calls = 0

    async def work(_: str) -> None:
        nonlocal calls
        calls += 1
        if calls < 3:
            raise Conflict("changed meanwhile", code=409)

    async with mirror_of(A1) as mirror, running(Controller(mirror, work, queue=patient_queue())):
        await asyncio.sleep(60)

    assert log.lines() == [
        f"INFO configmaps: shop/a failed, again in {delay} s: Conflict: changed meanwhile"
        for delay in (1, 2)
    ]


async def test_a_terminal_error_is_logged_and_not_tried_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    log = Log(caplog)
    metrics = MemoryMetrics()
    calls = 0

    async def work(_: str) -> None:
        nonlocal calls
        calls += 1
        raise TerminalError("the spec makes no sense")

    async with mirror_of(A1) as mirror, running(Controller(mirror, work, metrics=metrics)):
        await asyncio.sleep(6000)

    assert calls == 1
    assert log.lines() == [
        "WARNING configmaps: shop/a failed, not tried again: TerminalError: the spec makes no sense"
    ]
    count = metrics.counted(
        "reflet_reconcile_total", controller="configmaps", result="terminal_error"
    )
    assert count == 1


async def test_a_call_that_takes_too_long_is_cancelled_and_tried_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    log = Log(caplog, logging.WARNING)
    ends: list[tuple[float, str]] = []

    async def work(_: str) -> None:
        try:
            await asyncio.sleep(5 if not ends else 1)
        except asyncio.CancelledError:
            ends.append((now(), "cancelled"))
            raise
        ends.append((now(), "done"))

    queue = patient_queue()
    async with (
        mirror_of(A1) as mirror,
        running(Controller(mirror, work, timeout=3, queue=queue)),
    ):
        await asyncio.sleep(60)

    assert ends == [(3, "cancelled"), (5, "done")]
    assert log.lines() == [
        "WARNING configmaps: shop/a failed, again in 1 s: TimeoutError: no end after 3 s"
    ]


@pytest.mark.parametrize("timeout", [None, 100.0])
async def test_a_time_out_of_the_functions_own_is_an_error_as_any_other(
    timeout: float | None, caplog: pytest.LogCaptureFixture
) -> None:
    log = Log(caplog, logging.WARNING)

    async def work(_: str) -> None:
        async with asyncio.timeout(2):
            await asyncio.sleep(5)

    queue = patient_queue()
    async with (
        mirror_of(A1) as mirror,
        running(Controller(mirror, work, timeout=timeout, queue=queue)) as task,
    ):
        await asyncio.sleep(60)
        assert not task.done()

    assert log.lines() == ["WARNING configmaps: shop/a failed, again in 1 s: TimeoutError: "]
    assert queue.retries("shop/a") > 1


async def test_a_cancellation_that_the_function_met_itself_is_an_error_of_its_own() -> None:
    calls = 0

    async def work(_: str) -> None:
        nonlocal calls
        calls += 1
        if calls == 1:
            other = asyncio.create_task(asyncio.sleep(100))
            other.cancel()
            await other

    async with mirror_of(A1) as mirror, running(Controller(mirror, work)) as task:
        await asyncio.sleep(60)
        assert not task.done()

    assert calls == 2


async def test_timeouts_and_retries_are_by_the_clock_that_is_given() -> None:
    begun: list[float] = []

    async def work(_: str) -> None:
        begun.append(now())
        await asyncio.sleep(1000)

    clock = HurriedClock()
    queue: WorkQueue[str] = WorkQueue(rate_limiter=ExponentialFailures(60.0), clock=clock)
    async with (
        mirror_of(A1) as mirror,
        running(Controller(mirror, work, timeout=30, queue=queue, clock=clock)),
    ):
        await asyncio.sleep(100 / RATE)

    assert begun == pytest.approx([0, 90 / RATE])
