"""kopf: an operator with an ``on.event`` handler.  The benchmark keeps the objects in a dict.

Not kopf's own index: its start-up is quadratic, minutes for the collections of this benchmark.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import logging
from collections.abc import AsyncIterator, Mapping
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
        return str(self.objects[name]["metadata"]["resourceVersion"])


@asynccontextmanager
async def mirrored(
    task: Task, namespace: str, objects: int, meter: Meter | None
) -> AsyncIterator[Held]:
    """Run an operator."""
    # By name: it is installed for the benchmark only, where a type checker does not look.
    kopf: Any = importlib.import_module("kopf")
    logging.getLogger("kopf").setLevel(logging.WARNING)
    registry = kopf.OperatorRegistry()
    kept = Kept()
    synced = asyncio.Event()

    async def login(**_: Any) -> Any:
        return kopf.ConnectionInfo(
            server=task.url, ca_path=task.ca_file or None, token=task.token or None
        )

    async def configure(settings: Any, **_: Any) -> None:
        settings.posting.enabled = False
        settings.scanning.disabled = True

    async def handle(event: Mapping[str, Any], **_: Any) -> None:
        item = event["object"]
        kept.objects[item["metadata"]["name"]] = item
        if event["type"] == "MODIFIED":
            if meter is not None:
                meter.one()
        elif len(kept) == objects:
            synced.set()

    kopf.on.login(registry=registry)(login)
    kopf.on.startup(registry=registry)(configure)
    kopf.on.event("v1", f"{task.kind.lower()}s", registry=registry)(handle)
    operating = asyncio.create_task(
        kopf.operator(registry=registry, namespaces=[namespace], standalone=True),
        name="operator",
    )
    waiting = asyncio.create_task(synced.wait(), name="synced")
    await asyncio.wait((operating, waiting), return_when=asyncio.FIRST_COMPLETED)
    if operating.done():
        await operating
    try:
        yield kept
    finally:
        operating.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await operating


if __name__ == "__main__":
    work(mirrored)
