"""Commands on the node: how many run when many ask at once, and what is no size of a terminal."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from reflet.api.core.pods import Pod
from reflet.api.meta import ObjectMeta
from reflet.node.server.exec_service import ExecService, RunCommand
from reflet.node.server.stream_channels import StreamPlaces
from reflet.pleg.runtime_status import RuntimeState
from reflet.transport.serving.http_answers import Question, Upgrade
from reflet.transport.upgrades.spdy import SpdySession
from tests.byte_lines import MemoryLine

POD = Pod(metadata=ObjectMeta(name="web", namespace="shop", uid="u1"))
HEADERS = {"upgrade": "SPDY/3.1", "x-stream-protocol-version": "v4.channel.k8s.io"}


QUESTION = Question(("exec", "shop", "web", "main"), {"output": "true"}, HEADERS, command=("true",))


def exec_service(folder: Path, run: RunCommand, *, most: int = 32) -> ExecService:
    """A service with one pod, whose container runs."""

    async def records(_: str) -> Any:
        return [SimpleNamespace(id="c1", name="main", state=RuntimeState.RUNNING)]

    return ExecService(
        folder / "pipes",
        find_pod=lambda *_: POD,
        records=records,
        run=run,
        places=StreamPlaces(most),
    )


async def status_of(upgrade: Upgrade, *, size: str = "") -> dict[str, Any]:
    """Ask for a command as kubectl does, with a terminal's size if given; how it ended."""
    here, there = MemoryLine.pair()
    client = SpdySession(here, is_client=True)
    tasks = [asyncio.ensure_future(upgrade.serve(there)), asyncio.ensure_future(client.run())]
    try:
        errors = await client.open({"streamtype": "error"})
        await client.open({"streamtype": "stdout"})
        if size:
            await (await client.open({"streamtype": "resize"})).write(size.encode())
        status: dict[str, Any] = json.loads(await errors.read())
        return status
    finally:
        await client.close()
        await asyncio.gather(*tasks, return_exceptions=True)


async def test_of_many_who_ask_at_the_same_moment_only_so_many_run(tmp_path: Path) -> None:
    others_are_refused = asyncio.Event()
    most_at_once = running = 0

    async def run(_: object) -> int:
        nonlocal running, most_at_once
        running += 1
        most_at_once = max(most_at_once, running)
        await others_are_refused.wait()
        running -= 1
        return 0

    service = exec_service(tmp_path, run, most=1)
    agreed = [await service.answer(QUESTION) for _ in range(3)]
    asked = [asyncio.ensure_future(status_of(each)) for each in agreed if isinstance(each, Upgrade)]
    refused, _ = await asyncio.wait(asked[1:])
    others_are_refused.set()

    assert [each.result()["status"] for each in refused] == ["Failure"] * 2
    assert all("no more fit" in each.result()["message"] for each in refused)
    assert (await asked[0])["status"] == "Success"
    assert most_at_once == 1


@pytest.mark.parametrize(
    "size",
    [
        '{"Width": 1e999, "Height": 1}',
        '{"Width": NaN, "Height": 1}',
        '{"Width": "wide", "Height": 1}',
        "[" * 4000,
        "9" * 4000,
        "{}",
        "no JSON",
    ],
)
async def test_what_is_no_size_of_a_terminal_is_left_out(tmp_path: Path, size: str) -> None:
    async def run(_: object) -> int:
        for _ in range(200):  # turns of the loop, in which the size arrives
            await asyncio.sleep(0)
        return 0

    service = exec_service(tmp_path, run)
    upgrade = await service.answer(replace(QUESTION, query={"output": "true", "tty": "true"}))
    assert isinstance(upgrade, Upgrade)

    assert (await status_of(upgrade, size=size))["status"] == "Success"
