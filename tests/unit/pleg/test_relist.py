from __future__ import annotations

import asyncio
import logging

import pytest

from reflet.pleg import relist
from reflet.pleg.compute_events import EventChannel, PodEvent
from reflet.pleg.runtime_status import RuntimePod, RuntimeSandbox, RuntimeStatus
from reflet.pleg.status_cache import StatusTooOld
from tests.pod_runtime import pod
from tests.unit.pleg.relist_scene import EXITED, LOGGER, RUNNING, Scene

# Rest


async def test_pods_at_rest_are_not_compared_one_by_one_and_the_cache_is_still_new(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scene = Scene()
    await scene.relist(RUNNING)
    compared: list[str] = []

    def note(uid: str, *_: object) -> tuple[PodEvent, ...]:
        compared.append(uid)
        return ()

    monkeypatch.setattr(relist, "container_events", note)
    await scene.relist(RUNNING)
    newer = await scene.cache.newer_than("p", scene.clock.monotonic() - 0.5)

    assert compared == []
    assert newer.status.uid == "p"


async def test_a_pod_at_rest_whose_status_was_not_had_is_inspected_again() -> None:
    scene = Scene()
    scene.runtime.failures["status p"] = OSError("busy")
    first = await scene.relist(RUNNING)
    scene.runtime.failures.clear()
    again = await scene.relist(RUNNING)

    assert (first, again) == ([], ["p ContainerStarted c"])


# What is told


async def test_a_sandbox_is_told_of_as_a_container() -> None:
    scene = Scene()

    told = await scene.relist(pod("p", {"c": "running"}, {"s": "running"}))

    assert told == ["p ContainerStarted c", "p ContainerStarted s"]


async def test_a_container_in_an_unknown_state_is_inspected_and_not_told_of() -> None:
    scene = Scene()

    told = await scene.relist(pod("p", {"c": "created"}))

    assert (told, scene.runtime.statuses_asked()) == ([], ["p"])


async def test_the_cache_has_the_status_before_the_event_is_told() -> None:
    scene = Scene()
    known: list[str] = []

    class NotingChannel(EventChannel):
        def put(self, event: PodEvent) -> bool:
            known.append(scene.cache.get(event.uid).status.name)
            return super().put(event)

    scene.pleg.events = NotingChannel(10)

    await scene.relist(RUNNING)

    assert known == ["name of p"]


async def test_what_does_not_fit_into_the_channel_is_logged_and_counted(
    caplog: pytest.LogCaptureFixture,
) -> None:
    scene = Scene()

    told = await scene.relist(pod("p", {str(number): "running" for number in range(13)}))

    assert (len(told), scene.pleg.events.dropped) == (10, 3)
    assert scene.metrics.counted("reflet_pleg_discarded_events_total") == 3
    assert "the event channel is full: 3 of pod p dropped" in caplog.text


# What the cache gets


async def test_a_status_is_as_new_as_the_list_it_followed() -> None:
    scene = Scene()
    await scene.relist(RUNNING)

    found = await scene.cache.newer_than("p", 0.999, timeout=0)

    assert found.status.name == "name of p"
    with pytest.raises(StatusTooOld):
        await scene.cache.newer_than("p", 1, timeout=0)


async def test_a_relist_makes_everything_new_though_nothing_happened() -> None:
    scene = Scene()
    await scene.relist(RUNNING)
    await scene.relist(RUNNING)

    assert (await scene.cache.newer_than("p", 1, timeout=0)).status.name == "name of p"
    assert (await scene.cache.newer_than("other", 1, timeout=0)).status == RuntimeStatus(
        uid="other"
    )


async def test_the_addresses_of_a_pod_that_ended_are_kept() -> None:
    scene = Scene()
    scene.runtime.ips["p"] = ("10.0.0.1",)
    await scene.relist(RUNNING)
    del scene.runtime.ips["p"]

    await scene.relist(EXITED)

    assert scene.cache.get("p").status.ips == ("10.0.0.1",)


async def test_a_ready_sandbox_without_addresses_has_none() -> None:
    scene = Scene()
    scene.runtime.ips["p"] = ("10.0.0.1",)
    await scene.relist(RUNNING)
    del scene.runtime.ips["p"]
    scene.runtime.sandboxes["p"] = (RuntimeSandbox(id="old"), RuntimeSandbox(id="s", ready=True))

    await scene.relist(EXITED)

    assert scene.cache.get("p").status.ips == ()


async def test_a_failed_look_in_between_does_not_lose_the_addresses() -> None:
    scene = Scene()
    scene.runtime.ips["p"] = ("10.0.0.1",)
    await scene.relist(RUNNING)
    del scene.runtime.ips["p"]
    scene.runtime.failures["status p"] = OSError("busy")
    await scene.relist(EXITED)
    scene.runtime.failures.clear()

    await scene.relist(EXITED)

    assert scene.cache.get("p").status.ips == ("10.0.0.1",)


async def test_a_pod_that_leaves_without_containers_leaves_nothing_behind() -> None:
    scene = Scene()
    await scene.relist(EXITED)
    await scene.relist(pod("p"))

    told = await scene.relist()

    assert told == []
    assert scene.cache.get("p").status == RuntimeStatus(uid="p")
    assert scene.pleg._told == {}


async def test_a_status_that_came_too_late_for_the_cache_is_told_next_time() -> None:
    scene = Scene(ignore_older=True)
    scene.cache.set("p", RuntimeStatus(uid="p", name="newer"), None, 1.5)

    assert await scene.relist(RUNNING) == []
    assert scene.cache.get("p").status.name == "newer"
    assert await scene.relist(RUNNING) == ["p ContainerStarted c"]


# Failures


async def test_a_failed_list_changes_nothing(caplog: pytest.LogCaptureFixture) -> None:
    scene = Scene()
    await scene.relist(RUNNING)
    scene.runtime.failures["list"] = OSError("runtime down")

    told = await scene.relist()

    assert told == []
    with pytest.raises(StatusTooOld):
        await scene.cache.newer_than("p", 1, timeout=0)
    assert scene.metrics.counted("reflet_pleg_runtime_failures_total", what="list") == 1
    assert "the runtime's pods could not be listed: runtime down" in caplog.text


async def test_a_list_that_goes_on_failing_is_logged_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    scene = Scene()
    caplog.set_level(logging.INFO, LOGGER)
    scene.runtime.failures["list"] = OSError("runtime down")
    await scene.relist()
    await scene.relist()
    scene.runtime.failures.clear()
    await scene.relist()
    scene.runtime.failures["list"] = OSError("down again")
    await scene.relist()

    assert [record.getMessage().rpartition(": ")[2] for record in caplog.records] == [
        "runtime down",
        "down again",
    ]


async def test_a_pod_whose_status_fails_does_not_hold_up_the_others() -> None:
    scene = Scene()
    scene.runtime.failures["status p"] = OSError("busy")

    told = await scene.relist(RUNNING, pod("q", {"d": "running"}))

    assert told == ["q ContainerStarted d"]
    assert (await scene.cache.newer_than("p", 0.5, timeout=0)).error is not None


async def test_a_failed_status_leaves_what_is_known_beside_the_error() -> None:
    scene = Scene()
    failure = scene.runtime.failures["status p"] = OSError("busy")

    await scene.relist(RUNNING)

    found = scene.cache.get("p")
    assert found.error is failure
    assert found.status == RuntimeStatus(uid="p", name="name of p", namespace="shop")


async def test_a_pod_that_is_gone_before_its_status_came_is_told_of() -> None:
    scene = Scene()
    scene.runtime.failures["status p"] = OSError("busy")
    await scene.relist(RUNNING)

    told = await scene.relist()

    assert told == ["p PodSync"]
    assert scene.cache.get("p").error is None


async def test_a_relist_cancelled_while_it_fetches_is_made_good_by_the_next() -> None:
    scene = Scene()
    await scene.relist(RUNNING)
    scene.pleg.request_reinspection("p")
    scene.runtime.failures["status p"] = asyncio.CancelledError()  # type: ignore[assignment]  # raised all the same

    with pytest.raises(asyncio.CancelledError):
        await scene.relist(RUNNING)

    scene.runtime.failures.clear()
    assert await scene.relist(RUNNING) == ["p PodSync"]


# Reinspection


async def test_a_reinspection_that_finds_events_tells_those() -> None:
    scene = Scene()
    await scene.relist(RUNNING)
    scene.pleg.request_reinspection("p")

    assert await scene.relist(EXITED) == ["p ContainerDied c"]
    assert await scene.relist(EXITED) == []


async def test_a_reinspection_requested_while_one_is_under_way_is_another() -> None:
    scene = Scene()
    await scene.relist(RUNNING)
    scene.pleg.request_reinspection("p")
    pod_status = scene.runtime.pod_status

    async def asked_again_meanwhile(listed: RuntimePod, /) -> RuntimeStatus:
        scene.pleg.request_reinspection("p")
        scene.runtime.pod_status = pod_status  # type: ignore[method-assign]  # only once
        return await pod_status(listed)

    scene.runtime.pod_status = asked_again_meanwhile  # type: ignore[method-assign]  # a busy moment

    told = [await scene.relist(RUNNING) for _ in range(3)]

    assert told == [["p PodSync"], ["p PodSync"], []]


async def test_a_reinspection_of_a_pod_that_is_not_there_is_forgotten() -> None:
    scene = Scene()
    scene.pleg.request_reinspection("never seen")

    assert await scene.relist() == []
    assert scene.pleg._to_reinspect == set()


# One pod


async def test_a_look_at_one_pod_tells_and_makes_only_that_one_new() -> None:
    scene = Scene()
    await scene.relist(RUNNING, pod("q", {"d": "running"}))

    told = await scene.relist_pod(EXITED, pod("q", {"d": "exited"}))

    assert told == ["p ContainerDied c"]
    await scene.cache.newer_than("p", 1, timeout=0)
    with pytest.raises(StatusTooOld):
        await scene.cache.newer_than("q", 1, timeout=0)


async def test_a_look_that_finds_nothing_new_is_new_all_the_same() -> None:
    scene = Scene()
    await scene.relist(RUNNING)
    scene.runtime.asked.clear()

    assert await scene.relist_pod(RUNNING) == []

    assert scene.runtime.asked == ["find p"]
    assert (await scene.cache.newer_than("p", 1, timeout=0)).status.name == "name of p"


async def test_a_pod_first_seen_alone_is_known_to_the_next_relist() -> None:
    scene = Scene()

    assert await scene.relist_pod(RUNNING) == ["p ContainerStarted c"]
    assert await scene.relist(RUNNING) == []


async def test_a_pod_that_cannot_be_found_is_left_to_the_next_relist() -> None:
    scene = Scene()
    await scene.relist(RUNNING)

    assert await scene.relist_pod() == []
    assert scene.cache.get("p").status.name == "name of p"
    assert await scene.relist() == ["p ContainerDied c", "p ContainerRemoved c"]


async def test_a_look_that_fails_is_logged_and_changes_nothing(
    caplog: pytest.LogCaptureFixture,
) -> None:
    scene = Scene()
    await scene.relist(RUNNING)
    scene.runtime.failures["find p"] = OSError("busy")

    assert await scene.relist_pod(EXITED) == []

    with pytest.raises(StatusTooOld):
        await scene.cache.newer_than("p", 1, timeout=0)
    assert "pod p could not be looked at: busy" in caplog.text
    assert scene.metrics.counted("reflet_pleg_runtime_failures_total", what="pod") == 1


async def test_a_look_does_not_make_it_healthy() -> None:
    scene = Scene()

    await scene.relist_pod(RUNNING)

    assert scene.pleg.why_unhealthy() == "pleg has yet to be successful"


async def test_more_requests_than_may_wait_are_refused(caplog: pytest.LogCaptureFixture) -> None:
    scene = Scene()

    accepted = [scene.pleg.request_relist(uid) for uid in ("a", "b", "a", "c")]

    assert accepted == [True, True, True, False]
    assert scene.metrics.counted("reflet_pleg_discarded_requests_total") == 1
    assert "pod c is not looked at now: 2 others wait" in caplog.text


# Health


async def test_health_is_counted_from_the_beginning_of_the_last_successful_relist() -> None:
    scene = Scene()
    await scene.relist()
    scene.clock.advance(180)
    scene.runtime.failures["list"] = OSError("runtime down")
    at_the_threshold = scene.pleg.healthy()

    await scene.relist()

    assert at_the_threshold
    assert not scene.pleg.healthy()
    assert scene.pleg.why_unhealthy() == "pleg was last seen active 3m1s ago; threshold is 3m0s"
