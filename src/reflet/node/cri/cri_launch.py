"""Starting a real container: its image, its files, its configuration, and the runtime's answers.

Upstream: pkg/kubelet/kuberuntime/kuberuntime_container.go, startContainer
"""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from reflet.api.core.containers import Container, EphemeralContainer
from reflet.api.core.pods import Pod
from reflet.cri.cri_client import RuntimeService
from reflet.cri.messages.containers import ContainerConfig
from reflet.errors import RpcError
from reflet.node.container_runtime import Launched
from reflet.node.cri.container_configs import ContainerFiles, container_config
from reflet.node.cri.cri_container_runtime import CriContainerRuntime, LiveSandbox
from reflet.node.cri.etc_hosts import hosts_of_node, managed_hosts
from reflet.node.cri.image_pulls import ImagePulls
from reflet.node.cri.pod_rights import user_refusal
from reflet.node.cri.sub_path_mounts import SubPathMounts
from reflet.node.pods.container_mounts import MountLayout, mount_layout
from reflet.node.pods.pod_volumes import PodVolumes
from reflet.node.status.container_statuses import CONFIG_ERROR, Waiting
from reflet.pleg.runtime_status import RuntimeContainerStatus, RuntimeState
from reflet.podconfig.resolved_pod import ResolvedPod
from reflet.resolution.environment.expansion import (
    LARGEST_EXPANSION,
    OversizedExpansion,
    expanded_size,
)
from reflet.runtime.clock import Clock
from reflet.runtime.threads import in_thread
from reflet.volumes.pod_directories import PodDirectories
from reflet.volumes.volume_errors import VolumeError

CREATE_ERROR: Final = "CreateContainerError"
HOSTS_OF_NODE: Final = Path("/etc/hosts")
HOSTS_MODE: Final = 0o644
MESSAGE_MODE: Final = 0o666  # whoever the container is may write it, as with the kubelet


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchSettings:
    """What is the same for all containers: *memory* of the machine, folder of seccomp profiles."""

    node: str
    domain: str
    memory: int
    profiles: Path


class CriLauncher:
    """Starts containers by CRI.  *disk* has the threads in which files are written."""

    def __init__(
        self,
        service: RuntimeService,
        runtime: CriContainerRuntime,
        pulls: ImagePulls,
        volumes: PodVolumes,
        directories: PodDirectories,
        *,
        settings: LaunchSettings,
        disk: Executor,
        clock: Clock,
    ) -> None:
        self._service = service
        self._runtime = runtime
        self._pulls = pulls
        self._volumes = volumes
        self._directories = directories
        self._mounts = SubPathMounts(directories)
        self._settings = settings
        self._disk = disk
        self._clock = clock

    async def launch(
        self,
        pod: Pod,
        container: Container,
        resolved: ResolvedPod,
        last: RuntimeContainerStatus | None,
        /,
    ) -> Launched | Waiting:
        """Start the next life of a container, or say why it waits."""
        sandbox = await self._runtime.live_sandbox(pod)
        image = await self._pulls.ensure(pod, container, sandbox.config)
        if isinstance(image, Waiting):
            return image
        target = await self._target(pod, container)
        if isinstance(target, Waiting):
            return target
        environment = resolved.environments[container.name]
        layout = mount_layout(container, environment.values, has_root=True)
        problem = (
            environment.error
            or user_refusal(pod, container, image)
            or layout.error
            or _oversized(container, environment.values)
        )
        if problem:
            return Waiting(CONFIG_ERROR, problem)
        attempt = 0 if last is None else last.restart_count + 1
        lay_out = partial(
            self._laid_out,
            container,
            resolved,
            layout,
            addresses=sandbox.addresses,
            attempt=attempt,
        )
        try:
            plan = await in_thread(lay_out, executor=self._disk)
        except VolumeError as error:
            return Waiting(CONFIG_ERROR, str(error))
        settings = self._settings
        config = container_config(
            pod,
            container,
            image,
            plan,
            attempt=attempt,
            node=settings.node,
            memory=settings.memory,
            profiles=settings.profiles,
            target=target,
        )
        return await self._started(sandbox, config, container, attempt)

    async def _target(self, pod: Pod, container: Container) -> str | Waiting:
        """The id of the container whose processes an ephemeral one sees; empty when it says none.

        Upstream: pkg/kubelet/kuberuntime/kuberuntime_container.go, getTargetID
        """
        name = container.target_container_name if isinstance(container, EphemeralContainer) else ""
        if not name:
            return ""
        for life in await self._runtime.records(pod.metadata.uid):
            if life.name == name:
                return life.id
        return Waiting(CONFIG_ERROR, f"unable to find target container {name}")

    async def _started(
        self, sandbox: LiveSandbox, config: ContainerConfig, container: Container, attempt: int
    ) -> Launched | Waiting:
        try:
            made = await self._service.create_container(sandbox.id, config, sandbox.config)
        except RpcError as error:
            return Waiting(CREATE_ERROR, error.description)
        life = RuntimeContainerStatus(
            id=made,
            name=container.name,
            state=RuntimeState.RUNNING,
            started_at=self._clock.now(),
            restart_count=attempt,
            image=container.image,
        )
        try:
            await self._service.start_container(made)
        except RpcError as error:
            return Launched(life, error.description)
        return Launched(life)

    def _laid_out(
        self,
        container: Container,
        resolved: ResolvedPod,
        layout: MountLayout,
        *,
        addresses: tuple[str, ...],
        attempt: int,
    ) -> ContainerFiles:
        """Write the files that are a container's own, and say what is mounted where."""
        pod, uid = resolved.pod, resolved.pod.metadata.uid
        sources = self._volumes.mount_sources(pod, container.name, layout, resolved.volumes)
        message = self._directories.make_container(uid, container.name) / f"{attempt}.message"
        _write(message, "", MESSAGE_MODE)
        hosts = None
        if pod.spec.host_network or addresses:
            hosts = self._directories.etc_hosts(uid)
            _write(hosts, self._hosts(pod, addresses), HOSTS_MODE)
        return ContainerFiles(
            variables=resolved.environments[container.name].values,
            sources=tuple(
                self._mounts.held(uid, container.name, source, index)
                for index, source in enumerate(sources)
            ),
            hosts=hosts,
            message=message,
            message_path=layout.message_path,
        )

    def _hosts(self, pod: Pod, addresses: tuple[str, ...]) -> str:
        if not pod.spec.host_network:
            return managed_hosts(pod, addresses, self._settings.domain)
        try:
            return hosts_of_node(pod, HOSTS_OF_NODE.read_text(errors="replace"))
        except OSError:
            return hosts_of_node(pod, "")


def _oversized(container: Container, variables: dict[str, str]) -> str:
    size = expanded_size((*container.command, *container.args), variables.get)
    return f"command and args have {OversizedExpansion(size)}" if size > LARGEST_EXPANSION else ""


def _write(path: Path, content: str, mode: int) -> None:
    """Write a file that containers see: in place, since what they see is this one."""
    try:
        path.write_text(content)
        path.chmod(mode)
    except OSError as error:
        raise VolumeError(f"{path.name}: {error.strerror}") from error
