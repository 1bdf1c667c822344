"""The container runtime of this node, where a container is a process: ``PodRuntime`` over the shim.

The sandbox of a pod is its folder.  Two lives of each container are kept, for ``logs --previous``.

Upstream: pkg/kubelet/kuberuntime/kuberuntime_manager.go, GetPods, GetPodStatus
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from reflet.api.codec import encode
from reflet.api.core.containers import Container
from reflet.api.core.pods import Pod
from reflet.node.container_runtime import Sandbox
from reflet.node.pod_folders import PodFolders
from reflet.node.shim.container_records import KEPT_LIVES, ContainerRecord
from reflet.node.shim.protocol import ContainerList, ExecStream, Executed, StartContainer
from reflet.node.shim.shim_client import ShimClient
from reflet.node.status.container_statuses import SCHEME
from reflet.pleg.runtime_status import (
    RuntimeContainer,
    RuntimePod,
    RuntimeSandbox,
    RuntimeState,
    RuntimeStatus,
)
from reflet.processes.container_plan import ContainerRoot
from reflet.runtime.clock import Clock, SystemClock
from reflet.volumes.pod_directories import PodDirectories

ID_BYTES: Final = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """A container to start; neither arguments nor environment are shown.

    With a *root*, it gets namespaces of its own.
    """

    container: str
    arguments: tuple[str, ...] = field(repr=False)
    environment: dict[str, str] = field(repr=False)
    directory: str = ""
    user: int | None = None
    group: int | None = None
    groups: tuple[int, ...] | None = None
    capabilities: tuple[int, ...] | None = None
    root: ContainerRoot | None = None
    fingerprint: str = ""
    image: str = ""
    message_policy: str = ""
    stdin: bool = False
    stdin_once: bool = False


class ProcessRuntime:
    """The pods in *directories*, whose containers *shim* has.

    *addresses* are the pods' own: those of this machine, since processes share its network.
    """

    def __init__(
        self,
        directories: PodDirectories,
        shim: ShimClient,
        *,
        addresses: Callable[[], tuple[str, ...]] = tuple,
        clock: Clock | None = None,
    ) -> None:
        self._directories = directories
        self._shim = shim
        self._addresses = addresses
        self._clock = clock or SystemClock()
        self._remembered = PodFolders(directories, clock=self._clock)
        # What the pods were made of that were listed last.
        self._seen: tuple[ContainerList, tuple[Sandbox, ...]] = (ContainerList(), ())
        self._pods: list[RuntimePod] = []

    # Sandboxes

    scheme: Final = SCHEME

    def load(self) -> tuple[Sandbox, ...]:
        """Read which pods an earlier life of the agent left."""
        return self._remembered.load()

    @property
    def sandboxes(self) -> tuple[Sandbox, ...]:
        """Every pod that has a folder here."""
        return self._remembered.sandboxes

    def problem(self) -> str | None:
        """Why the shim cannot be asked now."""
        return None if self._shim.is_connected else "the shim is away"

    def network_problem(self) -> None:
        """Processes have the network of the machine."""

    async def up(self) -> None:
        """Return when the shim can be asked; ShimUnavailable when that takes too long."""
        await self._shim.up()

    def addresses(self, _uid: str) -> tuple[str, ...]:
        """The addresses of a pod, which are those of the machine."""
        return self._addresses()

    def make_sandbox(self, pod: Pod, *, group: int | None = None) -> None:
        """Make a pod's folder, if it has none; members of *group* may enter."""
        self._remembered.make(pod, group=group)

    async def run_sandbox(self, _pod: Pod) -> bool:
        """Nothing is to be done: the folder of a pod is its sandbox."""
        return False

    async def stop_sandbox(self, _uid: str) -> None:
        """Nothing is to be done: processes are held together by nothing that could be stopped."""

    async def remove_pod(self, uid: str) -> tuple[str, ...]:
        """Remove a pod whose containers have all ended; the answer is what was kept, and why."""
        for record in await self._shim.records(uid):
            await self._shim.remove(record.id)
        kept = await asyncio.to_thread(self._directories.tear_down, uid)
        self._remembered.forget(uid)
        return tuple(map(str, kept))

    # What a runtime answers

    async def list_pods(self) -> Sequence[RuntimePod]:
        """Return every pod that has a container or a folder.

        As long as nothing changes these are the same objects, so that comparing them is cheap.
        """
        listing = await self._shim.listing(self._seen[0])
        seen = listing, self.sandboxes
        if seen != self._seen:
            self._seen, self._pods = seen, self._pods_in(listing)
        return self._pods

    def _pods_in(self, listing: ContainerList) -> list[RuntimePod]:
        containers: dict[str, list[RuntimeContainer]] = {
            sandbox.uid: [] for sandbox in self.sandboxes
        }
        for container, uid, name, state in listing.containers:
            known = RuntimeContainer(container, name, state)
            containers.setdefault(uid, []).append(known)
        return [self._pod(uid, found) for uid, found in containers.items()]

    async def find_pod(self, uid: str, /) -> RuntimePod | None:
        """Return one pod as ``list_pods`` would, None when it would not."""
        found = [
            RuntimeContainer(container, name, state)
            for container, _, name, state in await self._shim.listed(uid)
        ]
        return self._pod(uid, found) if found or self._remembered.find(uid) else None

    async def pod_status(self, pod: RuntimePod, /) -> RuntimeStatus:
        """Return everything about one pod."""
        records = await self._shim.records(pod.uid)
        sandbox = self._remembered.find(pod.uid)
        return RuntimeStatus(
            uid=pod.uid,
            name=pod.name,
            namespace=pod.namespace,
            ips=self._addresses() if sandbox else (),
            containers=tuple(record.runtime_status() for record in records),
            sandboxes=() if sandbox is None else (_runtime_sandbox(sandbox),),
        )

    def _pod(self, uid: str, containers: Sequence[RuntimeContainer]) -> RuntimePod:
        sandbox = self._remembered.find(uid)
        if sandbox is None:
            return RuntimePod(uid=uid, containers=tuple(containers))
        listed = RuntimeContainer(sandbox.id, "", RuntimeState.RUNNING)
        return RuntimePod(
            uid=uid,
            name=sandbox.name,
            namespace=sandbox.namespace,
            containers=tuple(containers),
            sandboxes=(listed,),
        )

    # Containers

    async def start(self, uid: str, launch: Launch) -> ContainerRecord:
        """Start the next life of a container; its record tells when that could not be done."""
        lives = [each for each in await self._shim.records(uid) if each.name == launch.container]
        attempt = lives[0].attempt + 1 if lives else 0
        for old in lives[KEPT_LIVES - 1 :]:
            await self._shim.remove(old.id)
        folder = self._directories.make_container(uid, launch.container)
        message_file = prepare_message_file(folder, launch.user, launch.group)
        record = ContainerRecord(
            id=secrets.token_hex(ID_BYTES),
            uid=uid,
            name=launch.container,
            attempt=attempt,
            folder=str(folder),
            fingerprint=launch.fingerprint,
            image=launch.image,
            created_at=self._clock.now().timestamp(),
            message_file=str(message_file),
            message_policy=launch.message_policy,
            directory=launch.directory,
            user=launch.user,
            group=launch.group,
            groups=launch.groups,
            capabilities=launch.capabilities,
            is_isolated=launch.root is not None,
            stdin=launch.stdin,
            stdin_once=launch.stdin and launch.stdin_once,
        )
        order = StartContainer(
            record=record,
            arguments=launch.arguments,
            environment=launch.environment,
            root=launch.root,
        )
        return await self._shim.start(order)

    def fingerprint(self, container: Container) -> str:
        """What a container would be made from now."""
        return fingerprint_of(container)

    async def fingerprints(self, uid: str) -> dict[str, str]:
        """What the newest life of each container was made from."""
        found: dict[str, str] = {}
        for record in await self._shim.records(uid):
            found.setdefault(record.name, record.fingerprint)
        return found

    async def records(self, uid: str) -> list[ContainerRecord]:
        """The records of a pod's containers, the newest life first."""
        return await self._shim.records(uid)

    async def execute(
        self, container: str, arguments: Sequence[str], *, timeout: float
    ) -> Executed:
        """Run a command inside a container; it is killed after *timeout* seconds.

        Raises ShimRefused when the container does not run, or has no such command.
        """
        return await self._shim.execute(container, arguments, timeout=timeout)

    async def run_command(self, order: ExecStream) -> int | None:
        """Run a command inside a container on streams; see ``ShimClient.run_command``."""
        return await self._shim.run_command(order)

    async def close_stdin(self, container: str) -> bool:
        """Let a container that reads once only see the end; False when it has none any more."""
        return await self._shim.close_stdin(container)

    async def signal(self, container: str, number: int) -> bool:
        """Send a signal to a container's first process; False when it has ended."""
        return await self._shim.signal(container, number)

    async def end(self, container: str, grace: float) -> ContainerRecord:
        """End a container, by force after *grace* seconds."""
        return await self._shim.end(container, grace)


def fingerprint_of(container: Container) -> str:
    """What a container is made from, apart from its image, which plays no part here."""
    return hashlib.sha256(encode(replace(container, image=""))).hexdigest()[:16]


def message_file_of(folder: Path) -> Path:
    """Where each life of a container leaves its last word, which its record then keeps."""
    return folder / "message"


def prepare_message_file(folder: Path, user: int | None, group: int | None) -> Path:
    """Make the file for a container's last word, which the container can write."""
    path = message_file_of(folder)
    path.unlink(missing_ok=True)
    path.touch(0o600, exist_ok=False)
    if user is not None or group is not None:
        os.chown(path, -1 if user is None else user, -1 if group is None else group)
    return path


def _runtime_sandbox(sandbox: Sandbox) -> RuntimeSandbox:
    created = datetime.fromtimestamp(sandbox.created_at, UTC)
    return RuntimeSandbox(id=sandbox.id, ready=True, created_at=created)
