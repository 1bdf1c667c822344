"""An agent and its shim, while descriptors, disk and memory run out under them at random.

Owns: the story, told by a seed: pods come, crash and go, and one thing after another runs out for a
while; and the questions at its end: is a process, a zombie or a folder left, was the lease
renewed all the time, does memory stay flat, is every pod as its spec says.  Must not know who tells
it, nor how the agent works.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import os
import random
import resource
import shlex
import signal
import statistics
import subprocess
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Final

from reflet.api.core.pods import Pod
from reflet.api.core.small_kinds import Lease
from reflet.cluster import Cluster, settings_from
from reflet.errors import AlreadyExists, NotFound
from reflet.node.shim.container_records import records_below
from reflet.node.shim.protocol import JOURNAL
from reflet.processes.process_table import process_entries, process_entry
from reflet.transport.config.kubeconfig import Overrides
from tests.node_chaos import ServerProcess, shims_of
from tests.node_scenes import (
    NODE,
    SLEEP,
    AgentProcess,
    config_map,
    is_running,
    pod_document,
    processes_below,
)
from tests.patience import Deadline

CALM: Final = 60.0  # seconds for everything to be as it should be, when nothing is lacking
A_LOOK: Final = 0.1
LONGEST_GAP: Final = 40.0  # seconds; a node whose lease is older counts as lost
DISK: Final = 16 * 2**20  # bytes of the agent's folder, where it can be a file system of its own
SPARE_MEMORY: Final = 2**16  # bytes of address space that are left when memory runs out
GROWTH: Final = 1.25
ROOM: Final = 12 * 2**20  # bytes that a process may grow by besides
ORPHANS: Final = "(setsid sleep 0.3 &); (sleep 0.2 &); sleep 0.5; exit 1"

Look = Callable[[], Awaitable[list[str]]]
"""Says what is wrong."""

COMMANDS: Final[dict[str, tuple[Sequence[str], str]]] = {
    "steady": (SLEEP, "Always"),
    "crash": (("sh", "-c", "echo once more; sleep 0.2; exit 3"), "Always"),
    "orphans": (("sh", "-c", ORPHANS), "Always"),
    "job": (("sh", "-c", "sleep 0.3"), "Never"),
    "failure": (("sh", "-c", "exit 4"), "Never"),
}
"""The pods' commands and restart policies, by what they are."""


@dataclass(slots=True)
class Soak:
    """What happened, and what was wrong at the end."""

    seed: int
    seconds: float
    harms: Counter[str] = field(default_factory=Counter)
    pods: int = 0
    lease_gap: float = 0.0
    memory: dict[str, list[int]] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    def summary(self) -> str:
        """What happened, in lines."""
        sizes = ", ".join(
            f"{who} {found[0] / 2**20:.0f} to {found[-1] / 2**20:.0f} MiB"
            for who, found in self.memory.items()
        )
        harms = ", ".join(f"{name} {times}" for name, times in self.harms.items())
        lines = [
            f"seed {self.seed}, {self.seconds:g} s, {self.pods} pods; ran out: {harms}",
            f"longest gap of the lease {self.lease_gap:.0f} s; {sizes}",
            *self.left_out,
        ]
        return "".join(f"{line}\n" for line in lines)


def on_small_disk(folder: Path) -> tuple[list[str], str]:
    """What starts a program for which *folder* is a small file system, or why that cannot be had.

    It is mounted for that program and its children alone: whatever kills a test run, no mount is
    left of it, which would keep every later run from clearing old folders away.
    """
    folder.mkdir(exist_ok=True)
    mount = f"mount -t tmpfs -o size={DISK} reflet-soak {shlex.quote(str(folder))}"
    on_disk = ["unshare", "--mount", "sh", "-c", f'{mount} && exec "$@"', "sh"]
    try:
        tried = subprocess.run([*on_disk, "true"], capture_output=True, text=True, check=False)
    except FileNotFoundError as error:
        return [], str(error)
    return ([], tried.stderr.strip()) if tried.returncode else (on_disk, "")


@contextmanager
def seen_by(pid: int, folder: Path) -> Iterator[Path]:
    """*folder* as a process has it mounted, even after that process has ended."""
    descriptor = os.open(f"/proc/{pid}/root{folder}", os.O_DIRECTORY | os.O_RDONLY)
    try:
        yield Path(f"/proc/self/fd/{descriptor}")
    finally:
        os.close(descriptor)


class NodeSoak:
    """One story."""

    def __init__(self, folder: Path, *, seed: int, seconds: float, most_pods: int = 8) -> None:
        self.story = Soak(seed, seconds)
        self._chance = random.Random(seed)
        self._folder = folder
        self._root = self._disk = folder / "node"
        self._most_pods = most_pods
        self._server = ServerProcess(folder)
        self._wanted: dict[str, str] = {}
        self._numbers = iter(range(10**9))

    async def tell(self) -> Soak:
        """Let it all happen, and look at what is left."""
        on_disk, why = on_small_disk(self._root)
        if why:
            self.story.left_out.append(f"the disk does not run out: {why}")
        self._has_disk = not why
        with contextlib.ExitStack() as held:
            held.callback(self._server.kill)
            self._server.start()
            await self._server.up()
            settings = settings_from(Overrides(kubeconfig=str(self._server.kubeconfig)))
            self._agent = AgentProcess(self._server.kubeconfig, self._folder)
            self._agent.command[:0] = on_disk
            self._agent.start()
            self._pid = self._agent.pid
            async with Cluster(dataclasses.replace(settings, qps=0)) as cluster:
                self._pods = cluster.resource(Pod, namespace="default")
                self._leases = cluster.resource(Lease, namespace="kube-node-lease")
                await cluster.resource("configmaps", namespace="default", raw=True).create(
                    config_map("settings", value="1")
                )
                try:
                    await self._until(self._is_up)
                    self._disk = held.enter_context(seen_by(self._pid, self._root))
                    await self._storm_and_calm()
                finally:
                    await asyncio.to_thread(self._end)
        return self.story

    def _end(self) -> None:
        """Tell the agent to stop, and end what it leaves."""
        shim = self._shim()
        try:
            code = self._agent.stop()
        except subprocess.TimeoutExpired:
            os.kill(self._pid, signal.SIGKILL)
            code = -signal.SIGKILL
        if code:
            self.story.wrong.append(f"the agent ended with {code}: {self._agent.said[-2000:]}")
        if self.story.wrong:
            self.story.wrong += self._traces()
        left = processes_below(self._folder)
        self.story.wrong += [f"process {pid} is left after the end" for pid in left]
        for pid in (*left, *(set(shims_of(self._root)) & {shim})):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def _traces(self) -> list[str]:
        """What the shim said and has on record: the disk that holds it goes with the story."""
        journal = self._disk / JOURNAL
        records = [
            f"{record.uid} {record.name} {record.state}, process {record.pid} "
            f"{entry.state if (entry := process_entry(record.pid or 0)) else 'is gone'}"
            for record in records_below(self._disk / "pods")
        ]
        said = journal.read_text(errors="replace") if journal.exists() else ""
        return [*records, f"the shim said: {said[-4000:]}"]

    async def _storm_and_calm(self) -> None:
        async with self._watching():
            deadline = time.monotonic() + self.story.seconds
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self._come_and_go(deadline))
                tasks.create_task(self._run_out(deadline))
            await self._until(self._all_as_their_spec_says, "not every pod became what it should")
            for name in tuple(self._wanted):
                await self._delete(name)
            await self._until(self._nothing_is_left, "not everything went")
        self.story.wrong += self._memory_grown()
        if self.story.lease_gap >= LONGEST_GAP:
            self.story.wrong.append(f"the lease was not renewed for {self.story.lease_gap:.0f} s")

    # Pods

    async def _come_and_go(self, deadline: float) -> None:
        while time.monotonic() < deadline:
            if self._wanted and (
                len(self._wanted) >= self._most_pods or self._chance.random() < 0.4
            ):
                await self._delete(self._chance.choice(tuple(self._wanted)))
            else:
                await self._create(self._chance.choice(tuple(COMMANDS)))
            await asyncio.sleep(self._chance.uniform(0.05, 0.5))

    async def _create(self, kind: str) -> None:
        name = f"{kind}-{next(self._numbers)}"
        command, policy = COMMANDS[kind]
        document = pod_document(
            name,
            command,
            container={"volumeMounts": [{"name": "conf", "mountPath": "/etc/app"}]},
            volumes=[{"name": "conf", "configMap": {"name": "settings"}}],
            restartPolicy=policy,
        )
        with contextlib.suppress(AlreadyExists):
            await self._pods.create(document)
        self._wanted[name] = kind
        self.story.pods += 1

    async def _delete(self, name: str) -> None:
        with contextlib.suppress(NotFound):
            await self._pods.delete(name)
        del self._wanted[name]

    # What runs out

    async def _run_out(self, deadline: float) -> None:
        harms: list[tuple[str, Callable[[], contextlib.AbstractContextManager[None]]]] = [
            ("descriptors of the agent", lambda: self._without_descriptors(self._agent.pid)),
            ("descriptors of the shim", lambda: self._without_descriptors(self._shim())),
            ("memory of the agent", lambda: self._without_memory(self._agent.pid)),
            ("memory of the shim", lambda: self._without_memory(self._shim())),
        ]
        if self._has_disk:
            harms.append(("disk", self._without_disk))
        while time.monotonic() < deadline:
            self._chance.shuffle(harms)
            for name, harm in harms:
                with harm():
                    self.story.harms[name] += 1
                    await asyncio.sleep(self._chance.uniform(0.3, 2.5))
                await asyncio.sleep(self._chance.uniform(0.1, 1.0))

    def _shim(self) -> int:
        return next(iter(shims_of(self._root)), 0)

    @contextmanager
    def _without_descriptors(self, pid: int) -> Iterator[None]:
        open_now = len(os.listdir(f"/proc/{pid}/fd")) if pid else 0  # noqa: PTH208 - how many
        with limited(pid, resource.RLIMIT_NOFILE, open_now + self._chance.randrange(3)):
            yield

    @contextmanager
    def _without_memory(self, pid: int) -> Iterator[None]:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[0]) if pid else 0
        size = pages * os.sysconf("SC_PAGE_SIZE") + self._chance.randrange(SPARE_MEMORY)
        with limited(pid, resource.RLIMIT_AS, size):
            yield

    @contextmanager
    def _without_disk(self) -> Iterator[None]:
        filler = self._disk / "filler"
        with contextlib.suppress(OSError), filler.open("wb", buffering=0) as file:
            while True:
                file.write(bytes(2**16))
        try:
            yield
        finally:
            filler.unlink(missing_ok=True)

    # Looking

    @asynccontextmanager
    async def _watching(self) -> AsyncIterator[None]:
        watching = asyncio.create_task(self._watch())
        try:
            yield
        finally:
            watching.cancel()
            await asyncio.wait((watching,))
        if not watching.cancelled():
            watching.result()

    async def _watch(self) -> None:
        """Note the lease and the memory, once a second."""
        renewed: datetime | None = None
        seen = time.monotonic()
        while True:
            found = (await self._leases.get(NODE)).spec.renew_time
            now = time.monotonic()
            if found != renewed:
                renewed, seen = found, now
            self.story.lease_gap = max(self.story.lease_gap, now - seen)
            for who, pid in (("agent", self._agent.pid), ("shim", self._shim())):
                with contextlib.suppress(FileNotFoundError):
                    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
                    size = pages * os.sysconf("SC_PAGE_SIZE")
                    self.story.memory.setdefault(who, []).append(size)
            await asyncio.sleep(1.0)

    def _memory_grown(self) -> list[str]:
        """Compare the second quarter, when everything is warm, with the last."""
        wrong = []
        for who, sizes in self.story.memory.items():
            quarter = max(1, len(sizes) // 4)
            early = statistics.median(sizes[quarter : 2 * quarter])
            late = statistics.median(sizes[-quarter:])
            if late > early * GROWTH + ROOM:
                wrong.append(f"the {who} grew from {early / 2**20:.0f} to {late / 2**20:.0f} MiB")
        return wrong

    async def _until(self, look: Look, otherwise: str = "") -> None:
        """Look until nothing is wrong any more; what still is then is noted."""
        deadline = Deadline(CALM)
        wrong = await look()
        while wrong and not deadline.passed:
            await asyncio.sleep(A_LOOK)
            wrong = await look()
        self.story.wrong += [f"{otherwise}: {each}" for each in wrong]

    async def _is_up(self) -> list[str]:
        try:
            await self._leases.get(NODE)
        except NotFound:
            return ["there is no lease"]
        return []

    async def _all_as_their_spec_says(self) -> list[str]:
        pods = {pod.metadata.name: pod for pod in (await self._pods.list()).items}
        wrong = [
            f"{name} is {pods[name].status.phase or 'new'}" if name in pods else f"{name} is lost"
            for name, kind in self._wanted.items()
            if name not in pods or not _is_as_specified(kind, pods[name])
        ]
        return wrong + [f"{name} should be gone" for name in pods.keys() - self._wanted.keys()]

    async def _nothing_is_left(self) -> list[str]:
        pods = (await self._pods.list()).items
        shim = self._shim()
        return [
            *(f"pod {pod.metadata.name}" for pod in pods),
            *(f"folder {path.name}" for path in (self._disk / "pods").iterdir()),
            *(f"process {pid}" for pid in processes_below(self._folder)),
            *(
                f"zombie {entry.pid}"
                for entry in process_entries()
                if entry.parent == shim and entry.has_ended
            ),
        ]


@contextmanager
def limited(pid: int, what: int, most: int) -> Iterator[None]:
    """Let a process have no more than *most* of something for a while."""
    try:
        soft, hard = resource.prlimit(pid, what)
        resource.prlimit(pid, what, (most, hard))
    except ProcessLookupError:
        yield  # it ended, and another one is on its way
        return
    try:
        yield
    finally:
        with contextlib.suppress(ProcessLookupError):
            resource.prlimit(pid, what, (soft, hard))


def _is_as_specified(kind: str, pod: Pod) -> bool:
    statuses = pod.status.container_statuses
    match kind:
        case "job":
            return pod.status.phase == "Succeeded"
        case "failure":
            return pod.status.phase == "Failed"
        case "steady":
            return is_running(pod)
        case _:
            return bool(statuses) and statuses[0].restart_count > 0
