from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any, Self

import pytest

from reflet.api.resources import CONFIG_MAPS
from reflet.play.actions import Plan
from reflet.play.running_play import RunningPlay
from reflet.runtime.clock import SystemClock


class PaperMirror:
    """A mirror that no controller can follow."""

    def __init__(self) -> None:
        self.is_left = False
        self.asynchronous = self
        self.informer = SimpleNamespace(store=None)

    def add_handler(self, *_: object, name: str) -> None:
        if name.endswith("queue"):
            raise ZeroDivisionError

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.is_left = True


async def nothing(_: str) -> Plan:
    return Plan()


async def failing_play(mirror: PaperMirror) -> None:
    cluster: Any = SimpleNamespace(mirror=lambda *_, **__: mirror)
    async with RunningPlay(cluster, SystemClock()) as play:
        await play.controller(CONFIG_MAPS, nothing)
        await asyncio.sleep(0)


async def test_no_mirror_outlives_a_controller_that_has_failed() -> None:
    mirror = PaperMirror()

    with pytest.raises(BaseExceptionGroup):
        await failing_play(mirror)

    assert mirror.is_left
