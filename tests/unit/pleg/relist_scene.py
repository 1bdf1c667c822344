"""A relist loop over a runtime that the test scripts."""

from __future__ import annotations

from reflet.pleg.relist import Pleg
from reflet.pleg.runtime_status import RuntimePod
from reflet.pleg.status_cache import StatusCache
from reflet.runtime.metrics import MemoryMetrics
from reflet.testing.virtual_time import ManualClock
from tests.pod_runtime import FakeRuntime, pod

LOGGER = "reflet.pleg.relist"


class Scene:
    """A runtime, a cache and the loop between them, on a clock that the test turns."""

    def __init__(self, *pods: RuntimePod, ignore_older: bool = False) -> None:
        self.runtime = FakeRuntime(*pods)
        self.cache = StatusCache(ignore_older=ignore_older)
        self.clock = ManualClock()
        self.metrics = MemoryMetrics()
        self.pleg = Pleg(
            self.runtime,
            self.cache,
            clock=self.clock,
            event_capacity=10,
            request_capacity=2,
            metrics=self.metrics,
        )

    async def relist(self, *pods: RuntimePod) -> list[str]:
        """Show these pods, relist a second later, and return what is told."""
        self.runtime.show(*pods)
        self.clock.advance(1)
        await self.pleg.relist()
        return self.told()

    async def relist_pod(self, *pods: RuntimePod) -> list[str]:
        """Show these pods, look at the one called p a second later, and return what is told."""
        self.runtime.show(*pods)
        self.clock.advance(1)
        await self.pleg.relist_pod("p")
        return self.told()

    def told(self) -> list[str]:
        return [
            f"{event.uid} {event.type} {event.container_id}".rstrip()
            for event in self.pleg.events.take_all()
        ]


RUNNING = pod("p", {"c": "running"})
EXITED = pod("p", {"c": "exited"})
