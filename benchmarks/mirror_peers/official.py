"""The official client: ``kubernetes.informer.SharedInformer``."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from benchmarks.mirror_work import Held, Meter, Task, work


class Cached:
    """The informer's cache."""

    def __init__(self, cache: Any, namespace: str) -> None:
        self._cache = cache
        self._namespace = namespace

    def __len__(self) -> int:
        return len(self._cache.list_keys())

    def version(self, name: str) -> str:
        """The version of one object."""
        cached: Any = self._cache.get_by_key(f"{self._namespace}/{name}")
        return str(cached.metadata.resource_version)


@asynccontextmanager
async def mirrored(
    task: Task, namespace: str, objects: int, meter: Meter | None
) -> AsyncIterator[Held]:
    """Run an informer.  It never says that it is synced: the last object that it adds does."""
    # By name: it is installed for the benchmark only, where a type checker does not look.
    client: Any = importlib.import_module("kubernetes.client")
    informers: Any = importlib.import_module("kubernetes.informer")
    configuration = client.Configuration(host=task.url)
    configuration.ssl_ca_cert = task.ca_file or None
    if task.token:
        configuration.api_key["authorization"] = f"Bearer {task.token}"
    api = client.CoreV1Api(client.ApiClient(configuration))
    lists = {"ConfigMap": api.list_namespaced_config_map, "Pod": api.list_namespaced_pod}
    informer = informers.SharedInformer(lists[task.kind], namespace=namespace)
    loop = asyncio.get_running_loop()
    synced = asyncio.Event()
    left = objects

    def added(_object: object) -> None:
        nonlocal left
        left -= 1
        if not left:
            loop.call_soon_threadsafe(synced.set)

    informer.add_event_handler("ADDED", added)
    if meter is not None:
        informer.add_event_handler("MODIFIED", meter.one)
    informer.start()
    await synced.wait()
    # Not stopped: it would wait for a watch that never ends.  Its thread dies with the process.
    yield Cached(informer.cache, namespace)


if __name__ == "__main__":
    work(mirrored)
