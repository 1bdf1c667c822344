"""lightkube: a list, then ``Client.watch`` in a thread.  The benchmark keeps objects in a dict."""

from __future__ import annotations

import asyncio
import importlib
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
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
        return str(self.objects[name].metadata.resourceVersion)


def connected(task: Task) -> Any:
    """A client."""
    # By name: it is installed for the benchmark only, where a type checker does not look.
    lightkube: Any = importlib.import_module("lightkube")
    cluster = {"server": task.url} | (
        {"certificate-authority": task.ca_file} if task.ca_file else {}
    )
    config = lightkube.KubeConfig.from_dict(
        {
            "clusters": [{"name": "bench", "cluster": cluster}],
            "contexts": [{"name": "bench", "context": {"cluster": "bench", "user": "bench"}}],
            "users": [{"name": "bench", "user": {"token": task.token} if task.token else {}}],
            "current-context": "bench",
        }
    )
    return lightkube.Client(config=config)


@asynccontextmanager
async def mirrored(
    task: Task, namespace: str, objects: int, meter: Meter | None
) -> AsyncIterator[Held]:
    """List or watch, and watch."""
    resources: Any = importlib.import_module("lightkube.resources.core_v1")
    kind = {"ConfigMap": resources.ConfigMap, "Pod": resources.Pod}[task.kind]
    client = connected(task)
    kept = Kept()
    loop = asyncio.get_running_loop()
    synced = asyncio.Event()

    def follow(version: str | None) -> None:
        for type_, item in client.watch(kind, namespace=namespace, resource_version=version):
            kept.objects[item.metadata.name] = item
            if type_ == "ADDED":
                if len(kept) == objects:
                    loop.call_soon_threadsafe(synced.set)
            elif meter is not None:
                meter.one()

    version = None  # without one, a watch begins with every object
    if not task.streaming:
        listed = client.list(kind, namespace=namespace)
        kept.objects.update((item.metadata.name, item) for item in listed)
        version = listed.resourceVersion
        del listed
        synced.set()
    # A daemon: nothing ends a watch from outside.
    threading.Thread(target=follow, args=(version,), daemon=True).start()
    await synced.wait()
    yield kept


if __name__ == "__main__":
    work(mirrored)
