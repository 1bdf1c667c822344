"""How one handler is told, and when it has heard everything."""

from __future__ import annotations

import asyncio
import functools
import logging
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import Any

import pytest

from reflet.api.core.config import ConfigMap
from reflet.informer.handlers.changes import Change, Handler, is_asynchronous
from reflet.informer.handlers.registration import Registration
from reflet.informer.queues.delta_fifo import QueueClosed
from reflet.runtime.latch import Latch
from reflet.runtime.metrics import MemoryMetrics
from reflet.testing.virtual_time import VirtualClock
from tests.unit.store.config_maps import config_map

pytestmark = pytest.mark.virtual_time


def came(*names: str, initial: bool = False) -> list[Change[ConfigMap]]:
    return [Change("ADDED", config_map(name, "1"), initial=initial) for name in names]


class Heard:
    """A handler that remembers, and fails at what it is told to fail at."""

    def __init__(self, *, failing: Sequence[str] = ()) -> None:
        self.names: list[str] = []
        self.times: list[float] = []
        self.failing = failing

    def __call__(self, change: Change[ConfigMap]) -> None:
        self.times.append(asyncio.get_running_loop().time())
        name = change.object.metadata.name
        if name in self.failing:
            raise ValueError(f"cannot stand {name}")
        self.names.append(name)


def registration_of(handler: Handler[ConfigMap], **options: Any) -> Registration[ConfigMap]:
    settings = {"clock": VirtualClock(), "metrics": MemoryMetrics(), **options}
    return Registration(handler, name="test", **settings)


@asynccontextmanager
async def running(registration: Registration[ConfigMap]) -> AsyncIterator[None]:
    run = asyncio.create_task(registration.run())
    try:
        yield
    finally:
        registration.stop()
        run.cancel()
        await asyncio.wait((run,))


async def test_a_plain_function_is_told_in_order() -> None:
    heard = Heard()
    registration = registration_of(heard)

    async with running(registration):
        registration.tell(came("a", "b"))
        registration.tell(came("c"))
        await asyncio.sleep(1)

    assert heard.names == ["a", "b", "c"]


async def test_a_coroutine_function_is_awaited_one_call_after_the_other() -> None:
    ended: list[str] = []

    async def slow(change: Change[ConfigMap]) -> None:
        await asyncio.sleep(5 if change.object.metadata.name == "a" else 1)
        ended.append(change.object.metadata.name)

    registration = registration_of(slow)
    async with running(registration):
        registration.tell(came("a", "b"))
        await asyncio.sleep(6.5)

    assert ended == ["a", "b"]


async def test_a_function_that_makes_a_coroutine_is_awaited_too() -> None:
    heard: list[str] = []

    async def later(change: Change[ConfigMap]) -> None:
        await asyncio.sleep(1)
        heard.append(change.object.metadata.name)

    def makes_a_coroutine(change: Change[ConfigMap]) -> Awaitable[None]:
        return later(change)

    registration = registration_of(makes_a_coroutine)
    async with running(registration):
        registration.tell(came("a"))
        await asyncio.sleep(2)

    assert heard == ["a"]


async def test_what_a_plain_function_gives_back_is_ignored() -> None:
    registration = registration_of(lambda change: 5)  # type: ignore[arg-type,return-value]  # the point
    registration.tell_initial(came("a", initial=True))
    registration.initial_complete()

    async with running(registration):
        await registration.synced.wait()


async def test_a_failing_handler_is_reported_and_goes_on_after_a_second(
    caplog: pytest.LogCaptureFixture,
) -> None:
    heard = Heard(failing=["b"])
    metrics = MemoryMetrics()
    registration = registration_of(heard, metrics=metrics)

    with caplog.at_level(logging.ERROR):
        async with running(registration):
            registration.tell(came("a", "b", "c"))
            await asyncio.sleep(5)

    assert heard.names == ["a", "c"]
    assert heard.times == [0.0, 0.0, 1.0]
    assert metrics.counted("reflet_handler_failures_total", handler="test") == 1
    assert "handler test failed at ADDED shop/b: ValueError('cannot stand b')" in caplog.text


async def test_a_handler_is_synced_when_it_has_finished_with_the_initial_objects() -> None:
    registration = registration_of(Heard())
    registration.tell_initial(came("a", "b", initial=True))
    registration.initial_complete()
    before = registration.synced.is_set

    async with running(registration):
        await asyncio.sleep(1)

    assert (before, registration.synced.is_set) == (False, True)


async def test_a_handler_is_not_synced_while_more_initial_objects_may_come() -> None:
    registration = registration_of(Heard())
    async with running(registration):
        registration.tell_initial(came("a", initial=True))
        await asyncio.sleep(1)

        assert not registration.synced.is_set


async def test_a_handler_with_no_initial_objects_is_synced_at_once() -> None:
    registration = registration_of(Heard())

    registration.initial_complete()

    assert registration.synced.is_set


async def test_a_handler_that_fails_at_an_initial_object_is_never_synced() -> None:
    registration = registration_of(Heard(failing=["a"]))
    registration.tell_initial(came("a", "b", initial=True))
    registration.initial_complete()

    async with running(registration):
        await asyncio.sleep(60)

    assert not registration.synced.is_set


async def test_merged_initial_objects_still_make_it_synced() -> None:
    registration = registration_of(Heard(), backlog_limit=1)
    registration.tell_initial(came("a", "b", initial=True))
    a = config_map("a", "1")
    for _ in range(9):
        registration.tell([Change("UPDATED", a, a)])
    registration.initial_complete()

    async with running(registration):
        await asyncio.sleep(1)

    assert registration.merged > 0
    assert registration.synced.is_set


async def test_a_handler_that_stops_itself_hears_nothing_more() -> None:
    heard: list[str] = []

    def once(change: Change[ConfigMap]) -> None:
        heard.append(change.object.metadata.name)
        registration.stop()

    registration = registration_of(once)
    async with running(registration):
        registration.tell(came("a", "b"))
        await asyncio.sleep(1)

    assert heard == ["a"]


async def test_stopping_ends_the_run_without_cancelling_the_call_under_way() -> None:
    ended: list[str] = []

    async def slow(change: Change[ConfigMap]) -> None:
        registration.stop()
        await asyncio.sleep(1)
        ended.append(change.object.metadata.name)

    registration = registration_of(slow)
    registration.tell(came("a", "b"))

    await registration.run()

    assert ended == ["a"]


async def test_the_cancellation_of_something_else_is_a_failure_like_any_other() -> None:
    heard: list[str] = []

    async def awaits_the_cancelled(change: Change[ConfigMap]) -> None:
        heard.append(change.object.metadata.name)
        if change.object.metadata.name == "a":
            cancelled = asyncio.get_running_loop().create_future()
            cancelled.cancel()
            await cancelled

    registration = registration_of(awaits_the_cancelled)
    async with running(registration):
        registration.tell(came("a", "b"))
        await asyncio.sleep(5)

    assert heard == ["a", "b"]


async def test_with_an_executor_a_plain_function_runs_in_a_thread() -> None:
    threads: list[threading.Thread] = []

    def where(change: Change[ConfigMap]) -> None:
        threads.append(threading.current_thread())

    with ThreadPoolExecutor(1) as executor:
        registration = registration_of(where, executor=executor)
        registration.tell_initial(came("a", "b", initial=True))
        registration.initial_complete()
        async with running(registration):
            await registration.synced.wait()

    assert len(threads) == 2
    assert threading.current_thread() not in threads


async def test_with_an_executor_a_coroutine_function_stays_on_the_loop() -> None:
    threads: list[threading.Thread] = []

    async def where(change: Change[ConfigMap]) -> None:
        threads.append(threading.current_thread())

    with ThreadPoolExecutor(1) as executor:
        registration = registration_of(where, executor=executor)
        registration.tell(came("a"))
        async with running(registration):
            await asyncio.sleep(1)

    assert threads == [threading.current_thread()]


async def test_a_failure_in_a_thread_is_reported_and_the_next_change_follows() -> None:
    heard_b = Latch()

    def fails_at_a(change: Change[ConfigMap]) -> None:
        if change.object.metadata.name == "a":
            raise ValueError("no")
        heard_b.set()

    with ThreadPoolExecutor(1) as executor:
        metrics = MemoryMetrics()
        registration = registration_of(fails_at_a, executor=executor, metrics=metrics)
        registration.tell_initial(came("a", initial=True))
        registration.tell(came("b"))
        async with running(registration):
            await heard_b.wait()

    assert metrics.counted("reflet_handler_failures_total", handler="test") == 1


async def test_a_coroutine_made_in_a_thread_is_a_failure(caplog: pytest.LogCaptureFixture) -> None:
    called_twice = Latch()

    async def later(change: Change[ConfigMap]) -> None:
        raise AssertionError("nobody can await this")

    def makes_a_coroutine(change: Change[ConfigMap]) -> Awaitable[None]:
        if change.object.metadata.name == "b":
            called_twice.set()
        return later(change)

    with ThreadPoolExecutor(1) as executor:
        registration = registration_of(makes_a_coroutine, executor=executor)
        registration.tell(came("a", "b"))
        async with running(registration):
            await called_twice.wait()

    assert "must be a plain function" in caplog.text


async def test_cancelling_waits_for_the_call_in_a_thread_and_makes_no_other() -> None:
    heard: list[str] = []
    begun, go_on = Latch(), threading.Event()

    def waits(change: Change[ConfigMap]) -> None:
        begun.set()
        assert go_on.wait(30)
        heard.append(change.object.metadata.name)

    with ThreadPoolExecutor(1) as executor:
        registration = registration_of(waits, executor=executor)
        registration.tell(came("a", "b"))
        run = asyncio.create_task(registration.run())
        await begun.wait()
        run.cancel()
        asyncio.get_running_loop().call_later(0.01, go_on.set)
        await asyncio.wait((run,))
        heard_at_the_end = list(heard)

    assert heard == heard_at_the_end == ["a"]
    assert run.cancelled()


async def test_cancelling_again_waits_for_the_call_in_a_thread_all_the_same() -> None:
    begun, go_on = Latch(), threading.Event()
    ended: list[bool] = []

    def waits(change: Change[ConfigMap]) -> None:
        begun.set()
        ended.append(go_on.wait(30))

    with ThreadPoolExecutor(1) as executor:
        registration = registration_of(waits, executor=executor)
        registration.tell(came("a"))
        run = asyncio.create_task(registration.run())
        await begun.wait()
        for _ in range(3):
            run.cancel()
            await asyncio.sleep(0)
        asyncio.get_running_loop().call_later(0.01, go_on.set)
        await asyncio.wait((run,))
        ended_before_the_run_did = list(ended)
        go_on.set()

    assert ended_before_the_run_did == [True]
    assert run.cancelled()


async def test_the_pace_is_reported() -> None:
    metrics = MemoryMetrics()

    async def slow(change: Change[ConfigMap]) -> None:
        await asyncio.sleep(3)

    registration = registration_of(slow, metrics=metrics, backlog_limit=1)
    a = config_map("a", "1")
    registration.tell([Change("UPDATED", a, a)] * 1)
    registration.tell([Change("UPDATED", a, a)] * 4)
    async with running(registration):
        await asyncio.sleep(4)

    assert metrics.counted("reflet_handler_merged_total", handler="test") == 4
    assert metrics.level("reflet_handler_waiting", handler="test") == 0
    assert metrics.level("reflet_handler_behind_seconds", handler="test") == 3


async def test_who_reads_gets_what_waits_until_it_is_stopped() -> None:
    registration = registration_of(Heard())
    registration.tell(came("a"))

    read = await registration.next()
    registration.stop()

    assert read == came("a")
    with pytest.raises(QueueClosed):
        await registration.next()


class AsynchronousObject:
    async def __call__(self, change: Change[ConfigMap]) -> None:
        pass


async def function(change: Change[ConfigMap]) -> None:
    pass


@pytest.mark.parametrize("handler", [function, functools.partial(function), AsynchronousObject()])
def test_whatever_makes_a_coroutine_is_asynchronous(handler: Callable[..., Any]) -> None:
    assert is_asynchronous(handler)


@pytest.mark.parametrize("handler", [print, Heard(), lambda change: None])
def test_whatever_does_not_is_not(handler: Callable[..., Any]) -> None:
    assert not is_asynchronous(handler)


def test_a_registration_says_who_it_is() -> None:
    assert repr(registration_of(print)) == "<Registration test, 0 waiting>"
