"""From changes to calls of a function.

Upstream: controller-runtime/pkg/internal/controller/controller_test.go
"""

from __future__ import annotations

import asyncio
import inspect
import threading
from typing import Any

import pytest

from reflet.api.core.config import ConfigMap
from reflet.api.resources import CONFIG_MAPS
from reflet.controllers.reconciler import (
    Controller,
    ControllerOptions,
    Done,
    Requeue,
    Result,
    reconcile,
)
from reflet.controllers.triggers import mapped
from reflet.controllers.work_queue import WorkQueue
from reflet.errors import ConfigurationError, MisuseError, NotFound, TransportError
from reflet.informer.mirror import Mirror
from reflet.testing.scripted_source import (
    After,
    ScriptedSource,
    added,
    deleted,
    listing,
    modified,
)
from reflet.testing.virtual_time import VirtualClock
from tests.unit.controllers.running_controllers import (
    A1,
    A2,
    A3,
    B1,
    mirror_of,
    now,
    running,
)
from tests.unit.store.config_maps import config_map

pytestmark = pytest.mark.virtual_time


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


class Elected:
    is_leading = False


async def test_who_does_not_lead_begins_nothing_and_everything_soon_after_it_leads() -> None:
    elected = Elected()
    calls: list[float] = []

    async def work(_: str) -> None:
        calls.append(now())

    items = [config_map(f"n{number}", "1") for number in range(500)]
    async with mirror_of(*items) as mirror, running(Controller(mirror, work, elected=elected)):
        await asyncio.sleep(100)
        assert calls == []
        elected.is_leading = True
        await asyncio.sleep(1)

    assert len(calls) == 500


async def test_a_controller_that_never_led_can_be_stopped() -> None:
    async def work(_: str) -> None: ...

    async with mirror_of(A1) as mirror:
        controller = Controller(mirror, work, elected=Elected())
        async with running(controller) as task:
            await asyncio.sleep(10)
            controller.stop()
            await asyncio.sleep(1)
            assert task.done()


async def test_a_controller_that_waits_for_its_mirror_can_be_stopped() -> None:
    async def work(_: str) -> None: ...

    unreachable = Mirror(
        ScriptedSource[ConfigMap](lists=[TransportError("nobody is there")] * 50),
        CONFIG_MAPS,
        namespace="shop",
        clock=VirtualClock(),
        streaming=False,
    )
    async with unreachable:
        controller = Controller(unreachable, work)
        async with running(controller) as task:
            await asyncio.sleep(10)
            assert not task.done()
            controller.stop()
            controller.stop()
            async with asyncio.timeout(1):
                await task


async def test_a_controller_that_was_stopped_before_it_ran_ends_at_once() -> None:
    async def work(_: str) -> None: ...

    async with mirror_of() as mirror:
        controller = Controller(mirror, work)
        controller.stop()
        await controller.run()

    assert now() == 0


async def test_calls_that_wait_for_nothing_let_others_run() -> None:
    class Busy(VirtualClock):
        """Every look at it takes a while: as if somebody worked in between."""

        looks = 0

        def monotonic(self) -> float:
            self.looks += 1
            return super().monotonic() + self.looks * 0.001

    others = 0  # how often something else had its turn
    seen: list[int] = []

    async def work(_: str) -> None:
        seen.append(others)

    items = [config_map(f"n{number}", "1") for number in range(200)]
    async with mirror_of(*items) as mirror:
        await mirror.synced()
        async with running(Controller(mirror, work, clock=Busy())):
            while len(seen) < len(items):
                others += 1
                await asyncio.sleep(0)

    assert len(set(seen)) > 10


async def test_a_full_queue_holds_changes_back_and_loses_none() -> None:
    done: list[str] = []

    async def work(key: str) -> None:
        await asyncio.sleep(1)
        done.append(key)

    items = [config_map(f"n{number}", "1") for number in range(9)]
    queue: WorkQueue[str] = WorkQueue(limit=2)
    async with mirror_of(*items) as mirror, running(Controller(mirror, work, queue=queue)):
        await asyncio.sleep(60)

    assert done == [f"shop/n{number}" for number in range(9)]


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
