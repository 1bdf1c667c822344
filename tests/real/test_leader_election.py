"""Candidates in Go and in Python exclude each other, on a real API server."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from itertools import cycle, pairwise
from pathlib import Path

import pytest

from tests.real.binaries import find_binaries
from tests.real.kube_server import KubeServer

TIMES = ("2s", "1.2s", "0.3s")  # lease duration, renew deadline, retry period
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
async def candidate(command: list[str], identity: str, *where: str) -> AsyncIterator[Candidate]:
    process = await asyncio.create_subprocess_exec(
        *command,
        *where,
        identity,
        *TIMES,
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
    python = [sys.executable, "-m", "tests.real.python_elector"]
    where = (str(kubeconfig), namespace, "shared")
    commands = {"go": [str(elector)], "python": python}
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
