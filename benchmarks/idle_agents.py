"""Node agents with running pods that nobody touches.

Owns: an agent in a process of its own, its pods and their objects.  Must not know what is counted
meanwhile.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

from benchmarks import wire_objects
from benchmarks.measuring import RunFailed
from benchmarks.node import cpu_of
from benchmarks.wire_clients import Target
from reflet.api.core.pods import Pod
from reflet.cluster import Cluster
from tests.node_chaos import shims_of
from tests.node_scenes import AgentProcess, is_running, pod_document

TIMEOUT: Final = 60.0  # seconds for all pods to run
AT_ONCE: Final = 16  # pods that are created at the same time
OBJECTS_OF_A_POD: Final = 5
IN_THE_ENVIRONMENT: Final = 2  # of them; the others are files


class IdleAgent:
    """An agent that looks after *pods* pods, all of which run.

    It talks to *target*; the pods are made by *administrator*, who takes another way.
    """

    def __init__(self, target: Target, administrator: Target, *, pods: int, folder: Path) -> None:
        self._name = f"idle-{pods}"
        folder = folder / self._name
        folder.mkdir()
        kubeconfig = folder / "kubeconfig"
        kubeconfig.touch(mode=0o600)
        kubeconfig.write_text(json.dumps(_kubeconfig(target)))
        self._agent = AgentProcess(
            kubeconfig,
            folder,
            *("--name", self._name, "--namespace", self._name, "--log-level", "warning"),
        )
        asyncio.run(self._prepare(administrator, pods))
        with ExitStack() as undo:
            self._agent.start()
            undo.callback(self.close)
            try:
                asyncio.run(self._all_running(administrator, pods))
            except TimeoutError:
                raise RunFailed(f"{self._agent.said}\nits pods did not all start") from None
            self._shims = shims_of(folder / "node")
            undo.pop_all()

    def ask(self) -> None:
        """Nothing to do: the kernel knows."""

    def cpu_seconds(self) -> float:
        """What the agent and its shim have used of the processor, without the containers."""
        try:
            return cpu_of(self._agent.pid) + self.shim_cpu_seconds()
        except FileNotFoundError:
            raise RunFailed(f"{self._agent.said}\nthe agent ended, or its shim") from None

    def shim_cpu_seconds(self) -> float:
        """The shim's part of that."""
        return sum(map(cpu_of, self._shims))

    def close(self) -> None:
        """End the agent and its containers."""
        self._agent.stop()

    async def _prepare(self, administrator: Target, pods: int) -> None:
        await wire_objects.create(administrator, self._name, pods * OBJECTS_OF_A_POD)
        numbers = iter(range(pods))
        async with Cluster(administrator.settings()) as cluster, asyncio.TaskGroup() as makers:
            resource = cluster.resource(Pod, namespace=self._name)

            async def make() -> None:
                for number in numbers:
                    await resource.create(self._document(number))

            for number in range(AT_ONCE):
                makers.create_task(make(), name=f"maker {number}")

    def _document(self, number: int) -> dict[str, Any]:
        first = number * OBJECTS_OF_A_POD
        names = [f"settings-{first + each:05}" for each in range(OBJECTS_OF_A_POD)]
        inside, files = names[:IN_THE_ENVIRONMENT], names[IN_THE_ENVIRONMENT:]
        return pod_document(
            f"pod-{number}",
            ("sleep", "100000"),
            container={
                "envFrom": [{"configMapRef": {"name": name}} for name in inside],
                "volumeMounts": [{"name": name, "mountPath": f"/etc/{name}"} for name in files],
            },
            volumes=[{"name": name, "configMap": {"name": name}} for name in files],
            nodeName=self._name,
        )

    async def _all_running(self, administrator: Target, pods: int) -> None:
        async with (
            asyncio.timeout(TIMEOUT),
            Cluster(administrator.settings()) as cluster,
            cluster.mirror(Pod, namespace=self._name) as mirror,
        ):
            await mirror.synced()
            with mirror.changes() as changes:
                while sum(map(is_running, mirror.values())) < pods:
                    await anext(changes)


def _kubeconfig(target: Target) -> Mapping[str, Any]:
    cluster = {"server": target.url, "certificate-authority": target.ca_file}
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "idle", "cluster": cluster}],
        "users": [{"name": "idle", "user": {"token": target.token}}],
        "contexts": [{"name": "idle", "context": {"cluster": "idle", "user": "idle"}}],
        "current-context": "idle",
    }
