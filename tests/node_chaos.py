"""An agent, its shim, the server and the containers' processes, killed at random.

Owns: the story, told by a seed, and the questions at its end: is every file equal to its object,
does every pod run, is there a process or a folder too many.  Must not know who tells it: a test
for some seconds, a benchmark for a minute.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final

from reflet.api.core.config import ConfigMap
from reflet.api.core.pods import Pod
from reflet.api.options import DeleteOptions
from reflet.cluster import Cluster, settings_from
from reflet.errors import ApiError, NotFound, TransportError
from reflet.node.shim.container_records import records_below
from reflet.transport.config.kubeconfig import Overrides
from tests.node_scenes import (
    AgentProcess,
    config_map,
    container_root,
    is_running,
    pod_document,
    processes_below,
)
from tests.patience import Deadline, within

CALM: Final = 60.0  # seconds for everything to be as it should be, when nothing is killed any more
A_LOOK: Final = 0.05
FEWEST_KILLS: Final = 3
SHIM: Final = "reflet.node.shim.service"


@dataclass(slots=True)
class Story:
    """What happened, and what was wrong at the end."""

    seed: int
    seconds: float
    killed: Counter[str] = field(default_factory=Counter)
    edits: int = 0
    replaced: int = 0
    calm_after: float = 0.0
    wrong: list[str] = field(default_factory=list)


class ServerProcess:
    """A development server in a process of its own, which keeps its data and its port."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._port = _free_port()
        self.kubeconfig = folder / "kubeconfig"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        command = [
            *(sys.executable, "-m", "reflet", "serve", "--port", str(self._port), "--no-tls"),
            *("--data-dir", str(self._folder / "data")),
            *("--kubeconfig-out", str(self.kubeconfig)),
        ]
        with (self._folder / "server.log").open("ab") as log:
            self._process = subprocess.Popen(command, stdout=log, stderr=log)

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    async def up(self) -> None:
        """Return when somebody listens and has said how to be reached."""
        async with within(CALM):
            while True:
                with contextlib.suppress(OSError):
                    _, writer = await asyncio.open_connection("127.0.0.1", self._port)
                    writer.close()
                    if self.kubeconfig.exists():
                        return
                await asyncio.sleep(A_LOOK)


class Chaos:
    """One story."""

    def __init__(self, folder: Path, *, seed: int, seconds: float, pods: int = 8) -> None:
        self.story = Story(seed, seconds)
        self._chance = random.Random(seed)
        self._folder = folder
        self._names = [f"pod-{number}" for number in range(pods)]
        self._server = ServerProcess(folder)
        self._values: dict[str, str] = {}

    async def tell(self) -> Story:
        """Let it all happen, and look at what is left."""
        self._server.start()
        try:
            await self._server.up()
            settings = settings_from(Overrides(kubeconfig=str(self._server.kubeconfig)))
            self._agent = AgentProcess(self._server.kubeconfig, self._folder)
            async with Cluster(dataclasses.replace(settings, qps=0)) as cluster:
                self._cluster = cluster
                for name in self._names:
                    await self._write(name)
                    await self._patiently(partial(self._create, name))
                self._agent.start()
                try:
                    await self._storm()
                    began = time.monotonic()
                    await self._calm()
                    self.story.calm_after = time.monotonic() - began
                    await self._end()
                finally:
                    self._agent.stop()
        finally:
            self._server.kill()
        left = processes_below(self._folder)
        if left:
            self.story.wrong.append(f"processes are left after the end: {left}")
        return self.story

    # The storm

    async def _storm(self) -> None:
        harms = [
            *(self._kill_child,) * 4,
            *(self._edit,) * 6,
            *(self._kill_agent, self._kill_server, self._kill_shim, self._replace_pod),
        ]
        deadline = time.monotonic() + self.story.seconds
        # On a slow machine the first harms may take all the time: a storm has some kills at least.
        while time.monotonic() < deadline or self.story.killed.total() < FEWEST_KILLS:
            await self._chance.choice(harms)()
            await asyncio.sleep(self._chance.uniform(0.02, 0.4))

    async def _kill_child(self) -> None:
        pids = processes_below(self._folder)
        if pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._chance.choice(pids), signal.SIGKILL)
            self.story.killed["child"] += 1

    async def _kill_agent(self) -> None:
        self._agent.kill()
        self.story.killed["agent"] += 1
        await asyncio.sleep(self._chance.uniform(0, 0.5))
        self._agent.start()

    async def _kill_server(self) -> None:
        self._server.kill()
        self.story.killed["server"] += 1
        await asyncio.sleep(self._chance.uniform(0, 0.5))
        self._server.start()
        await self._server.up()

    async def _kill_shim(self) -> None:
        for pid in shims_of(self._folder / "node"):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            self.story.killed["shim"] += 1

    async def _edit(self) -> None:
        await self._write(self._chance.choice(self._names))
        self.story.edits += 1

    async def _replace_pod(self) -> None:
        name = self._chance.choice(self._names)
        await self._patiently(lambda: self._delete(name))
        await self._patiently(lambda: self._create(name))
        self.story.replaced += 1

    # Writing

    async def _write(self, name: str) -> None:
        value = f"{self._chance.random()}"
        self._values[name] = value
        await self._patiently(lambda: self._put(name, value))

    async def _put(self, name: str, value: str) -> None:
        maps = self._cluster.resource(ConfigMap, namespace="default")
        try:
            await maps.patch(name, {"data": {"value": value}})
        except NotFound:
            await maps.create(config_map(name, value=value))

    async def _create(self, name: str) -> None:
        document = pod_document(
            name,
            container={"volumeMounts": [{"name": "conf", "mountPath": "/etc/app"}]},
            volumes=[{"name": "conf", "configMap": {"name": name}}],
        )
        with contextlib.suppress(ApiError):  # it was made, and only the answer was lost
            await self._cluster.resource(Pod, namespace="default").create(document)

    async def _delete(self, name: str) -> None:
        pods = self._cluster.resource(Pod, namespace="default")
        with contextlib.suppress(NotFound):
            await pods.delete(name, DeleteOptions(grace_period_seconds=0))

    async def _patiently(self, act: Callable[[], Awaitable[None]]) -> None:
        """Do it, however often the server goes away meanwhile; all of it can be done twice."""
        async with within(CALM):
            while True:
                try:
                    return await act()
                except TransportError:
                    await self._server.up()
                    await asyncio.sleep(A_LOOK)

    # The calm

    async def _calm(self) -> None:
        deadline = Deadline(CALM)
        wrong: list[str] = ["nobody has looked yet"]
        for name in self._names:
            await self._write(name)
        while wrong and not deadline.passed:
            await asyncio.sleep(A_LOOK)
            wrong = await self._look()
        self.story.wrong = wrong

    async def _look(self) -> list[str]:
        wrong: list[str] = []
        pods = await self._cluster.resource(Pod, namespace="default").list()
        found = {pod.metadata.name: pod for pod in pods.items}
        wrong += [f"{name} is lost" for name in self._names if name not in found]
        for pod in found.values():
            wrong += self._look_at(pod)
        folders = {path.name for path in (self._folder / "node" / "pods").iterdir()}
        known = {pod.metadata.uid for pod in found.values()}
        wrong += [f"folder {uid} is nobody's" for uid in folders - known]
        running = {
            record.pid
            for record in records_below(self._folder / "node" / "pods")
            if record.finished_at is None
        }
        wrong += [
            f"process {pid} is nobody's"
            for pid in processes_below(self._folder)
            if pid not in running and _parent(pid) not in running
        ]
        return wrong

    def _look_at(self, pod: Pod) -> list[str]:
        name = pod.metadata.name
        if not is_running(pod):
            return [f"{name} does not run"]
        try:
            root = container_root(self._folder, pod.metadata.uid)
            value = (root / "etc/app/value").read_text()
        except OSError as error:
            return [f"{name} has no file: {error}"]
        if value != self._values[name]:
            return [f"{name} has a stale file"]
        return []

    async def _end(self) -> None:
        pods = self._cluster.resource(Pod, namespace="default")
        for name in self._names:
            await pods.delete(name)
        deadline = Deadline(CALM)
        while not deadline.passed:
            listing = await pods.list()
            if not listing.items and not list((self._folder / "node" / "pods").iterdir()):
                return
            await asyncio.sleep(A_LOOK)
        self.story.wrong.append("not everything goes when it is deleted")


def shims_of(root: Path) -> Sequence[int]:
    """The shims that keep everything below a folder, without those that become containers."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            arguments = path.read_bytes().split(b"\0")
            if SHIM.encode() in arguments and str(root).encode() in arguments:
                found.append(int(path.parent.name))
    return [pid for pid in found if _parent(pid) not in found]


def _parent(pid: int) -> int:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0
    return int(fields[1])


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
