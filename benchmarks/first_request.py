"""How long the event loop of a program stands still at its first request and its first mirror.

Owns: the program, and what counts as a pause.  Must not know what is imported.

The program imports Reflet's names before its loop begins, as programs do.  Meanwhile a task of it
wakes up every millisecond: the longest time that it was late is the pause.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from benchmarks.measuring import RunFailed, Sample

TIMEOUT: Final = 60.0  # seconds

PROGRAM: Final = """
import asyncio, json, sys, time
from reflet import ConfigMap, Mirror, connect

TICK = 0.001

async def tick(pauses):
    last = time.perf_counter()
    while True:
        await asyncio.sleep(TICK)
        now = time.perf_counter()
        pauses.append(now - last - TICK)
        last = now

async def main():
    pauses, found = [], {}
    ticking = asyncio.create_task(tick(pauses))
    await asyncio.sleep(0.05)

    async def noted(step):
        await asyncio.sleep(5 * TICK)
        found[step] = max(pauses) * 1000
        pauses.clear()

    await noted("idle_ms")
    async with connect(kubeconfig=sys.argv[1]) as cluster:
        await noted("connect_ms")
        await cluster.version()
        await noted("request_ms")
        async with cluster.mirror(ConfigMap, namespace="default") as mirror:
            await mirror.synced(timeout=20)
        await noted("mirror_ms")
    ticking.cancel()
    print(json.dumps(found))

asyncio.run(main())
"""


def longest_pauses(kubeconfig: Path) -> Sample:
    """Run the program; its longest pause in each step, in milliseconds."""
    finished = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(kubeconfig)],
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )
    if finished.returncode:
        raise RunFailed(f"the program ended with {finished.returncode}: {finished.stderr[-500:]}")
    sample: Sample = json.loads(finished.stdout)
    return sample


@contextmanager
def served() -> Iterator[Path]:
    """A development server with TLS, by its kubeconfig."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kubeconfig"
        command = (sys.executable, "-m", "reflet", "serve", "--port", "0")
        with subprocess.Popen(
            (*command, "--kubeconfig-out", str(path)), stdout=subprocess.PIPE, text=True
        ) as server:
            try:
                while not path.exists():
                    if server.stdout is None or not server.stdout.readline():
                        raise RunFailed("the development server did not start")
                yield path
            finally:
                server.terminate()
                server.communicate()
