"""A runtime that sends events, and an ``EventedPleg`` on it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime

from reflet.errors import RpcUnavailable
from reflet.pleg.evented import EventedPleg
from reflet.pleg.runtime_status import RuntimeEvent, RuntimePod
from reflet.pleg.status_cache import StatusCache
from reflet.runtime.metrics import MemoryMetrics
from tests.pod_runtime import FakeRuntime, pod

RUNNING = pod("p", {"c": "running"}, {"s": "running"})
EXITED = pod("p", {"c": "exited"}, {"s": "running"})
AT = datetime(2026, 1, 1, tzinfo=UTC)


class FakeEventedRuntime(FakeRuntime):
    """Sends what a test puts into ``stream``; an exception ends it."""

    def __init__(self, *pods: RuntimePod) -> None:
        super().__init__(*pods)
        self.stream: asyncio.Queue[RuntimeEvent | Exception] = asyncio.Queue()
        self.opened = 0
        self.refusal: Exception | None = None

    def notify(self, uid: str = "p", container: str = "c") -> None:
        self.stream.put_nowait(RuntimeEvent(uid=uid, container_id=container, at=AT))

    def fail(self) -> None:
        self.stream.put_nowait(RpcUnavailable("Unavailable", "gone"))

    @asynccontextmanager
    async def events(self) -> AsyncIterator[AsyncIterator[RuntimeEvent]]:
        self.opened += 1
        if self.refusal is not None:
            raise self.refusal
        yield self._read()

    async def _read(self) -> AsyncIterator[RuntimeEvent]:
        while True:
            event = await self.stream.get()
            if isinstance(event, Exception):
                raise event
            yield event


class Scene:
    """A runtime with events, a cache, and the loop between them, in virtual time."""

    def __init__(self, *pods: RuntimePod, event_capacity: int = 100) -> None:
        self.runtime = FakeEventedRuntime(*pods)
        self.cache = StatusCache()
        self.metrics = MemoryMetrics()
        self.pleg = EventedPleg(
            self.runtime, self.cache, metrics=self.metrics, event_capacity=event_capacity
        )

    async def settle(self) -> None:
        """Let everything happen that takes no time."""
        for _ in range(20):
            await asyncio.sleep(0)

    def told(self) -> list[str]:
        return [f"{each.type} {each.container_id}" for each in self.pleg.events.take_all()]

    def relists(self) -> int:
        return self.runtime.asked.count("list")
