"""One ear for many pods."""

from __future__ import annotations

import asyncio
from functools import partial

import pytest

from reflet.api.core.services import Service
from reflet.api.resources import SERVICES
from reflet.informer.mirror import Mirror
from reflet.managers.registry import PodKey
from reflet.podconfig.pod_wakeups import PodWakeups
from reflet.testing.scripted_source import After, ScriptedSource, added, listing
from reflet.testing.virtual_time import VirtualClock
from tests.unit.podconfig.scenes import served, web_pod
from tests.unit.resolution.scenes import pod_with, service

pytestmark = pytest.mark.virtual_time

A_MOMENT = 0.001


async def test_only_pods_that_refer_to_what_changed_are_woken() -> None:
    woken: list[str] = []
    web, idle = web_pod(), pod_with(metadata={"uid": "u-2", "name": "idle"})
    async with served() as scene, PodWakeups(scene.config_maps, scene.secrets) as wakeups:
        for name, pod in (("web", web), ("idle", idle)):
            scene.config_maps.register_pod(pod)
            scene.secrets.register_pod(pod)
            wakeups.follow(PodKey.of(pod), partial(woken.append, name))
        await asyncio.sleep(A_MOMENT)
        woken.clear()
        scene.secret_server.put("shop", "password", text="new")
        await asyncio.sleep(A_MOMENT)

    assert woken == ["web"]


async def test_who_no_longer_follows_is_not_woken() -> None:
    woken: list[str] = []
    pod = web_pod()

    def wake() -> None:
        woken.append("web")

    async with served() as scene, PodWakeups(scene.config_maps, scene.secrets) as wakeups:
        scene.config_maps.register_pod(pod)
        wakeups.follow(PodKey.of(pod), wake)
        wakeups.unfollow(PodKey.of(pod), wake)
        wakeups.unfollow(PodKey.of(pod), wake)
        await asyncio.sleep(A_MOMENT)

    assert woken == []


@pytest.mark.parametrize("strategy", ["get", "cache"])
async def test_where_nobody_tells_everybody_looks_again_now_and_then(strategy: str) -> None:
    woken: list[float] = []
    pod, clock = web_pod(), VirtualClock()
    async with (
        served(strategy=strategy) as scene,
        PodWakeups(scene.config_maps, scene.secrets, poll_every=30, clock=clock) as wakeups,
    ):
        wakeups.follow(PodKey.of(pod), lambda: woken.append(clock.monotonic()))
        await asyncio.sleep(65)

    assert woken == [30, 60]


async def test_services_wake_everybody() -> None:
    woken: list[float] = []
    clock = VirtualClock()
    source: ScriptedSource[Service] = ScriptedSource(
        lists=[listing("5")], watches=[[After(10), added(service("shop", "db", "10.0.0.1"))]]
    )
    async with (
        served() as scene,
        Mirror(source, SERVICES, streaming=False) as services,
        PodWakeups(scene.config_maps, scene.secrets, services=services) as wakeups,
    ):
        wakeups.follow(PodKey.of(web_pod()), lambda: woken.append(round(clock.monotonic())))
        await asyncio.sleep(15)

    assert woken == [0, 10]
