"""What the agent needs of a container runtime, whether containers are processes or real ones.

``ContainerRuntime`` is what workers, probes, hooks and shutdown ask; ``ContainerLauncher`` starts a
container from what was resolved for it.  ``process_runtime`` with ``process_launch`` has them
for processes, ``node.cri`` for a runtime that speaks CRI.

Upstream: pkg/kubelet/container/runtime.go, Runtime
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from reflet.api.core.containers import Container
from reflet.api.core.pods import Pod
from reflet.node.shim.protocol import Executed
from reflet.node.status.container_statuses import Waiting
from reflet.pleg.runtime_status import PodRuntime, RuntimeContainerStatus, RuntimeState
from reflet.podconfig.resolved_pod import ResolvedPod

DEFAULT_GRACE: Final = 30  # seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Sandbox:
    """What is remembered of a pod as long as anything of it is here: enough to end it well."""

    uid: str
    name: str
    namespace: str
    created_at: float
    grace: int = DEFAULT_GRACE

    @property
    def id(self) -> str:
        """The sandbox among containers."""
        return f"sandbox-{self.uid}"


class ContainerLife(Protocol):
    """One life of a container, for those who read its log."""

    @property
    def id(self) -> str:
        """The container's id in the runtime."""
        ...

    @property
    def uid(self) -> str:
        """The pod that it is of."""
        ...

    @property
    def name(self) -> str:
        """The container's name in the pod."""
        ...

    @property
    def state(self) -> RuntimeState:
        """What it is doing."""
        ...

    @property
    def log(self) -> Path:
        """The file with what it wrote, the newest part of it."""
        ...


class ContainerRuntime(PodRuntime, Protocol):
    """Runs the containers of this node's pods."""

    @property
    def scheme(self) -> str:
        """What ids of containers begin with in statuses, before ``://``."""
        ...

    @property
    def sandboxes(self) -> Sequence[Sandbox]:
        """Every pod of which anything is here."""
        ...

    def problem(self) -> str | None:
        """Why the runtime cannot be asked now, None when it can."""
        ...

    def network_problem(self) -> str | None:
        """Why no sandbox can have a network now, None when one can, as far as is known."""
        ...

    async def up(self) -> None:
        """Return when the runtime can be asked; raises when that takes too long."""
        ...

    def addresses(self, uid: str) -> tuple[str, ...]:
        """The addresses of a pod; none while it has none."""
        ...

    def make_sandbox(self, pod: Pod, *, group: int | None = None) -> None:
        """Make a pod's folder, if it has none; members of *group* may enter."""
        ...

    async def run_sandbox(self, pod: Pod) -> bool:
        """Start what holds the pod's containers together; whether it has other addresses now."""
        ...

    async def stop_sandbox(self, uid: str) -> None:
        """Stop what holds the pod's containers together; its containers have ended."""
        ...

    async def remove_pod(self, uid: str) -> tuple[str, ...]:
        """Remove a pod whose containers have all ended; the answer is what was kept, and why."""
        ...

    async def end(self, container: str, grace: float) -> object:
        """End a container, by force after *grace* seconds."""
        ...

    async def signal(self, container: str, number: int) -> bool:
        """Send a signal to a container's first process; False when it has ended."""
        ...

    async def execute(
        self, container: str, arguments: Sequence[str], *, timeout: float
    ) -> Executed:
        """Run a command inside a container; it is killed after *timeout* seconds."""
        ...

    def fingerprint(self, container: Container) -> str:
        """What a container would be made from now: another one is started when that changes."""
        ...

    async def fingerprints(self, uid: str) -> dict[str, str]:
        """What the newest life of each container was made from."""
        ...

    async def records(self, uid: str) -> Sequence[ContainerLife]:
        """The lives of a pod's containers, the newest first."""
        ...


@dataclass(frozen=True, slots=True)
class Launched:
    """A container that was made; *problem* is why it could not be started, if it could not."""

    life: RuntimeContainerStatus
    problem: str = ""


class ContainerLauncher(Protocol):
    """Starts containers from what was resolved for their pods."""

    async def launch(
        self,
        pod: Pod,
        container: Container,
        resolved: ResolvedPod,
        last: RuntimeContainerStatus | None,
        /,
    ) -> Launched | Waiting:
        """Start the next life of a container whose life before was *last*, or say why it waits.

        Events of what comes before the container is made are told by whoever does it.
        """
        ...
