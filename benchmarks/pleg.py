"""The pod lifecycle event generator on real containers: what it costs at rest, how soon it knows.

Owns: the measurements, on containerd and runc.  Must not know what is shown (``pleg_tables``), nor
how our cache is fed (``pleg_work``).

- at rest: CPU of the agent, and of containerd for its sake, while nothing happens to the pods.
- a death: the process of one container after another is killed, at no moment that a period could
  agree with.  Measured to the status cache, in a program that has only that; and to the API
  server, on a whole node: until a client that watches has the container's end.

The kubelet beside it is the real one, on the same machine, API server and runtime, by relist, which
is its default, and with its feature gate ``EventedPLEG``.
"""

from __future__ import annotations

import asyncio
import dataclasses
import os
import random
import signal
import tempfile
import time
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from benchmarks.measuring import Child, Result, percentile, versions_of
from benchmarks.mirror_goals import missed
from benchmarks.node import all_running, cpu_of, gathered, resident
from benchmarks.pleg_tables import goals, tables
from reflet.api.core.pods import Pod
from reflet.cluster import Cluster, settings_from
from reflet.cri.cri_client import CriClient
from reflet.cri.messages import containers, images, sandboxes
from reflet.transport.config.kubeconfig import Overrides
from tests.containers.containerd import BUSYBOX, Containerd, ContainerdFailed
from tests.containers.nodes import Kubelet, RefletNode
from tests.containers.programs import MachineUnable, ProgramsMissing
from tests.node_scenes import is_running
from tests.real.binaries import BinariesMissing
from tests.real.kube_server import KubeServer

NODE: Final = "worker-1"
ONE_DEATH: Final = 30.0  # seconds for a death to be known
PACE: Final = (
    1.0  # seconds between deaths at most: the relist's period, so every phase of it is hit
)
SETTLE: Final = 5.0  # seconds that what the start has stirred up may take

NODES: Final = ("kubelet, relist", "kubelet, events", "reflet node, events")
KUBELET_FLAGS: Final = {"relist": (), "events": ("--feature-gates=EventedPLEG=true",)}
OUR_FLAGS: Final = {"events": ("--log-level=warning",)}  # it relists only where there are no events
CACHES: Final = ("status cache alone, relist", "status cache alone, events")


def run(*, quick: bool) -> Result:
    """Measure everything that can be measured here."""
    size = Size(10, 5, 5.0) if quick else Size(110, 40, 60.0)
    left_out: dict[str, str] = {}
    nodes = {who: found for who in NODES if (found := measured(who, on_a_node, size, left_out))}
    caches = {
        who: found for who in CACHES if (found := measured(who, in_the_cache, size, left_out))
    }
    return Result(
        tables=tables(size.pods, nodes, caches, left_out),
        figures={"pods": size.pods, "nodes": nodes, "caches": caches, "left_out": left_out},
        versions=versions_of("reflet", "msgspec"),
        missed_goals=missed(goals(nodes, caches)),
    )


@dataclass(frozen=True, slots=True)
class Size:
    """How many pods there are, how many of them die, and how many seconds nothing happens."""

    pods: int
    deaths: int
    rest: float


def measured(
    who: str,
    measure: Callable[[str, Size], Coroutine[Any, Any, dict[str, float]]],
    size: Size,
    left_out: dict[str, str],
) -> dict[str, float] | None:
    """Measure one of them, or note why it cannot be measured here."""
    try:
        return asyncio.run(measure(who, size))
    except (BinariesMissing, ProgramsMissing, MachineUnable, ContainerdFailed) as error:
        left_out[who] = str(error).splitlines()[0]  # below it are lines of a log
        return None


# On a whole node


async def on_a_node(who: str, size: Size) -> dict[str, float]:
    """CPU a minute at rest, memory, and milliseconds from deaths to whoever watches the pods."""
    with KubeServer() as kube, Containerd() as runtime, tempfile.TemporaryDirectory() as folder:
        kubeconfig = kube.write_kubeconfig(Path(folder, "config"))
        settings = settings_from(Overrides(kubeconfig=str(kubeconfig)))
        with node(who, kube, runtime) as process:
            async with Cluster(dataclasses.replace(settings, qps=0)) as cluster:
                names = [f"pod-{number}" for number in range(size.pods)]
                await gathered(names, lambda name: create_pod(cluster, name))
                pods = await all_running(cluster, size.pods)
                figures = await resting(process, runtime, size.rest)
                latencies = await deaths_to_the_server(cluster, runtime, pods[: size.deaths])
        return {**figures, **summed_up(latencies)}


async def deaths_to_the_server(
    cluster: Cluster, runtime: Containerd, pods: Sequence[Pod]
) -> list[float]:
    """Kill one pod's container after the other; milliseconds until a watch shows its end."""
    processes = processes_of(runtime)
    latencies = []
    async with cluster.mirror(Pod, namespace="default") as mirror:
        for pod in pods:
            container = (pod.status.container_statuses or ())[0].container_id
            with mirror.changes() as changes:
                killed = kill(processes[container.removeprefix("containerd://")])
                async with asyncio.timeout(ONE_DEATH):
                    async for _ in changes:
                        known = mirror.get(pod.metadata.name)
                        if known is not None and not is_running(known):
                            break
                latencies.append((time.monotonic() - killed) * 1000)
            await asyncio.sleep(random.random() * PACE)
    return latencies


@contextmanager
def node(who: str, kube: KubeServer, runtime: Containerd) -> Iterator[int]:
    """Run a node for the length of the block; its process id."""
    agent, _, mode = who.partition(", ")
    kind, flags = (Kubelet, KUBELET_FLAGS) if agent == "kubelet" else (RefletNode, OUR_FLAGS)
    with kind(kube, runtime, name=NODE, flags=flags[mode]) as started:
        yield started.process


async def create_pod(cluster: Cluster, name: str) -> None:
    """Create a pod that does nothing, and is not started again when it ends."""
    container = {"name": "main", "image": BUSYBOX, "command": ["sleep", "100000"]}
    spec = {"nodeName": NODE, "restartPolicy": "Never", "containers": [container]}
    body = {"metadata": {"name": name}, "spec": {**spec, "terminationGracePeriodSeconds": 0}}
    await cluster.resource(Pod, namespace="default").create(body)


# In the status cache alone


async def in_the_cache(who: str, size: Size) -> dict[str, float]:
    """CPU a minute at rest, memory, and milliseconds from deaths to the cache."""
    with Containerd() as runtime:
        ids = await containers_without_a_node(runtime, size.pods)
        mode = who.rpartition(", ")[2]
        task = {"mode": mode, "pods": size.pods, "endpoint": runtime.endpoint}
        with Child("benchmarks.pleg_work", task) as child:
            process = int(child.hear(ONE_DEATH)["process"])
            figures = await resting(process, runtime, size.rest)
            processes = processes_of(runtime)
            latencies = []
            for container in ids[: size.deaths]:
                killed = kill(processes[container])
                while (said := child.hear(ONE_DEATH))["ended"] != container:
                    pass
                latencies.append((said["at"] - killed) * 1000)
                await asyncio.sleep(random.random() * PACE)
    return {**figures, **summed_up(latencies)}


async def containers_without_a_node(runtime: Containerd, count: int) -> list[str]:
    """Start containers as a kubelet would, labels and all; their ids."""
    async with CriClient(runtime.endpoint) as cri:
        ids: list[str] = []

        async def start(name: str) -> None:
            labels = {
                "io.kubernetes.pod.name": name,
                "io.kubernetes.pod.namespace": "default",
                "io.kubernetes.pod.uid": name,
            }
            sandbox = sandboxes.PodSandboxConfig(
                metadata=sandboxes.PodSandboxMetadata(name=name, uid=name, namespace="default"),
                labels=labels,
                log_directory=f"{runtime.folder}/logs/{name}",
            )
            sandbox_id = await cri.runtime.run_pod_sandbox(sandbox)
            container = containers.ContainerConfig(
                metadata=containers.ContainerMetadata(name="main"),
                image=images.ImageSpec(image=BUSYBOX),
                command=("sleep", "100000"),
                labels={**labels, "io.kubernetes.container.name": "main"},
                log_path="main.log",
            )
            container_id = await cri.runtime.create_container(sandbox_id, container, sandbox)
            await cri.runtime.start_container(container_id)
            ids.append(container_id)

        await gathered([f"pod-{number}" for number in range(count)], start)
        return ids


# Both


async def resting(process: int, runtime: Containerd, rest: float) -> dict[str, float]:
    """CPU seconds a minute of an agent and of its runtime, while nothing happens."""
    await asyncio.sleep(SETTLE)
    before = cpu_of(process), cpu_of(runtime.process)
    await asyncio.sleep(rest)
    agent, daemon = cpu_of(process) - before[0], cpu_of(runtime.process) - before[1]
    return {
        "agent_cpu_s_per_minute": agent * 60 / rest,
        "runtime_cpu_s_per_minute": daemon * 60 / rest,
        "agent_bytes": resident(process),
    }


def processes_of(runtime: Containerd) -> dict[str, int]:
    """The process of each container, by the container's id."""
    lines = (line.split() for line in runtime.ctr("tasks", "list").splitlines()[1:])
    return {container: int(process) for container, process, *_ in lines}


def kill(process: int) -> float:
    """Kill a process; the moment before."""
    began = time.monotonic()
    os.kill(process, signal.SIGKILL)
    return began


def summed_up(latencies: Sequence[float]) -> dict[str, float]:
    """The figures of many deaths."""
    return {
        "death_p50_ms": percentile(latencies, 0.5),
        "death_p99_ms": percentile(latencies, 0.99),
        "death_worst_ms": max(latencies),
    }
