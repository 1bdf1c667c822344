"""Mirrors with a script, and controllers that run for the length of a block."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from reflet.api.core.config import ConfigMap
from reflet.api.resources import CONFIG_MAPS
from reflet.controllers.reconciler import Controller
from reflet.informer.mirror import Mirror
from reflet.testing.scripted_source import Quiet, ScriptedSource, listing
from reflet.testing.virtual_time import VirtualClock
from tests.unit.store.config_maps import config_map

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
