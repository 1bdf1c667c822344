"""More pods, or events, at once than may wait."""

from __future__ import annotations

import asyncio

import pytest

from reflet.pleg.evented import EventedPleg
from reflet.pleg.status_cache import StatusCache
from tests.pod_runtime import pod
from tests.unit.pleg.evented_scene import FakeEventedRuntime, Scene

pytestmark = pytest.mark.virtual_time

UIDS = [f"p{number}" for number in range(10)]


async def test_what_happens_to_more_pods_than_may_wait_is_told_soon() -> None:
    runtime = FakeEventedRuntime(*(pod(each, {"c": "running"}) for each in UIDS))
    async with EventedPleg(runtime, StatusCache(), request_capacity=2) as pleg:
        await asyncio.sleep(10)
        pleg.events.take_all()
        runtime.show(*(pod(each, {"c": "exited"}) for each in UIDS))
        for each in UIDS:
            runtime.notify(each)
        await asyncio.sleep(5)

        assert [each.uid for each in pleg.events.take_all()] == UIDS


async def test_it_is_unhealthy_when_nobody_takes_the_events() -> None:
    scene = Scene(pod("p", {str(number): "running" for number in range(5)}), event_capacity=5)
    async with scene.pleg:
        await scene.settle()
        assert scene.pleg.why_unhealthy() == (
            "EventedPLEG: pleg event channel capacity is full with 5 events"
        )
        scene.told()

        assert scene.pleg.healthy()
