"""A namespace on two API servers, its streams, and the entries that they keep fresh."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from reflet.api.core.config import ConfigMap
from reflet.managers.object_entry import EntryEvent, ObjectEntry
from reflet.managers.watches.namespace_streams import NamespaceStreams
from reflet.managers.watches.object_watch import StreamSettings
from reflet.managers.watches.stream_plan import StreamLimits
from reflet.runtime.tasks import TaskOwner
from reflet.testing.virtual_time import VirtualClock
from tests.served_objects import Place, ServedObjects

A_MOMENT = 0.001
WHOLE: Place = ("shop", None)
LIMITS = StreamLimits(
    namespace_from=3, namespace_until=2, most_objects=50, loading_timeout=2.0, refused_for=60.0
)


class Scene:
    """The streams of the namespace ``shop``, and entries by name."""

    def __init__(self, server: ServedObjects, tasks: TaskOwner) -> None:
        clock = VirtualClock()
        settings = StreamSettings(server=server, kind=ConfigMap, word="configmap", clock=clock)
        self.server = server
        self.entries: dict[str, ObjectEntry[ConfigMap]] = {}
        self.versions: list[str] = []
        self.emptied: list[Any] = []
        self.streams = NamespaceStreams(
            settings,
            "shop",
            limits=LIMITS,
            clock=clock,
            tasks=tasks,
            emptied=self.emptied.append,
        )

    def need(self, *names: str) -> None:
        for name in names:
            entry = self.entries.get(name)
            if entry is None:
                entry = self.entries[name] = ObjectEntry(
                    "shop", name, now=0.0, changed=lambda it: self.versions.append(it.version)
                )
            entry.happened(EntryEvent.NEEDED)
            self.streams.start(entry)

    def idle(self, *names: str) -> None:
        """Nobody has read these for long."""
        for name in names:
            self.entries[name].happened(EntryEvent.UNREAD_FOR_LONG)
            self.streams.idle(self.entries[name])

    def release(self, *names: str) -> None:
        for name in names:
            self.streams.release(self.entries.pop(name))

    def version(self, name: str) -> str | None:
        """The version that is shown, None for "not found", empty while nothing is known."""
        entry = self.entries[name]
        if not entry.synced:
            return ""
        return None if entry.object is None else entry.object.metadata.resource_version

    @property
    def open(self) -> list[str]:
        return sorted(name or "*" for _, name in self.server.streams)


@asynccontextmanager
async def scene(*names: str, streaming: bool = True, opaque: bool = False) -> AsyncIterator[Scene]:
    """Two API servers that have the objects *names*, from version 101 on."""
    server = ServedObjects(streaming=streaming, replicas=2)
    server.opaque = opaque
    for name in names:
        server.put("shop", name)
    async with TaskOwner("test") as tasks:
        stage = Scene(server, tasks)
        yield stage
        stage.streams.close()


async def moment() -> None:
    await asyncio.sleep(A_MOMENT)
