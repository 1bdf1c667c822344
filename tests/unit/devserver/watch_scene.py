"""What tests of watches need: objects, and a client that reads as fast or as slowly as told."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final

import msgspec

from reflet.devserver.storage.stored import JsonObject, Key
from reflet.devserver.watches.event_lines import WatchRequest
from reflet.devserver.watches.watch_feed import WatchEnding, WatchFeed
from reflet.devserver.watches.watchers import Watchers

BLANK: Final[Mapping[str, Any]] = {"kind": "ConfigMap", "apiVersion": "v1"}


def key(name: str, namespace: str = "shop", resource: str = "configmaps") -> Key:
    return Key(resource, namespace, name)


def config_map(
    name: str, value: str = "", *, namespace: str = "shop", labels: Mapping[str, str] | None = None
) -> JsonObject:
    metadata: JsonObject = {"name": name, "namespace": namespace}
    if labels:
        metadata["labels"] = dict(labels)
    return {"kind": "ConfigMap", "apiVersion": "v1", "metadata": metadata, "data": {"v": value}}


def labelled(**labels: str) -> Any:
    """Make the predicate of a label selector."""

    def matches(content: JsonObject) -> bool:
        found = content["metadata"].get("labels", {})
        return all(found.get(name) == value for name, value in labels.items())

    return matches


def request(**options: Any) -> WatchRequest:
    return WatchRequest(resource="configmaps", blank=BLANK, **options)


class Reader:
    """A client at the end of a watch; ``stuck`` makes it read nothing until ``read_on``."""

    def __init__(self, *, stuck: bool = False) -> None:
        self.writes: list[bytes] = []
        self.ending: WatchEnding | None = None
        self._room = asyncio.Event()
        if not stuck:
            self._room.set()

    def write(self, content: bytes) -> bool:
        self.writes.append(content)
        return self._room.is_set()

    async def drain(self) -> None:
        await self._room.wait()

    def read_on(self) -> None:
        self._room.set()

    @property
    def events(self) -> list[JsonObject]:
        return [msgspec.json.decode(line) for line in b"".join(self.writes).splitlines()]

    @property
    def seen(self) -> list[str]:
        """The events in short: ``ADDED settings@5``."""
        return [
            f"{event['type']} {event['object']['metadata'].get('name', '')}"
            f"@{event['object']['metadata'].get('resourceVersion', '')}"
            for event in self.events
        ]


async def settle() -> None:
    """Let everything happen that needs no time to pass."""
    for _ in range(10):
        await asyncio.sleep(0)


@asynccontextmanager
async def reading(
    watchers: Watchers, asked: WatchRequest, *, stuck: bool = False
) -> AsyncIterator[Reader]:
    """Run a watch for the length of the block, and let it catch up first."""
    reader = Reader(stuck=stuck)
    task = asyncio.create_task(_run(watchers.open(asked), reader), name="watch")
    try:
        await settle()
        yield reader
    finally:
        task.cancel()
        await asyncio.wait([task])


async def _run(feed: WatchFeed, reader: Reader) -> None:
    reader.ending = await feed.run(reader.write, reader.drain)
