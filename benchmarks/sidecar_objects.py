"""The objects that sidecars follow, and everybody at work on them.

Owns: what an object and its file look like, writing them, and waiting for files.  Must not know
what is measured, nor who the sidecars are.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractContextManager, asynccontextmanager
from typing import Any, Final, Protocol

from benchmarks.node import gathered
from benchmarks.sidecar_contestants import Sidecar
from benchmarks.sidecar_servers import Ground
from reflet.api.core.config import ConfigMap
from reflet.api.core.small_kinds import Namespace
from reflet.cluster import Cluster

LABEL: Final = "bench"
SETTLE: Final = 2.0  # seconds after which memory is looked at, and quiet is quiet
ARRIVES: Final = 30.0  # seconds for a change to arrive
LOOK_EVERY: Final = 0.02
PADDING: Final = "x" * 700  # makes an object about 1 KiB


class Staged(Protocol):
    """A server and who can be started on it."""

    @property
    def server(self) -> Ground:
        """The server."""

    @property
    def names(self) -> list[str]:
        """Who takes part."""

    def sidecars(
        self, namespace: str, *, doors: Mapping[str, int] | None = None, **variables: str
    ) -> AbstractContextManager[dict[str, Sidecar]]:
        """Start everybody."""


def object_name(number: int) -> str:
    return f"object-{number:05}"


def file_name(number: int) -> str:
    return f"{object_name(number)}.txt"


def document(number: int, text: str) -> dict[str, Any]:
    metadata = {"name": object_name(number), "labels": {LABEL: "1"}}
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": metadata,
        "data": {file_name(number): f"{text}\n{PADDING}"},
    }


async def fill(server: Ground, namespace: str, objects: int) -> None:
    """Make a namespace with objects."""
    async with Cluster(server.settings()) as cluster:
        await cluster.resource(Namespace).create({"metadata": {"name": namespace}})
        maps = cluster.resource(ConfigMap, namespace=namespace)

        async def make(number: str) -> None:
            await maps.create(document(int(number), "0"))

        await gathered([str(number) for number in range(objects)], make)


async def change(cluster: Cluster, namespace: str, number: int, text: str) -> float:
    """Change one object; when the server had answered."""
    data = {"data": document(number, text)["data"]}
    await cluster.resource(ConfigMap, namespace=namespace).patch(object_name(number), data)
    return time.monotonic()


def shows(sidecar: Sidecar, number: int, text: str) -> bool:
    """Whether a file has the content of a change."""
    try:
        return (sidecar.folder / file_name(number)).read_text() == f"{text}\n{PADDING}"
    except (FileNotFoundError, UnicodeDecodeError):
        return False


@asynccontextmanager
async def running(
    stage: Staged, namespace: str, objects: int, **variables: Any
) -> AsyncIterator[tuple[Cluster, dict[str, Sidecar]]]:
    """Objects, and everybody who is ready to follow them."""
    await fill(stage.server, namespace, objects)
    async with Cluster(stage.server.settings()) as cluster:
        with stage.sidecars(namespace, **variables) as sidecars:
            for sidecar in sidecars.values():
                await asyncio.to_thread(sidecar.wait_ready)
            await asyncio.sleep(SETTLE)
            yield cluster, sidecars


async def until(condition: Callable[[], bool], patience: float) -> float | None:
    """When a condition held, None if it never did."""
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline:
        if condition():
            return time.monotonic()
        await asyncio.sleep(LOOK_EVERY)
    return None
