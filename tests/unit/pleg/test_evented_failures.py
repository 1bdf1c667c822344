"""A runtime that sends events and does not answer: what it could not tell is asked for again."""

from __future__ import annotations

import asyncio

import pytest

from reflet.errors import RpcUnavailable
from tests.unit.pleg.evented_scene import EXITED, RUNNING, Scene

pytestmark = pytest.mark.virtual_time


async def test_a_relist_that_fails_is_made_again_within_a_second() -> None:
    scene = Scene(RUNNING)
    scene.runtime.failures["list"] = RpcUnavailable("Unavailable", "starting")
    async with scene.pleg:
        await asyncio.sleep(5)
        scene.runtime.failures.clear()
        await asyncio.sleep(1.1)

        assert scene.pleg.healthy()
        assert scene.pleg.is_streaming


async def test_a_relist_that_fails_as_the_stream_begins_anew_is_made_again_within_a_second() -> (
    None
):
    scene = Scene(RUNNING)
    async with scene.pleg:
        await asyncio.sleep(30)
        scene.told()
        scene.runtime.failures["list"] = RpcUnavailable("Unavailable", "starting")
        scene.runtime.show(EXITED)
        scene.runtime.fail()
        await asyncio.sleep(2)
        scene.runtime.failures.clear()
        await asyncio.sleep(1.1)

        assert scene.told() == ["ContainerDied c"]


async def test_a_status_that_cannot_be_fetched_is_asked_for_again_until_it_can() -> None:
    scene = Scene(RUNNING)
    async with scene.pleg:
        await asyncio.sleep(30)
        scene.told()
        scene.runtime.failures["status p"] = RpcUnavailable("Unavailable", "busy")
        scene.runtime.show(EXITED)
        scene.runtime.notify()
        await asyncio.sleep(5)
        scene.runtime.failures.clear()
        await asyncio.sleep(1.1)

        assert scene.told() == ["ContainerDied c"]


async def test_a_pod_that_cannot_be_found_now_is_listed_instead() -> None:
    scene = Scene(RUNNING)
    async with scene.pleg:
        await asyncio.sleep(30)
        scene.told()
        scene.runtime.failures["find p"] = RpcUnavailable("Unavailable", "busy")
        scene.runtime.show(EXITED)
        scene.runtime.notify()
        await asyncio.sleep(0.5)

        assert scene.told() == ["ContainerDied c"]


async def test_a_runtime_that_fails_for_every_event_is_not_listed_for_each() -> None:
    scene = Scene(RUNNING)
    async with scene.pleg:
        await asyncio.sleep(30)
        scene.runtime.failures["find p"] = RpcUnavailable("Unavailable", "busy")
        before = scene.relists()
        for _ in range(100):
            scene.runtime.notify()
            await asyncio.sleep(0.05)

        assert 1 <= scene.relists() - before <= 6
