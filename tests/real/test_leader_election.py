"""Candidates in Go and in Python exclude each other, on a real API server."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import sys
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from itertools import cycle, pairwise
from pathlib import Path

import pytest

from tests.faults.harms import Ambush, Harm
from tests.faults.proxy import LOOPBACK, FaultProxy
from tests.real.binaries import find_binaries
from tests.real.kube_server import KubeServer

TIMES = ("2s", "1.2s", "0.3s")  # lease duration, renew deadline, retry period
# client-go says that it stopped when it has tried to give the lease back, which without an answer
# takes a second renew deadline: its lease must be longer than that.
TIMES_OF_THE_STALLED = {"python": ("2s", "0.6s", "0.2s"), "go": ("3s", "0.6s", "0.2s")}
PYTHON = [sys.executable, "-m", "tests.real.python_elector"]
FOR_EVER = 10**9
ROOT = Path(__file__).parents[2]


@dataclass
class Candidate:
    """A process that wants to lead, and when it did: nanoseconds of the wall clock."""

    identity: str
    process: asyncio.subprocess.Process
    began: int | None = None
    terms: list[tuple[int, int]] = field(default_factory=list)

    async def until(self, word: str) -> None:
        assert self.process.stdout is not None
        async for line in self.process.stdout:
            said, moment = line.decode().split()
            if said == "leads":
                self.began = int(moment)
            elif said == "stopped":
                self._end(int(moment))
            if said == word:
                return
        pytest.fail(f"{self.identity} ended before it said {word!r}")

    async def end(self, number: signal.Signals) -> None:
        """Kill it, or let it give its lease back; what it did until then counts."""
        if number is signal.SIGKILL:
            os.kill(self.process.pid, signal.SIGSTOP)  # from here on it does nothing
            self._end(time.time_ns())
            self.process.kill()
        else:
            self.process.terminate()
            await self.until("stopped")
        await self.process.wait()

    def _end(self, moment: int) -> None:
        if self.began is not None:
            self.terms.append((self.began, moment))
            self.began = None


@pytest.fixture
def elector() -> Path:
    program = find_binaries().kube_apiserver.with_name("elector")
    if not program.exists():
        pytest.skip(f"there is no {program}: `make kube` builds it, but not for KUBEBUILDER_ASSETS")
    return program


@asynccontextmanager
async def candidate(
    command: list[str], identity: str, *where: str, times: tuple[str, str, str] = TIMES
) -> AsyncIterator[Candidate]:
    process = await asyncio.create_subprocess_exec(
        *command,
        *where,
        identity,
        *times,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        cwd=ROOT,
    )
    try:
        yield Candidate(identity, process)
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


async def test_a_go_and_a_python_candidate_never_lead_at_the_same_time(
    kube: KubeServer, namespace: str, tmp_path: Path, elector: Path
) -> None:
    kubeconfig = kube.write_kubeconfig(tmp_path / "config", "admin", namespace=namespace)
    where = (str(kubeconfig), namespace, "shared")
    commands = {"go": [str(elector)], "python": PYTHON}
    # Each leader is ended in another way, and the next one speaks the other language.
    endings = [signal.SIGTERM, signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGTERM]
    terms: list[tuple[int, int]] = []
    async with AsyncExitStack() as running:
        leader: Candidate | None = None
        for number, (language, ending) in enumerate(zip(cycle(commands), endings, strict=False)):
            identity = f"{language} {number}"
            follower = await running.enter_async_context(
                candidate(commands[language], identity, *where)
            )
            await follower.until("candidate")
            if leader is not None:
                await leader.end(ending)
                terms += leader.terms
            await follower.until("leads")
            leader = follower
        assert leader is not None
        await leader.end(signal.SIGTERM)
        terms += leader.terms

    assert len(terms) == len(endings)
    assert [second for first, second in pairwise(terms) if second[0] < first[1]] == []


@pytest.mark.parametrize(("stalled", "other"), [("python", "go"), ("go", "python")])
async def test_a_leader_whose_connection_stalls_has_stopped_before_another_leads(
    stalled: str, other: str, kube: KubeServer, namespace: str, tmp_path: Path, elector: Path
) -> None:
    kubeconfig = kube.write_kubeconfig(tmp_path / "config", "admin", namespace=namespace)
    commands = {"go": [str(elector)], "python": PYTHON}
    async with (
        FaultProxy(LOOPBACK, kube.port, chance=random.Random(0)) as proxy,
        AsyncExitStack() as running,
    ):
        behind = kube.kubeconfig("admin", namespace=namespace)
        behind["clusters"][0]["cluster"]["server"] = f"https://{LOOPBACK}:{proxy.port}"
        path = tmp_path / "behind"
        path.write_text(json.dumps(behind))
        first = candidate(
            commands[stalled],
            stalled,
            *(str(path), namespace, "shared"),
            times=TIMES_OF_THE_STALLED[stalled],
        )
        leader = await running.enter_async_context(first)
        await leader.until("leads")
        second = candidate(commands[other], other, str(kubeconfig), namespace, "shared")
        follower = await running.enter_async_context(second)
        await follower.until("candidate")

        # What it sends is taken, and nothing is answered, on new connections too.
        proxy.lay(Ambush(harm=Harm.HALF_OPEN, times=FOR_EVER))
        assert proxy.strike(Harm.HALF_OPEN) > 0
        await leader.until("stopped")
        await follower.until("leads")

    assert follower.began is not None
    assert leader.terms[0][1] < follower.began
