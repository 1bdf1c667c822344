"""A sidecar as a whole, in virtual time: what it waits for, and what wakes it."""

from __future__ import annotations

import asyncio
import errno
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from reflet.api.core.config import ConfigMap, Secret
from reflet.api.meta import ObjectMeta
from reflet.runtime.permanent_tasks import NO_THREAD, TaskEnded
from reflet.sidecar.files.publishing import Publisher
from reflet.sidecar.sidecar import DOWNLOAD_PATIENCE, Sidecar
from reflet.testing.scripted_source import (
    After,
    Quiet,
    ScriptedSource,
    Step,
    added,
    bookmark,
)
from tests.unit.sidecar.scenes import settings

pytestmark = pytest.mark.virtual_time

CONTENT = ConfigMap(
    metadata=ObjectMeta(name="a", namespace="n", resource_version="1"), data={"file": "content"}
)
CONFIG_MAPS: Sequence[Step[Any]] = (
    added(CONTENT),
    bookmark("1", ends_initial_events=True),
    Quiet.HEALTHY,
)
NO_SECRETS = bookmark("1", ends_initial_events=True, kind=Secret)


class PaperClient:
    """A server with one ConfigMap, and *secrets* as a watch brings them."""

    def __init__(self, *secrets: Step[Any]) -> None:
        self._config_maps = ScriptedSource[Any](watches=[CONFIG_MAPS])
        self._secrets = ScriptedSource[Any](watches=[secrets])

    def resource(self, kind: type, *, namespace: str) -> ScriptedSource[Any]:
        assert namespace == "n"
        return self._secrets if kind is Secret else self._config_maps


@asynccontextmanager
async def running(
    folder: Path, *secrets: Step[Any], **variables: str
) -> AsyncIterator[tuple[Sidecar, asyncio.Task[None]]]:
    variables = {"FOLDER": str(folder), "RESOURCE": "both", "NAMESPACE": "n", **variables}
    client: Any = PaperClient(*secrets)
    made = Sidecar(settings(**variables), client, namespace="n")
    task = asyncio.create_task(made.run(), name="sidecar")
    try:
        yield made, task
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError, TaskEnded, BaseExceptionGroup):
            await task


async def started_at(sidecar: Sidecar) -> float:
    while not sidecar.facts().is_started:  # noqa: ASYNC110 - nobody is told of it
        await asyncio.sleep(0.25)
    return asyncio.get_running_loop().time()


async def test_a_server_that_is_slow_to_answer_is_waited_for_at_rest(tmp_path: Path) -> None:
    late = 2 * DOWNLOAD_PATIENCE
    async with running(tmp_path, After(late), NO_SECRETS, Quiet.HEALTHY) as (sidecar, _):
        moment = await started_at(sidecar)

    assert moment >= late


async def test_a_start_that_a_machine_without_threads_kept_from_its_end_ends_soon_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    finish = Publisher.finish_start
    failures = [RuntimeError(NO_THREAD)]

    def finish_or_fail(self: Publisher) -> None:
        if failures:
            raise failures.pop()
        finish(self)

    monkeypatch.setattr(Publisher, "finish_start", finish_or_fail)
    async with running(tmp_path, NO_SECRETS, Quiet.HEALTHY) as (sidecar, _):
        moment = await started_at(sidecar)

    assert moment < DOWNLOAD_PATIENCE / 2


async def test_a_look_at_the_files_that_fails_is_made_again_soon(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    touched = Publisher.touched
    looks: list[float] = []

    def touched_or_fail(self: Publisher) -> set[str]:
        looks.append(loop.time())
        if len(looks) == 1:
            raise OSError(errno.EMFILE, "Too many open files")
        return touched(self)

    loop = asyncio.get_running_loop()
    monkeypatch.setattr(Publisher, "touched", touched_or_fail)
    async with running(tmp_path, NO_SECRETS, Quiet.HEALTHY, RESYNC_INTERVAL="600"):
        await asyncio.sleep(1000)

    assert looks[1] - looks[0] < 10


async def test_a_part_that_ends_for_good_at_the_start_ends_the_sidecar(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(Publisher, "publish", broken)
    async with running(tmp_path, NO_SECRETS, Quiet.HEALTHY) as (_, task):
        await asyncio.wait({task}, timeout=3600)
        has_ended = task.done()

    assert has_ended
