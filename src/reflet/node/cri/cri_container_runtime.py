"""The container runtime of this node, by CRI: sandboxes and containers of this agent's pods.

What is running is asked of the runtime, so that an agent that comes back knows it; only addresses
and files are kept here.  Pods of others on the same runtime are neither seen nor touched: see
``agents_pods``.

Upstream: pkg/kubelet/kuberuntime/kuberuntime_manager.go, kuberuntime_sandbox.go,
kuberuntime_container.go (killContainer, RunInContainer)
"""

from __future__ import annotations

import asyncio
import json
import math
import os
import shutil
import signal
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from reflet.api.core.containers import Container
from reflet.api.core.pods import Pod
from reflet.cri.conversions import CONTAINER_STATES
from reflet.cri.messages import containers as cri
from reflet.cri.messages.sandboxes import (
    DNSConfig,
    PodSandbox,
    PodSandboxConfig,
    PodSandboxFilter,
    PodSandboxState,
    PodSandboxStateValue,
)
from reflet.errors import RefletError, RpcDeadlineExceeded, RpcNotFound
from reflet.node.container_runtime import DEFAULT_GRACE, Sandbox
from reflet.node.cri import runtime_labels as labels
from reflet.node.cri.agents_pods import OwnedPods
from reflet.node.cri.container_configs import fingerprint_of, log_path
from reflet.node.cri.pod_dns import ClusterDns, pod_dns
from reflet.node.cri.runtime_classes import RuntimeClasses
from reflet.node.cri.runtime_health import RuntimeHealth
from reflet.node.cri.sandbox_configs import sandbox_config
from reflet.node.cri.sub_path_mounts import SubPathMounts
from reflet.node.pod_folders import PodFolders
from reflet.node.shim.protocol import Executed
from reflet.pleg.runtime_status import (
    EventedRuntime,
    RuntimeEvent,
    RuntimePod,
    RuntimeState,
    RuntimeStatus,
)
from reflet.volumes.pod_directories import PodDirectories

LONGEST_OUTPUT: Final = 10 * 1024  # bytes of a command's output that are kept


class NoSandbox(RefletError):
    """A pod has no sandbox to start a container in: it ended meanwhile."""


@dataclass(frozen=True, slots=True)
class LiveSandbox:
    """A sandbox that containers can be started in, and what it was made of."""

    id: str
    config: PodSandboxConfig
    addresses: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CriLife:
    """One life of a container, for those who read its log."""

    id: str
    uid: str
    name: str
    state: RuntimeState
    log: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeNetwork:
    """What pods get of this node's network: *addresses* are the node's, *dns* what it asks."""

    addresses: Callable[[], tuple[str, ...]]
    dns: Callable[[], DNSConfig]
    cluster: ClusterDns


class CriContainerRuntime:
    """The pods of *owned* on a runtime; *pods* says what they are doing.

    *scheme* is the runtime's name.  *logs* is the folder of all logs.
    """

    def __init__(
        self,
        owned: OwnedPods,
        pods: EventedRuntime,
        directories: PodDirectories,
        folders: PodFolders,
        *,
        scheme: str,
        health: RuntimeHealth,
        network: NodeNetwork,
        handlers: RuntimeClasses,
        logs: Path,
    ) -> None:
        self.scheme = scheme
        self._owned = owned
        self._service = owned.service
        self._pods = pods
        self._directories = directories
        self._folders = folders
        self._health = health
        self._network = network
        self._handlers = handlers
        self._logs = logs
        self._mounts = SubPathMounts(directories)
        self._addresses: dict[str, tuple[str, ...]] = {}
        self._on_host: set[str] = set()
        self.on_removed: Callable[[str], None] = lambda _: None

    # Pods

    async def load(self) -> tuple[Sandbox, ...]:
        """Find out which pods an earlier life of the agent left, here or in the runtime."""
        self._folders.load()
        graces: dict[str, int] = {}
        for container in await self._owned.list_containers():
            grace = labels.grace_in(container.annotations)
            if grace is not None:
                graces[container.labels.get(labels.POD_UID, "")] = grace
        for found in await self._owned.list_pod_sandbox():
            if found.metadata is not None:
                self._folders.remember(
                    Sandbox(
                        uid=found.metadata.uid,
                        name=found.metadata.name,
                        namespace=found.metadata.namespace,
                        created_at=found.created_at / 1e9,
                        grace=graces.get(found.metadata.uid, DEFAULT_GRACE),
                    )
                )
        return self.sandboxes

    @property
    def sandboxes(self) -> tuple[Sandbox, ...]:
        """Every pod that has a folder here, or had a sandbox when the agent began."""
        return self._folders.sandboxes

    def problem(self) -> str | None:
        """Why the runtime is not ready, in the kubelet's words."""
        return self._health.problem()

    def network_problem(self) -> str | None:
        """Why the network is not ready, in the kubelet's words."""
        return self._health.network_problem

    async def up(self) -> None:
        """Return when the runtime answers."""
        await self._service.version()

    def addresses(self, uid: str) -> tuple[str, ...]:
        """The addresses of a pod; none while it has none."""
        if uid in self._on_host:
            return self._network.addresses()
        return self._addresses.get(uid, ())

    async def list_pods(self) -> Sequence[RuntimePod]:
        """Return every pod of this agent that has a container or sandbox."""
        return await self._pods.list_pods()

    async def find_pod(self, uid: str, /) -> RuntimePod | None:
        """Return one pod as ``list_pods`` would, None when it would not."""
        return await self._pods.find_pod(uid)

    async def pod_status(self, pod: RuntimePod, /) -> RuntimeStatus:
        """Return everything about one pod."""
        status = await self._pods.pod_status(pod)
        if status.ips:
            self._addresses[pod.uid] = status.ips
        return status

    def events(self) -> AbstractAsyncContextManager[AsyncIterator[RuntimeEvent]]:
        """What happens from now on, to any pod of this agent."""
        return self._pods.events()

    async def remove_pod(self, uid: str) -> tuple[str, ...]:
        """Remove everything of a pod whose containers have ended; what was kept, and why."""
        found = await self._sandboxes_of(uid)
        for sandbox in found:
            await self._service.stop_pod_sandbox(sandbox.id)
            await self._service.remove_pod_sandbox(sandbox.id)
        await asyncio.to_thread(self._mounts.remove, uid)
        kept = await asyncio.to_thread(self._directories.tear_down, uid)
        remembered = self._folders.find(uid)
        if remembered is not None:
            place = f"{remembered.namespace}_{remembered.name}_{uid}"
            await asyncio.to_thread(shutil.rmtree, self._logs / place, ignore_errors=True)
        self._folders.forget(uid)
        self._addresses.pop(uid, None)
        self._on_host.discard(uid)
        self.on_removed(uid)
        return tuple(map(str, kept))

    # Sandboxes

    def make_sandbox(self, pod: Pod, *, group: int | None = None) -> None:
        """Make a pod's folder, if it has none."""
        if pod.spec.host_network:
            self._on_host.add(pod.metadata.uid)
        self._folders.make(pod, group=group)

    async def run_sandbox(self, pod: Pod) -> bool:
        """Start the next sandbox of a pod."""
        found = await self._sandboxes_of(pod.metadata.uid)
        attempts = [each.metadata.attempt for each in found if each.metadata is not None]
        attempt = max(attempts) + 1 if attempts else 0
        config = self._config(pod, attempt)
        await asyncio.to_thread(os.makedirs, config.log_directory, mode=0o755, exist_ok=True)
        handler = await self._handlers.handler_of(pod)
        await self._service.run_pod_sandbox(config, runtime_handler=handler)
        await self.live_sandbox(pod)
        return True

    async def live_sandbox(self, pod: Pod) -> LiveSandbox:
        """The sandbox that the pod's containers are in; raises NoSandbox."""
        uid = pod.metadata.uid
        ready = await self._sandboxes_of(uid, PodSandboxState.READY)
        if not ready or ready[0].metadata is None:
            raise NoSandbox(f"the sandbox of pod {pod.metadata.name} has ended")
        status = (await self._service.pod_sandbox_status(ready[0].id)).status
        addresses: tuple[str, ...] = ()
        if status is not None and status.network is not None and status.network.ip:
            more = tuple(each.ip for each in status.network.additional_ips)
            addresses = (status.network.ip, *more)
        self._addresses[uid] = addresses
        config = self._config(pod, ready[0].metadata.attempt)
        return LiveSandbox(ready[0].id, config, self.addresses(uid))

    async def sandbox_id(self, uid: str) -> str | None:
        """The sandbox of a pod that runs, if it does."""
        ready = await self._sandboxes_of(uid, PodSandboxState.READY)
        return ready[0].id if ready else None

    async def stop_sandbox(self, uid: str) -> None:
        """Stop what holds the pod's containers together."""
        for sandbox in await self._sandboxes_of(uid, PodSandboxState.READY):
            await self._service.stop_pod_sandbox(sandbox.id)
        await asyncio.to_thread(self._mounts.remove, uid)

    async def _sandboxes_of(
        self, uid: str, state: PodSandboxState | None = None
    ) -> list[PodSandbox]:
        """The sandboxes of a pod, the newest first."""
        wanted = None if state is None else PodSandboxStateValue(state=state)
        found = await self._owned.list_pod_sandbox(
            PodSandboxFilter(state=wanted, label_selector={labels.POD_UID: uid})
        )
        return sorted(found, key=lambda each: each.created_at, reverse=True)

    def _config(self, pod: Pod, attempt: int) -> PodSandboxConfig:
        cluster = self._network.cluster
        return sandbox_config(
            pod,
            node=self._owned.node,
            attempt=attempt,
            dns=pod_dns(pod, self._network.dns(), cluster),
            domain=cluster.domain,
            logs=self._logs,
        )

    # Containers

    async def end(self, container: str, grace: float) -> None:
        """End a container, by force after *grace* seconds; harmless when it is gone."""
        try:
            await self._service.stop_container(container, grace=math.ceil(grace))
        except RpcNotFound:
            return

    async def signal(self, container: str, number: int) -> bool:
        """Send a signal to a container's first process, which CRI itself cannot."""
        pid = await self._pid_of(container)
        if pid is None or not hasattr(os, "pidfd_open"):
            return False
        try:
            process = os.pidfd_open(pid)
        except OSError:
            return False
        try:
            # Asked again: between question and answer the number may have become another's.
            if await self._pid_of(container) != pid or not hasattr(signal, "pidfd_send_signal"):
                return False
            signal.pidfd_send_signal(process, number)
        except OSError:
            return False
        finally:
            os.close(process)
        return True

    async def _pid_of(self, container: str) -> int | None:
        try:
            answer = await self._service.container_status(container, verbose=True)
        except RpcNotFound:
            return None
        if answer.status is None or answer.status.state is not cri.ContainerState.RUNNING:
            return None
        try:
            pid = json.loads(answer.info.get("info", "{}")).get("pid")
        except ValueError:
            return None
        return pid if isinstance(pid, int) and pid > 0 else None

    async def execute(
        self, container: str, arguments: Sequence[str], *, timeout: float
    ) -> Executed:
        """Run a command inside a container; it is killed after *timeout* seconds."""
        try:
            answer = await self._service.exec_sync(
                container, arguments, timeout=max(1, math.ceil(timeout))
            )
        except RpcDeadlineExceeded:
            return Executed(None)
        output = (answer.stdout + answer.stderr)[:LONGEST_OUTPUT]
        return Executed(answer.exit_code, output.decode(errors="replace"))

    def fingerprint(self, container: Container) -> str:
        """What a container would be made from now."""
        return fingerprint_of(container)

    async def fingerprints(self, uid: str) -> dict[str, str]:
        """What the newest life of each container was made from."""
        found: dict[str, str] = {}
        for each in await self._containers_of(uid):
            name = each.labels.get(labels.CONTAINER_NAME, "")
            found.setdefault(name, each.annotations.get(labels.HASH, ""))
        return found

    async def records(self, uid: str) -> list[CriLife]:
        """The lives of a pod's containers, the newest first."""
        lives: list[CriLife] = []
        for each in await self._containers_of(uid):
            told = each.labels
            place = f"{told.get(labels.POD_NAMESPACE)}_{told.get(labels.POD_NAME)}_{uid}"
            name = told.get(labels.CONTAINER_NAME, "")
            attempt = 0 if each.metadata is None else each.metadata.attempt
            log = self._logs / place / log_path(name, attempt)
            state = CONTAINER_STATES.get(each.state, RuntimeState.UNKNOWN)
            lives.append(CriLife(each.id, uid, name, state, log))
        return lives

    async def _containers_of(self, uid: str) -> list[cri.Container]:
        found = await self._owned.list_containers(
            cri.ContainerFilter(label_selector={labels.POD_UID: uid})
        )
        return sorted(found, key=lambda each: each.created_at, reverse=True)
