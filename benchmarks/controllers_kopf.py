"""kopf in the controllers benchmark: an operator, by either kind of handler that it has.

- ``event``: ``on.event``, which is told every event and remembers nothing: its cheapest;
- ``handlers``: ``on.create``, ``on.update`` and ``on.resume``, which its pages begin with.  They
  are called for changes of what matters, and to know those kopf writes what it has handled into an
  annotation of each object.

kopf has no limit on how many objects are worked on at once, unless it is given one: then an object
keeps its place for five seconds after its last event, so that thousands of objects would take
hours.  It has none here.  It has no election by Lease either: peering pauses operators of a lower
priority, by the clocks of their machines.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import logging
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final

from benchmarks.controllers_work import Calls, Task, work
from benchmarks.mirror_peers.launch import LAYER

WIDGETS: Final = ("bench.example.com", "v1", "widgets")
HANDLED: Final = "kopf.zalando.org/last-handled-configuration"


@asynccontextmanager
async def operated(task: Task, namespace: str, calls: Calls) -> AsyncIterator[None]:
    """Run an operator."""
    # By name: it is installed for the benchmark only, where a type checker does not look.
    kopf: Any = importlib.import_module("kopf")
    logging.getLogger("kopf").setLevel(logging.WARNING)
    registry = kopf.OperatorRegistry()
    by_event = os.environ[LAYER] == "event"

    async def login(**_: Any) -> Any:
        return kopf.ConnectionInfo(
            server=task.url, ca_path=task.ca_file or None, token=task.token or None
        )

    async def configure(settings: Any, **_: Any) -> None:
        settings.posting.enabled = False

    def is_marked(body: Mapping[str, Any]) -> bool:
        return not task.mark or body.get("status", {}).get("observed") == task.mark

    async def handle(body: Mapping[str, Any], patch: Any, **_: Any) -> None:
        calls.began(body["spec"].get("sequence", ""))
        if not is_marked(body):
            patch.status["observed"] = task.mark
        elif by_event:
            calls.ended(body["metadata"]["name"])

    async def note(body: Mapping[str, Any], **_: Any) -> None:
        # Beside the others, which hear of nothing that kopf itself writes when they have returned.
        if is_marked(body) and HANDLED in body["metadata"].get("annotations", {}):
            calls.ended(body["metadata"]["name"])

    kopf.on.login(registry=registry)(login)
    kopf.on.startup(registry=registry)(configure)
    kopf.on.event(*WIDGETS, registry=registry)(handle if by_event else note)
    if not by_event:
        for decorator in (kopf.on.create, kopf.on.update, kopf.on.resume):
            decorator(*WIDGETS, registry=registry)(handle)
    operating = asyncio.create_task(
        kopf.operator(registry=registry, namespaces=[namespace], standalone=True),
        name="operator",
    )
    try:
        yield
    finally:
        operating.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await operating


if __name__ == "__main__":
    work(operated)
