"""A shim in this process, and a container to start in it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from reflet.node.shim.container_records import ContainerRecord
from reflet.node.shim.protocol import StartContainer
from reflet.node.shim.shim import Shim
from tests.patience import Deadline

PATH = "/usr/local/bin:/usr/bin:/bin"
PATIENCE = 10.0
# Of this process alone: what an adopted container left is found by this in the whole machine, also
# in what another process of the test run has started.
CONTAINER = f"c{os.getpid()}"


@asynccontextmanager
async def keeping(root: Path) -> AsyncIterator[Shim]:
    shim = Shim(root)
    async with shim.opened():
        yield shim


def order(
    root: Path, arguments: Sequence[str], container: str = CONTAINER, **fields: Any
) -> StartContainer:
    folder = root / "u1" / "containers" / "main"
    folder.mkdir(parents=True, exist_ok=True)
    record = ContainerRecord(
        id=container, uid="u1", name="main", attempt=0, folder=str(folder), **fields
    )
    return StartContainer(
        record=record,
        arguments=tuple(arguments),
        environment={"PATH": PATH, "COLOR": "red"},
    )


async def until(reached: Callable[[], bool]) -> None:
    """Look again and again: these are real processes, and take real time."""
    deadline = Deadline(PATIENCE)
    while not reached():
        assert not deadline.passed
        await asyncio.sleep(0.01)


async def ended(shim: Shim) -> ContainerRecord:
    await until(lambda: shim.records("u1")[0].finished_at is not None)
    return shim.records("u1")[0]
