"""Informers on scripted sources, and a handler that notes what it is told."""

from __future__ import annotations

import asyncio
from typing import Any

from reflet.api.core.config import ConfigMap
from reflet.errors import Expired
from reflet.informer.handlers.changes import Change
from reflet.informer.shared_informer import (
    SharedInformer,
)
from reflet.testing.scripted_source import (
    ScriptedSource,
)
from reflet.testing.virtual_time import VirtualClock
from tests.unit.store.config_maps import config_map

A1, A2, A3 = (config_map("a", version) for version in "123")
B1, B2, C1 = config_map("b", "1"), config_map("b", "2"), config_map("c", "1")
GONE = Expired("too old", code=410, reason="Expired")


def informer_of(source: ScriptedSource[ConfigMap], **options: Any) -> SharedInformer[ConfigMap]:
    settings = {"clock": VirtualClock(), "streaming": False, "on_error": lambda error: None}
    return SharedInformer(source, name="configmaps", **{**settings, **options})


def idle(**options: Any) -> SharedInformer[ConfigMap]:
    """An informer whose deltas the test applies itself."""
    return informer_of(ScriptedSource(), **options)


class Heard:
    def __init__(self) -> None:
        self.changes: list[Change[ConfigMap]] = []

    def __call__(self, change: Change[ConfigMap]) -> None:
        self.changes.append(change)

    @property
    def told(self) -> list[tuple[str, str, str]]:
        return [
            (change.type, change.object.metadata.name, change.object.metadata.resource_version)
            for change in self.changes
        ]


async def settled() -> None:
    """Let everybody deliver what waits."""
    await asyncio.sleep(0.001)
