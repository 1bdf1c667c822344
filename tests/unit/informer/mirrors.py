"""A reflector on a scripted source, for the tests of its parts."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any

from reflet.api.codec import Listing
from reflet.api.core.config import ConfigMap
from reflet.api.meta import ObjectMeta
from reflet.informer.reflector.reflector import Reflector
from reflet.runtime.backoff import Backoff
from reflet.runtime.gate import Gate
from reflet.runtime.metrics import MemoryMetrics
from reflet.store.store import Store
from reflet.testing.scripted_source import ScriptedSource, WatchScript
from reflet.testing.virtual_time import VirtualClock


def config_map(name: str, version: str) -> ConfigMap:
    metadata = ObjectMeta(name=name, namespace="shop", uid=name, resource_version=version)
    return ConfigMap(metadata=metadata)


class Mirror:
    """A store, the reflector that fills it, and what was reported.  Delays have no jitter."""

    def __init__(
        self,
        *,
        lists: Iterable[Listing[ConfigMap] | Exception] = (),
        watches: Iterable[WatchScript[ConfigMap]] = (),
        streaming: bool = False,
        sink: Any = None,
        gate: Gate | None = None,
        **options: Any,
    ) -> None:
        self.source = ScriptedSource[ConfigMap](lists=lists, watches=watches, gate=gate)
        self.store = Store[ConfigMap]()
        self.metrics = MemoryMetrics()
        self.errors: list[Exception] = []
        self.connection: list[Exception | None] = []
        clock = VirtualClock()
        self.reflector = Reflector(
            self.source,
            sink or self.store,
            name="test",
            clock=clock,
            backoff=Backoff(clock=_Beginning(), jitter=0),
            streaming=streaming,
            on_error=self.errors.append,
            on_connection=self.connection.append,
            held=self.store,
            metrics=self.metrics,
            **options,
        )

    @property
    def held(self) -> dict[str, str]:
        """The versions of the objects by name."""
        return {it.metadata.name: it.metadata.resource_version for it in self.store.objects()}

    @asynccontextmanager
    async def running(self) -> AsyncIterator[Reflector[ConfigMap]]:
        """Run the reflector while the block lasts."""
        run = asyncio.create_task(self.reflector.run(), name="reflector")
        try:
            yield self.reflector
        finally:
            run.cancel()
            await asyncio.wait((run,))
        assert run.cancelled()
        assert self.source.open_watches == 0

    async def run_for(self, seconds: float) -> None:
        """Run the reflector for some time."""
        async with self.running():
            await asyncio.sleep(seconds)


class _Beginning(VirtualClock):
    """For a back-off that never starts over."""

    def monotonic(self) -> float:
        return 0.0
