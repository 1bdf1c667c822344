"""From changes to calls of a function.

Upstream: controller-runtime/pkg/internal/controller/controller_test.go
"""

from __future__ import annotations

import asyncio
import inspect
import logging
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from reflet.api.core.config import ConfigMap
from reflet.api.resources import CONFIG_MAPS
from reflet.controllers.rate_limiters import ExponentialFailures
from reflet.controllers.reconciler import (
    Controller,
    ControllerOptions,
    Done,
    Requeue,
    Result,
    TerminalError,
    reconcile,
)
from reflet.controllers.triggers import mapped
from reflet.controllers.work_queue import WorkQueue
from reflet.errors import ConfigurationError, MisuseError, NotFound
from reflet.informer.mirror import Mirror
from reflet.runtime.metrics import MemoryMetrics
from reflet.testing.scripted_source import (
    After,
    Quiet,
    ScriptedSource,
    added,
    deleted,
    listing,
    modified,
)
from reflet.testing.virtual_time import VirtualClock
from tests.faults.hurry import RATE, HurriedClock
from tests.unit.store.config_maps import config_map

pytestmark = pytest.mark.virtual_time

A1, A2, A3 = (config_map("a", version) for version in "123")
B1, B2 = (config_map("b", version) for version in "12")


def mirror_of(*items: ConfigMap, watch: Any = ()) -> Mirror[ConfigMap]:
    source = ScriptedSource[ConfigMap](
        lists=[listing("1", *items)], watches=[[*watch, Quiet.HEALTHY]]
    )
    return Mirror(source, CONFIG_MAPS, namespace="shop", clock=VirtualClock(), streaming=False)


@asynccontextmanager
async def running(controller: Controller) -> AsyncIterator[asyncio.Task[None]]:
    task = asyncio.create_task(controller.run())
    try:
        yield task
    finally:
        task.cancel()
        await asyncio.wait((task,))


def now() -> float:
    return asyncio.get_running_loop().time()


async def test_every_object_is_worked_on_and_again_when_it_changes_or_goes() -> None:
    watch = [After(1), modified(A2), After(1), added(B1), After(1), deleted(A3)]
    calls: list[tuple[float, str, bool]] = []
    async with mirror_of(A1, watch=watch) as mirror:

        async def work(key: str) -> None:
            calls.append((now(), key, key in mirror))

        async with running(Controller(mirror, work)):
            await asyncio.sleep(10)

    assert calls == [
        (0, "shop/a", True),
        (1, "shop/a", True),
        (2, "shop/b", True),
        (3, "shop/a", False),
    ]


async def test_changes_during_a_call_are_one_call_after_it() -> None:
    watch = [After(1), modified(A2), After(1), modified(A3)]
    calls: list[float] = []

    async def work(_: str) -> None:
        calls.append(now())
        await asyncio.sleep(5)

    async with mirror_of(A1, watch=watch) as mirror, running(Controller(mirror, work, workers=4)):
        await asyncio.sleep(60)

    assert calls == [0, 5]


async def test_several_workers_work_on_several_keys() -> None:
    busy: set[str] = set()
    most = 0

    async def work(key: str) -> None:
        nonlocal most
        busy.add(key)
        most = max(most, len(busy))
        await asyncio.sleep(1)
        busy.remove(key)

    items = [config_map(f"n{number}", "1") for number in range(9)]
    async with mirror_of(*items) as mirror, running(Controller(mirror, work, workers=3)):
        await asyncio.sleep(60)

    assert most == 3


async def test_an_error_is_one_line_and_the_key_comes_again_later_each_time(
    caplog: pytest.LogCaptureFixture,
) -> None:
    calls: list[float] = []

    async def work(_: str) -> None:
        calls.append(now())
        if len(calls) < 4:
            raise ValueError("no colour")

    queue: WorkQueue[str] = WorkQueue(rate_limiter=ExponentialFailures(1.0, 60.0))
    caplog.set_level(logging.INFO, "reflet.controllers")
    async with mirror_of(A1) as mirror, running(Controller(mirror, work, queue=queue)):
        await asyncio.sleep(600)

    assert calls == [0, 1, 3, 7]
    assert queue.retries("shop/a") == 0  # it succeeded in the end
    lines = [record.getMessage() for record in caplog.records]
    assert lines == [
        f"configmaps: shop/a failed, again in {delay} s: ValueError: no colour"
        for delay in (1, 2, 4)
    ]
    assert all(record.exc_info is None for record in caplog.records)


async def test_a_terminal_error_is_told_and_not_tried_again() -> None:
    metrics = MemoryMetrics()
    calls = 0

    async def work(_: str) -> None:
        nonlocal calls
        calls += 1
        raise TerminalError("the spec makes no sense")

    async with mirror_of(A1) as mirror, running(Controller(mirror, work, metrics=metrics)):
        await asyncio.sleep(6000)

    assert calls == 1
    count = metrics.counted(
        "reflet_reconcile_total", controller="configmaps", result="terminal_error"
    )
    assert count == 1


@pytest.mark.parametrize(("result", "expected"), [(None, [0]), (Done(), [0])])
async def test_a_success_ends_it(result: Result, expected: list[float]) -> None:
    calls: list[float] = []

    async def work(_: str) -> Result:
        calls.append(now())
        return result

    async with mirror_of(A1) as mirror, running(Controller(mirror, work)):
        await asyncio.sleep(600)

    assert calls == expected


async def test_a_requeue_calls_again_after_its_time_and_ends_the_back_off() -> None:
    calls: list[float] = []

    async def work(_: str) -> Result:
        calls.append(now())
        return Requeue(10)

    async with mirror_of(A1) as mirror, running(Controller(mirror, work)):
        await asyncio.sleep(35)

    assert calls == [0, 10, 20, 30]


async def test_a_call_that_takes_too_long_is_cancelled_and_tried_again() -> None:
    ends: list[tuple[float, str]] = []

    async def work(_: str) -> None:
        try:
            await asyncio.sleep(5 if not ends else 1)
        except asyncio.CancelledError:
            ends.append((now(), "cancelled"))
            raise
        ends.append((now(), "done"))

    queue: WorkQueue[str] = WorkQueue(rate_limiter=ExponentialFailures(1.0, 60.0))
    async with mirror_of(A1) as mirror, running(Controller(mirror, work, timeout=3, queue=queue)):
        await asyncio.sleep(60)

    assert ends == [(3, "cancelled"), (5, "done")]


async def test_timeouts_and_retries_are_by_the_clock_that_is_given() -> None:
    begun: list[float] = []

    async def work(_: str) -> None:
        begun.append(now())
        await asyncio.sleep(1000)

    clock = HurriedClock()
    queue: WorkQueue[str] = WorkQueue(rate_limiter=ExponentialFailures(60.0), clock=clock)
    options: ControllerOptions = {"timeout": 30, "queue": queue, "clock": clock}
    async with mirror_of(A1) as mirror, running(Controller(mirror, work, **options)):
        await asyncio.sleep(100 / RATE)

    assert begun == pytest.approx([0, 90 / RATE])


async def test_work_begins_when_everything_is_synced_and_not_before() -> None:
    seen: list[int] = []
    async with mirror_of(A1) as mirror:
        late = Mirror(
            ScriptedSource[ConfigMap](lists=[NotFound("no such kind", code=404), listing("1", B1)]),
            CONFIG_MAPS,
            namespace="shop",
            clock=VirtualClock(),
            streaming=False,
            chance=lambda: 0.0,
        )

        async def work(_: str) -> None:
            seen.append(len(late))

        controller = Controller(mirror, work, watches=[mapped(late, lambda _: ())])
        async with late, running(controller):
            await asyncio.sleep(0.5)
            assert seen == []
            readiness = [controller.is_ready]
            await asyncio.sleep(60)
            readiness.append(controller.is_ready)

    assert readiness == [False, True]
    assert seen == [1]


async def test_an_optional_kind_that_comes_late_is_followed_when_it_comes() -> None:
    calls: list[str] = []

    async def work(key: str) -> None:
        calls.append(key)

    async with mirror_of(A1) as mirror:
        late = Mirror(
            ScriptedSource[ConfigMap](lists=[NotFound("no such kind", code=404), listing("1", B1)]),
            CONFIG_MAPS,
            namespace="shop",
            clock=VirtualClock(),
            streaming=False,
        )
        trigger = mapped(late, lambda found: [f"for {found.metadata.name}"], optional=True)
        controller = Controller(mirror, work, watches=[trigger])
        async with late, running(controller):
            await asyncio.sleep(0.1)
            assert calls == ["shop/a"]
            assert controller.is_ready
            await asyncio.sleep(60)

    assert calls == ["shop/a", "for b"]


async def test_a_plain_function_runs_in_a_thread_one_key_at_a_time() -> None:
    threads: set[str] = set()
    done = asyncio.Event()
    loop = asyncio.get_running_loop()

    def work(_: str) -> Result:
        threads.add(threading.current_thread().name)
        loop.call_soon_threadsafe(done.set)
        return None

    async with mirror_of(A1) as mirror, running(Controller(mirror, work, name="plain")):
        await done.wait()

    assert threads == {"plain_0"}


async def test_a_plain_function_that_is_under_way_ends_before_the_controller_does() -> None:
    began, may_end = threading.Event(), threading.Event()
    ended: list[str] = []

    def work(key: str) -> None:
        began.set()
        may_end.wait()
        ended.append(key)

    async with mirror_of(A1) as mirror:
        task = asyncio.create_task(Controller(mirror, work).run())
        await asyncio.to_thread(began.wait)
        task.cancel()
        await asyncio.sleep(0)
        assert not task.done()
        may_end.set()
        await asyncio.wait((task,))

    assert ended == ["shop/a"]
    assert task.cancelled()


async def test_stop_lets_the_calls_end_that_are_under_way_and_begins_no_other() -> None:
    calls: list[str] = []
    ends: list[str] = []

    async def work(key: str) -> None:
        calls.append(key)
        await asyncio.sleep(5)
        ends.append(key)

    async with mirror_of(A1, B1) as mirror:
        controller = Controller(mirror, work)
        task = asyncio.create_task(controller.run())
        await asyncio.sleep(1)
        controller.stop()
        await task

    assert calls == ends == ["shop/a"]
    assert now() == 5
    assert not controller.is_ready


async def test_who_does_not_lead_does_not_begin() -> None:
    class Elected:
        is_leading = False

    elected = Elected()
    calls: list[float] = []

    async def work(_: str) -> None:
        calls.append(now())

    async with mirror_of(A1) as mirror, running(Controller(mirror, work, elected=elected)):
        await asyncio.sleep(100)
        assert calls == []
        elected.is_leading = True
        await asyncio.sleep(1100)

    assert len(calls) == 1


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


async def test_the_longest_call_is_told() -> None:
    async def work(_: str) -> None:
        await asyncio.sleep(100)

    async with mirror_of(A1) as mirror:
        controller = Controller(mirror, work)
        assert controller.longest_call() == 0
        async with running(controller):
            await asyncio.sleep(30)
            assert controller.longest_call() == 30


async def test_a_controller_runs_once() -> None:
    async def work(_: str) -> None: ...

    async with mirror_of() as mirror:
        controller = Controller(mirror, work)
        async with running(controller):
            await asyncio.sleep(1)
        with pytest.raises(MisuseError):
            await controller.run()


async def test_reconcile_is_a_controller_that_runs() -> None:
    calls: list[str] = []

    async def work(key: str) -> None:
        calls.append(key)

    async with mirror_of(A1) as mirror:
        task = asyncio.create_task(reconcile(mirror, work, workers=2))
        await asyncio.sleep(1)
        task.cancel()
        await asyncio.wait((task,))

    assert calls == ["shop/a"]


@pytest.mark.parametrize(
    ("options", "complaint"),
    [({"workers": 0}, "at least 1"), ({"timeout": 1.0}, "make it async")],
)
async def test_options_that_cannot_work_are_refused(
    options: dict[str, Any], complaint: str
) -> None:
    def work(_: str) -> None: ...

    with pytest.raises(ConfigurationError, match=complaint):
        Controller(mirror_of(), work, **options)


def test_the_options_are_those_of_the_controller() -> None:
    taken = inspect.signature(Controller).parameters.values()

    assert {each.name for each in taken if each.kind is each.KEYWORD_ONLY} == set(
        ControllerOptions.__annotations__
    )
