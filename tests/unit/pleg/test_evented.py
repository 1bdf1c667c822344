from __future__ import annotations

import asyncio
import logging
import threading

import pytest

from reflet.errors import RpcUnavailable, RpcUnimplemented
from reflet.pleg.runtime_status import EventedRuntime
from reflet.pleg.status_cache import Inspection
from tests.unit.pleg.evented_scene import EXITED, RUNNING, FakeEventedRuntime, Scene


async def test_a_runtime_with_events_fits_by_its_shape_alone() -> None:
    runtime: EventedRuntime = FakeEventedRuntime(RUNNING)

    assert await runtime.find_pod("p") == RUNNING


@pytest.mark.virtual_time
async def test_an_event_has_the_pod_looked_at_and_told() -> None:
    scene = Scene(RUNNING)
    async with scene.pleg:
        await scene.settle()
        scene.told()
        scene.runtime.asked.clear()
        scene.runtime.show(EXITED)
        scene.runtime.notify()
        await scene.settle()

        assert scene.told() == ["ContainerDied c"]
        assert scene.runtime.asked == ["find p", "status p"]


@pytest.mark.virtual_time
async def test_an_event_that_is_repeated_tells_nothing_twice() -> None:
    scene = Scene(RUNNING)
    async with scene.pleg:
        await scene.settle()
        scene.told()
        scene.runtime.show(EXITED)
        for _ in range(50):
            scene.runtime.notify()
        await scene.settle()
        await asyncio.sleep(5)

        assert scene.told() == ["ContainerDied c"]
        assert scene.runtime.asked.count("find p") < 60


@pytest.mark.virtual_time
async def test_an_event_that_comes_late_does_not_bring_back_what_was() -> None:
    scene = Scene(EXITED)
    async with scene.pleg:
        await scene.settle()
        scene.told()
        scene.runtime.notify()  # that it started, before it exited
        await asyncio.sleep(5)

        assert scene.told() == []


@pytest.mark.virtual_time
async def test_what_is_not_visible_with_its_event_is_seen_a_second_later() -> None:
    scene = Scene(RUNNING)
    async with scene.pleg:
        await scene.settle()
        scene.told()
        scene.runtime.notify()
        await scene.settle()
        scene.runtime.show()  # only now it is deleted
        await asyncio.sleep(1.1)

        assert sorted(scene.told()) == [
            "ContainerDied c",
            "ContainerDied s",
            "ContainerRemoved c",
            "ContainerRemoved s",
        ]
        assert scene.cache.get("p").status.sandboxes == ()


@pytest.mark.virtual_time
async def test_an_event_that_does_not_say_whose_is_placed_by_the_container() -> None:
    scene = Scene(RUNNING)
    async with scene.pleg:
        await scene.settle()
        scene.told()
        scene.runtime.show(EXITED)
        scene.runtime.notify(uid="")
        scene.runtime.notify(uid="", container="never seen")
        await scene.settle()

        assert scene.told() == ["ContainerDied c"]


@pytest.mark.virtual_time
async def test_with_events_the_runtime_is_relisted_every_five_minutes() -> None:
    scene = Scene(RUNNING)
    async with scene.pleg:
        await asyncio.sleep(1)
        before = scene.relists()
        await asyncio.sleep(900)

        assert scene.relists() - before == 3
        assert scene.pleg.is_streaming


@pytest.mark.virtual_time
async def test_a_lost_event_is_made_up_for_by_the_next_relist() -> None:
    scene = Scene(RUNNING)
    async with scene.pleg:
        await asyncio.sleep(1)
        scene.told()
        scene.runtime.show(EXITED)
        await asyncio.sleep(300)

        assert scene.told() == ["ContainerDied c"]


@pytest.mark.virtual_time
async def test_a_runtime_without_events_is_relisted_every_second(
    caplog: pytest.LogCaptureFixture,
) -> None:
    scene = Scene(RUNNING)
    scene.runtime.refusal = RpcUnimplemented("Unimplemented", "unknown method GetContainerEvents")
    async with scene.pleg:
        await asyncio.sleep(100.5)

        assert not scene.pleg.is_streaming
        assert 95 <= scene.relists() <= 105
        assert scene.runtime.opened < 15
    (warning,) = [each.message for each in caplog.records if each.levelno == logging.WARNING]
    assert warning == (
        "Fall back to Generic PLEG relisting since Evented PLEG is not working: "
        "rpc error: code = Unimplemented desc = unknown method GetContainerEvents"
    )


@pytest.mark.virtual_time
async def test_a_stream_that_fails_five_times_gives_way_to_relists() -> None:
    scene = Scene(RUNNING)
    async with scene.pleg:
        for failures in range(1, 6):
            scene.runtime.fail()
            await scene.settle()
            assert scene.pleg.is_streaming == (failures < 5)
            await asyncio.sleep(10)


@pytest.mark.virtual_time
async def test_a_stream_that_brings_events_has_not_failed_before() -> None:
    scene = Scene(RUNNING)
    async with scene.pleg:
        for _ in range(20):
            scene.runtime.notify()
            scene.runtime.fail()
            await asyncio.sleep(60)

        assert scene.pleg.is_streaming


@pytest.mark.virtual_time
async def test_events_that_come_again_end_the_relists_of_every_second() -> None:
    scene = Scene(RUNNING)
    scene.runtime.refusal = RpcUnavailable("Unavailable", "no such file")
    async with scene.pleg:
        await asyncio.sleep(60)
        paces = [scene.pleg.is_streaming]
        scene.runtime.refusal = None
        await asyncio.sleep(31)
        scene.runtime.notify()
        await scene.settle()
        before = scene.relists()
        await asyncio.sleep(200)
        paces.append(scene.pleg.is_streaming)

        assert paces == [False, True]
        assert scene.relists() - before <= 1


@pytest.mark.virtual_time
async def test_a_stream_that_begins_anew_begins_with_a_relist() -> None:
    scene = Scene(RUNNING)
    async with scene.pleg:
        await scene.settle()
        scene.told()
        scene.runtime.show(EXITED)
        scene.runtime.fail()
        await asyncio.sleep(0.2)

        assert scene.told() == ["ContainerDied c"]
        assert scene.runtime.opened == 2


@pytest.mark.virtual_time
async def test_a_runtime_that_is_away_is_not_asked_in_a_hot_loop() -> None:
    scene = Scene(RUNNING)
    scene.runtime.refusal = RpcUnavailable("Unavailable", "no such file")
    scene.runtime.failures["list"] = scene.runtime.refusal
    async with scene.pleg:
        await asyncio.sleep(600)

        assert scene.runtime.opened < 40
        assert scene.relists() < 620
        assert scene.pleg.why_unhealthy() == "pleg has yet to be successful"


@pytest.mark.virtual_time
async def test_who_waits_for_a_pod_has_it_looked_at_at_once() -> None:
    scene = Scene(RUNNING)
    loop = asyncio.get_running_loop()
    async with scene.pleg:
        await asyncio.sleep(30)
        asked = loop.time()
        await scene.cache.newer_than("p", asked)

        assert loop.time() == asked


@pytest.mark.virtual_time
async def test_who_waits_for_a_pod_that_is_not_there_hears_that() -> None:
    scene = Scene()
    loop = asyncio.get_running_loop()
    async with scene.pleg:
        await asyncio.sleep(30)
        asked = loop.time()
        inspection = await scene.cache.newer_than("other", asked)

        assert loop.time() == asked
        assert inspection.status.uid == "other"
        assert inspection.status.sandboxes == ()


@pytest.mark.virtual_time
async def test_who_waits_while_the_runtime_fails_has_it_asked_again() -> None:
    scene = Scene(RUNNING)
    loop = asyncio.get_running_loop()
    async with scene.pleg:
        await asyncio.sleep(30)
        for question in ("find p", "list"):
            scene.runtime.failures[question] = RpcUnavailable("Unavailable", "gone")
        asked = loop.time()
        waiting = asyncio.create_task(scene.cache.newer_than("p", asked))
        await asyncio.sleep(7)
        assert not waiting.done()
        scene.runtime.failures.clear()
        await waiting

        assert loop.time() - asked <= 10


async def test_a_thread_that_waits_has_the_pod_looked_at_too() -> None:
    scene = Scene(RUNNING)
    loop = asyncio.get_running_loop()
    async with scene.pleg:
        await scene.settle()
        asked = loop.time()
        answered: asyncio.Future[Inspection] = loop.create_future()

        def wait() -> None:
            inspection = scene.cache.newer_than_blocking("p", asked)
            loop.call_soon_threadsafe(answered.set_result, inspection)

        thread = threading.Thread(target=wait)
        thread.start()
        inspection = await answered
        thread.join()

    assert inspection.status.uid == "p"


@pytest.mark.virtual_time
async def test_it_is_unhealthy_after_ten_minutes_without_a_relist() -> None:
    scene = Scene(RUNNING)
    async with scene.pleg:
        await asyncio.sleep(299)
        scene.runtime.failures["list"] = RpcUnavailable("Unavailable", "gone")
        await asyncio.sleep(300)
        assert scene.pleg.healthy()
        await asyncio.sleep(300)

        assert scene.pleg.why_unhealthy() == (
            "pleg was last seen active 14m59s ago; threshold is 10m0s"
        )


@pytest.mark.virtual_time
async def test_streams_and_events_are_counted() -> None:
    scene = Scene(RUNNING)
    async with scene.pleg:
        await scene.settle()
        scene.runtime.notify()
        scene.runtime.fail()
        await asyncio.sleep(1)

    assert scene.metrics.counted("reflet_pleg_event_streams_total") == 2
    assert scene.metrics.counted("reflet_pleg_event_stream_failures_total") == 1


async def test_afterwards_waiting_is_nobodys_business() -> None:
    scene = Scene(RUNNING)
    async with scene.pleg:
        pass
    scene.runtime.asked.clear()
    scene.cache.on_wait("p")
    await scene.settle()

    assert scene.runtime.asked == []
