"""Watches that tests read to their end, whatever that is."""

from __future__ import annotations

from typing import Any

from reflet.api.options import WatchOptions
from reflet.client.resource_client import ResourceClient


async def drained(client: ResourceClient[Any], options: WatchOptions) -> None:
    async with client.watch(options) as watch:
        async for _ in watch:
            pass
