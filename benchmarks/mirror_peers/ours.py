"""Reflet: the shared informer; and what lies below it, to see what each layer costs.

- informer: what users get;
- transport: the same requests and the same decoding, and nobody who keeps the events.

Behind a dash, the module of another event loop.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

from benchmarks.mirror_peers.launch import LAYER
from benchmarks.mirror_work import Held, Meter, Task, work
from reflet.api.core.config import ConfigMap
from reflet.api.core.pods import Pod
from reflet.api.options import ListOptions, WatchOptions
from reflet.cluster import Cluster
from reflet.informer.handlers.changes import Change
from reflet.informer.shared_informer import SharedInformer
from reflet.store.store import Store
from reflet.transport.auth.certificates import Pem
from reflet.transport.auth.credentials import NoCredentials, StaticToken
from reflet.transport.config.settings import ConnectionSettings

KINDS: Final[dict[str, Any]] = {"ConfigMap": ConfigMap, "Pod": Pod}


def connected(task: Task) -> Cluster:
    """A connection of its own, with no limit on the rate of requests."""
    return Cluster(
        ConnectionSettings(
            server=task.url,
            certificate_authority=(
                Pem("the benchmark's authority", path=Path(task.ca_file)) if task.ca_file else None
            ),
            credentials=StaticToken(task.token) if task.token else NoCredentials(),
            qps=0,
        )
    )


class Stored:
    """The informer's store."""

    def __init__(self, store: Store[Any], namespace: str) -> None:
        self._store = store
        self._namespace = namespace

    def __len__(self) -> int:
        return len(self._store)

    def version(self, name: str) -> str:
        """The version of one object."""
        stored = self._store.get(f"{self._namespace}/{name}")
        return "" if stored is None else str(stored.metadata.resource_version)


@asynccontextmanager
async def informer(
    task: Task,
    namespace: str,
    objects: int,  # noqa: ARG001 - it says itself when it is synced
    meter: Meter | None,
) -> AsyncIterator[Held]:
    """Run a shared informer."""
    async with connected(task) as cluster:
        source = cluster.resource(KINDS[task.kind], namespace=namespace)
        shared: SharedInformer[Any] = SharedInformer(source, name="bench", streaming=task.streaming)
        registration = None
        if meter is not None:
            taken = meter.one

            def handle(change: Change[Any]) -> None:
                if change.type == "UPDATED":
                    taken()

            registration = shared.add_handler(handle)
        async with shared:
            await shared.wait_synced()
            try:
                yield Stored(shared.store, namespace)
            finally:
                if registration is not None and registration.merged:
                    raise RuntimeError(f"{registration.merged} updates did not reach the handler")


class Passed:
    """What the transport's loop remembers: how many objects came, and the last event's."""

    def __init__(self, count: int) -> None:
        self._count = count
        self.last: Any = None

    def __len__(self) -> int:
        return self._count

    def version(self, name: str) -> str:
        """The version of the object that came last, if it has this name."""
        metadata = self.last.metadata
        return str(metadata.resource_version) if metadata.name == name else ""


@asynccontextmanager
async def transport(
    task: Task,
    namespace: str,
    objects: int,  # noqa: ARG001 - a list says how many there are
    meter: Meter | None,
) -> AsyncIterator[Held]:
    """List, then read a watch."""
    async with connected(task) as cluster:
        source = cluster.resource(KINDS[task.kind], namespace=namespace)
        listed = await source.page(ListOptions(resource_version="0"))
        passed = Passed(len(listed.items))
        options = WatchOptions(resource_version=listed.metadata.resource_version)

        async def follow() -> None:
            async with source.watch(options) as watch:
                async for batch in watch.batches():
                    passed.last = batch[-1].object
                    if meter is not None:
                        meter.many(len(batch))

        following = asyncio.create_task(follow(), name="watch")
        try:
            yield passed
        finally:
            following.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await following


def main() -> None:
    """Be the contestant that the environment names."""
    layer, _, loop = os.environ[LAYER].partition("-")
    work(
        {"informer": informer, "transport": transport}[layer],
        loop_factory=importlib.import_module(loop).new_event_loop if loop else None,
    )


if __name__ == "__main__":
    main()
