"""cloudcoil: its synchronous informer, as its cache makes it."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from benchmarks.mirror_work import Held, Meter, Task, work


class Cached:
    """The informer's cache."""

    def __init__(self, informer: Any, namespace: str) -> None:
        self._informer = informer
        self._namespace = namespace

    def __len__(self) -> int:
        return len(self._informer.list())

    def version(self, name: str) -> str:
        """The version of one object."""
        return str(self._informer.get(name, self._namespace).metadata.resource_version)


@asynccontextmanager
async def mirrored(
    task: Task,
    namespace: str,
    objects: int,  # noqa: ARG001 - it says itself when it is synced
    meter: Meter | None,
) -> AsyncIterator[Held]:
    """Run an informer."""
    # By name: it is installed for the benchmark only, where a type checker does not look.
    client: Any = importlib.import_module("cloudcoil.client")  # first, or its imports are a circle
    caching: Any = importlib.import_module("cloudcoil.caching")
    models: Any = importlib.import_module("cloudcoil.models.kubernetes.core.v1")
    kind = {"ConfigMap": models.ConfigMap, "Pod": models.Pod}[task.kind]
    config = client.Config(
        server=task.url,
        namespace=namespace,
        token=task.token or None,
        cafile=Path(task.ca_file) if task.ca_file else None,
        cache=caching.Cache(sync_timeout=task.patience),
    )
    informer = config.cache.get_informer(kind, sync=True, namespace=namespace)
    if meter is not None:
        taken = meter.one
        informer.on_update(lambda _old, new: taken(new))
    config.cache.start()
    if not await asyncio.to_thread(config.cache.wait, task.patience):
        raise RuntimeError("not synced")
    # Not stopped: it would wait for a watch that never ends.  Its thread dies with the process.
    yield Cached(informer, namespace)


if __name__ == "__main__":
    work(mirrored)
