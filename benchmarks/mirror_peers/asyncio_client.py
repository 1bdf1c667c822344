"""kubernetes_asyncio: a list, then ``Watch``.  The benchmark keeps the objects in a dict."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

from benchmarks.mirror_work import Held, Meter, Task, work


class Kept:
    """Objects by name."""

    def __init__(self) -> None:
        self.objects: dict[str, Any] = {}

    def __len__(self) -> int:
        return len(self.objects)

    def version(self, name: str) -> str:
        """The version of one object."""
        return str(self.objects[name].metadata.resource_version)


@asynccontextmanager
async def mirrored(
    task: Task, namespace: str, objects: int, meter: Meter | None
) -> AsyncIterator[Held]:
    """List or watch, and watch."""
    # By name: it is installed for the benchmark only, where a type checker does not look.
    client: Any = importlib.import_module("kubernetes_asyncio.client")
    watching: Any = importlib.import_module("kubernetes_asyncio.watch")
    configuration = client.Configuration(host=task.url)
    configuration.ssl_ca_cert = task.ca_file or None
    if task.token:
        configuration.api_key["BearerToken"] = task.token
        configuration.api_key_prefix["BearerToken"] = "Bearer"
    kept = Kept()
    synced = asyncio.Event()

    async with client.ApiClient(configuration) as connection:
        api = client.CoreV1Api(connection)
        lists = {"ConfigMap": api.list_namespaced_config_map, "Pod": api.list_namespaced_pod}

        async def follow(options: dict[str, str]) -> None:
            async with watching.Watch() as watch:
                async for event in watch.stream(lists[task.kind], namespace, **options):
                    item = event["object"]
                    kept.objects[item.metadata.name] = item
                    if event["type"] == "ADDED":
                        if len(kept) == objects:
                            synced.set()
                    elif meter is not None:
                        meter.one()

        options: dict[str, str] = {}  # without a version, a watch begins with every object
        if not task.streaming:
            listed = await lists[task.kind](namespace)
            kept.objects.update((item.metadata.name, item) for item in listed.items)
            options["resource_version"] = listed.metadata.resource_version
            del listed
            synced.set()
        following = asyncio.create_task(follow(options), name="watch")
        try:
            await synced.wait()
            yield kept
        finally:
            following.cancel()
            with suppress(asyncio.CancelledError):
                await following


if __name__ == "__main__":
    work(mirrored)
