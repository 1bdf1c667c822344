"""The node agent: how fresh files are, how fast pods start, what it costs, what it survives.

Owns: the measurements.  The agent and the development server run in processes
of their own, as people run them; this process writes objects, hears of files from the kernel and
reads the clock, which all processes of a machine share.  Must not know how the agent works or
what is promised (``node_tables``).

- freshness: each pod has a ConfigMap of its own; one write after the other to pods in turn.  A
  write counts as acknowledged when the server's answer has arrived here.  Measured to the rename
  that makes the new bytes visible, and to the first thing that the container does when it gets
  its signal.
- one for all: one ConfigMap in every pod; measured to the last of the files.
- start: pods with five objects each, from the first request to the last pod that the server shows
  as running, at three sizes.
- storm: kill -9 of agent, shim, server and containers at random, and what is left.
"""

from __future__ import annotations

import asyncio
import dataclasses
import os
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

from benchmarks.file_events import CLOSED, MOVED_TO, FileEvents
from benchmarks.measuring import Result, RunFailed, percentile, versions_of
from benchmarks.node_tables import broken_limits, fresh_table, growth, start_table, storm_table
from reflet.api.core.config import ConfigMap, Secret
from reflet.api.core.pods import Pod
from reflet.cluster import Cluster, settings_from
from reflet.transport.config.kubeconfig import Overrides
from tests.node_chaos import Chaos, ServerProcess, shims_of
from tests.node_scenes import AgentProcess, config_map, is_running, pod_document

TIMEOUT: Final = 240.0  # seconds for many pods to start
ONE_WRITE: Final = 10.0  # seconds for one write to arrive

HEARING: Final = (
    "sh",
    "-c",
    "trap 'echo > $REFLET_ROOT/heard/it' USR1; sleep 100000 & while :; do wait $!; done",
)


def run(*, quick: bool) -> Result:
    """Measure everything; the limits are those of the project's own promise."""
    counts = (1, 4, 16) if quick else (1, 50, 500)
    starts = (5, 10, 20) if quick else (50, 100, 200)
    writes = 40 if quick else 400
    fresh = {count: asyncio.run(freshness(count, writes)) for count in counts}
    started = {count: asyncio.run(start_many(count)) for count in starts}
    storm = asyncio.run(weather(10.0 if quick else 60.0))
    return Result(
        tables=(fresh_table(fresh), start_table(started), storm_table(storm)),
        figures={
            "freshness": {str(count): figures for count, figures in fresh.items()},
            "start": {str(count): figures for count, figures in started.items()},
            "storm": storm,
            "growth": growth(fresh, started),
        },
        versions=versions_of("reflet", "aiohttp", "msgspec"),
        broken_limits=broken_limits(fresh, started, storm),
    )


# Freshness


async def freshness(count: int, writes: int) -> dict[str, float]:
    """Milliseconds from an acknowledged write to the file and to the container's signal."""
    async with stage() as (cluster, folder, agent):
        names = [f"pod-{number}" for number in range(count)]
        await gathered(names, lambda name: make_hearing_pod(cluster, name))
        pods = await all_running(cluster, count)
        with FileEvents() as events:
            watcher = Watcher(events, folder, pods)
            await asyncio.sleep(2.0)  # what the start has stirred up settles
            single = [
                await watcher.one_write(cluster, names[number % count], f"edit {number}")
                for number in range(writes)
            ]
            shared = [
                await watcher.write_for_all(cluster, f"common {number}")
                for number in range(max(5, writes // 20))
            ]
        figures = {
            **_figures("file", [each[0] for each in single]),
            **_figures("signal", [each[1] for each in single]),
            **_figures("last_file", shared),
        }
        figures["agent_bytes"] = resident(agent.pid)
        figures["shim_bytes"] = resident(*shims_of(folder / "node"))
        return figures


class Watcher:
    """Hears of the files of pods."""

    def __init__(self, events: FileEvents, folder: Path, pods: Sequence[Pod]) -> None:
        self._events = events
        self._roots: dict[str, Path] = {}
        self._what: dict[Path, tuple[str, str]] = {}
        for pod in pods:
            name, uid = pod.metadata.name, pod.metadata.uid
            volumes = folder / "node" / "pods" / uid / "volumes"
            own = volumes / "kubernetes.io~configmap" / "own"
            common = volumes / "kubernetes.io~configmap" / "common"
            heard = volumes / "kubernetes.io~empty-dir" / "heard"
            for what, path, kinds in (
                ("file", own, MOVED_TO),
                ("common", common, MOVED_TO),
                ("signal", heard, CLOSED),
            ):
                events.watch(path, kinds)
                self._what[path] = (what, name)
        self._count = len(pods)

    async def one_write(self, cluster: Cluster, name: str, value: str) -> tuple[float, float]:
        """Write one pod's object; milliseconds to its file and to its signal."""
        acknowledged = await self._write(cluster, name, value)
        moments = await self._until({("file", name), ("signal", name)})
        file, signal = moments["file", name], moments["signal", name]
        return (file - acknowledged) * 1000, (signal - acknowledged) * 1000

    async def write_for_all(self, cluster: Cluster, value: str) -> float:
        """Write the object that all have; milliseconds to the last of the files."""
        acknowledged = await self._write(cluster, "common", value)
        names = {name for what, name in self._what.values() if what == "common"}
        moments = await self._until({("common", name) for name in names})
        await asyncio.sleep(0.2)  # the signals that follow are another matter
        self._drain()
        return (max(moments.values()) - acknowledged) * 1000

    async def _write(self, cluster: Cluster, name: str, value: str) -> float:
        self._drain()
        maps = cluster.resource(ConfigMap, namespace="default")
        await maps.patch(name, {"data": {"value": value}})
        return time.monotonic()

    def _drain(self) -> None:
        for _ in self._events.take():
            pass

    async def _until(self, wanted: set[tuple[str, str]]) -> dict[tuple[str, str], float]:
        """Wait for these, without letting this process's own work delay the reading of clocks."""
        loop = asyncio.get_running_loop()
        arrived: dict[tuple[str, str], float] = {}
        done = loop.create_future()

        def read() -> None:
            now = time.monotonic()
            for folder, name in self._events.take():
                what = self._what[folder]
                if what[0] == "signal" or name == "..data":
                    arrived.setdefault(what, now)
            if wanted <= arrived.keys() and not done.done():
                done.set_result(None)

        loop.add_reader(self._events.descriptor, read)
        try:
            async with asyncio.timeout(ONE_WRITE):
                read()
                await done
        except TimeoutError:
            missing = sorted(wanted - arrived.keys())[:3]
            raise RunFailed(f"{missing} did not happen within {ONE_WRITE:g} s") from None
        finally:
            loop.remove_reader(self._events.descriptor)
        return arrived


async def make_hearing_pod(cluster: Cluster, name: str) -> None:
    """A pod that does something the moment that it hears of a change."""
    maps = cluster.resource(ConfigMap, namespace="default")
    await maps.create(config_map(name, value="begin"))
    mounts = [
        {"name": "own", "mountPath": "/etc/own"},
        {"name": "common", "mountPath": "/etc/common"},
        {"name": "heard", "mountPath": "/heard"},
    ]
    document = pod_document(
        name,
        HEARING,
        metadata={"annotations": {"reflet.dev/on-change": "signal:USR1"}},
        container={"volumeMounts": mounts},
        volumes=[
            {"name": "own", "configMap": {"name": name}},
            {"name": "common", "configMap": {"name": "common"}},
            {"name": "heard", "emptyDir": {}},
        ],
    )
    await cluster.resource(Pod, namespace="default").create(document)


# Starting many


async def start_many(count: int) -> dict[str, float]:
    """Seconds until pods with five objects each run, and what the agent then costs."""
    async with stage() as (cluster, folder, agent):
        names = [f"pod-{number}" for number in range(count)]
        await gathered(names, lambda name: make_objects(cluster, name))
        began = time.monotonic()
        await gathered(names, lambda name: make_pod(cluster, name))
        created = time.monotonic() - began
        await all_running(cluster, count)
        return {
            "created_s": created,
            "running_s": time.monotonic() - began,
            "agent_bytes": resident(agent.pid),
            "shim_bytes": resident(*shims_of(folder / "node")),
            "agent_cpu_s": cpu_of(agent.pid),
        }


async def make_objects(cluster: Cluster, name: str) -> None:
    maps = cluster.resource(ConfigMap, namespace="default")
    secrets = cluster.resource(Secret, namespace="default")
    for number in range(3):
        await maps.create(config_map(f"{name}-{number}", value="x" * 500))
    for number in range(2):
        secret = {**config_map(f"{name}-{number}"), "kind": "Secret", "data": {"key": "eA=="}}
        await secrets.create(secret)


async def make_pod(cluster: Cluster, name: str) -> None:
    document = pod_document(
        name,
        ("sleep", "100000"),
        container={
            "envFrom": [
                {"configMapRef": {"name": f"{name}-0"}},
                {"secretRef": {"name": f"{name}-0"}},
            ]
        },
        volumes=[
            {"name": "one", "configMap": {"name": f"{name}-1"}},
            {"name": "two", "configMap": {"name": f"{name}-2"}},
            {"name": "key", "secret": {"secretName": f"{name}-1"}},
        ],
    )
    await cluster.resource(Pod, namespace="default").create(document)


# A storm


async def weather(seconds: float) -> dict[str, Any]:
    """Kill everything at random, and look at what is left."""
    with tempfile.TemporaryDirectory(prefix="reflet-storm-") as folder:
        story = await Chaos(Path(folder), seed=1, seconds=seconds, pods=12).tell()
    return {
        "seconds": seconds,
        "seed": story.seed,
        "killed": dict(story.killed),
        "edits": story.edits,
        "replaced": story.replaced,
        "calm_after_s": story.calm_after,
        "wrong": story.wrong,
    }


# The stage


@asynccontextmanager
async def stage() -> AsyncIterator[tuple[Cluster, Path, AgentProcess]]:
    """A server and an agent, each in a process of its own."""
    with tempfile.TemporaryDirectory(prefix="reflet-node-") as name:
        folder = Path(name)
        server = ServerProcess(folder)
        server.start()
        try:
            await server.up()
            agent = AgentProcess(server.kubeconfig, folder, "--log-level", "warning")
            settings = settings_from(Overrides(kubeconfig=str(server.kubeconfig)))
            async with Cluster(dataclasses.replace(settings, qps=0)) as cluster:
                maps = cluster.resource(ConfigMap, namespace="default")
                await maps.create(config_map("common", value="begin"))
                agent.start()
                try:
                    yield cluster, folder, agent
                finally:
                    agent.stop()
        finally:
            server.kill()


async def gathered(names: Sequence[str], make: Callable[[str], Any]) -> None:
    """Make things for all names, some at a time."""
    limit = asyncio.Semaphore(16)

    async def one(name: str) -> None:
        async with limit:
            await make(name)

    async with asyncio.TaskGroup() as tasks:
        for name in names:
            tasks.create_task(one(name))


async def all_running(cluster: Cluster, count: int) -> Sequence[Pod]:
    """Return the pods when all of them run, heard from a watch and not by asking."""
    async with (
        asyncio.timeout(TIMEOUT),
        cluster.mirror(Pod, namespace="default") as mirror,
    ):
        with mirror.changes() as changes:
            async for _ in changes:
                running = [pod for pod in mirror.values() if is_running(pod)]
                if len(running) == count:
                    return running
    raise RunFailed("the pods did not all start")


def resident(*pids: int) -> float:
    """The memory of processes that is in RAM."""
    pages = sum(int(Path(f"/proc/{pid}/statm").read_text().split()[1]) for pid in pids)
    return float(pages * os.sysconf("SC_PAGE_SIZE"))


def cpu_of(pid: int) -> float:
    """The CPU time of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _figures(name: str, values: Sequence[float]) -> dict[str, float]:
    return {
        f"{name}_p50_ms": percentile(values, 0.5),
        f"{name}_p99_ms": percentile(values, 0.99),
        f"{name}_worst_ms": max(values),
    }
