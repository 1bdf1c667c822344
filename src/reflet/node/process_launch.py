"""Starting a container that is a process: its arguments, variables, folders, and whom it runs as.

``prepare_start`` computes them, or why the container has to wait (CreateContainerConfigError);
``ProcessLauncher`` lays out its files and has the shim start it.

Upstream: pkg/kubelet/kuberuntime/kuberuntime_container.go, generateContainerConfig
"""

from __future__ import annotations

import pwd
from collections.abc import Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import Final

from reflet.api.core.containers import Container
from reflet.api.core.pods import Pod
from reflet.node.container_runtime import Launched
from reflet.node.pods.admission import Allowance, RunAs, root_refusal, run_as
from reflet.node.pods.container_mounts import (
    ROOT_VARIABLE,
    MountLayout,
    capabilities_of,
    container_root,
    mount_layout,
    mounts_of,
)
from reflet.node.pods.pod_volumes import PodVolumes
from reflet.node.process_runtime import Launch, ProcessRuntime, fingerprint_of, message_file_of
from reflet.node.shim.container_records import START_ERROR
from reflet.node.status.container_statuses import CONFIG_ERROR, Waiting
from reflet.pleg.runtime_status import RuntimeContainerStatus
from reflet.podconfig.resolved_pod import ResolvedPod
from reflet.processes.container_plan import ContainerRoot
from reflet.resolution.environment.expansion import (
    LARGEST_EXPANSION,
    OversizedExpansion,
    expand_all,
    expanded_size,
)
from reflet.resolution.environment.variables import Environment
from reflet.resolution.volumes.file_contents import VolumeContents
from reflet.runtime.threads import in_thread
from reflet.volumes.volume_errors import VolumeError

USUAL_PATH: Final = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedStart:
    """Everything that is known of a start before its folders are made."""

    container: Container
    who: RunAs
    layout: MountLayout
    variables: Mapping[str, str] = field(repr=False)

    def arguments(self, root: str) -> tuple[str, ...]:
        """The command and its arguments, with variables put in."""
        return expand_all(self.words, self.environment(root).get)

    @property
    def words(self) -> tuple[str, ...]:
        """The command and its arguments as they are written."""
        return (*self.container.command, *self.container.args)

    def environment(self, root: str) -> dict[str, str]:
        """The variables of the process."""
        return {**self.variables, ROOT_VARIABLE: root}


def prepare_start(
    pod: Pod, container: Container, environment: Environment, allowance: Allowance
) -> PreparedStart | Waiting:
    """Prepare a start, or say why the container waits."""
    if environment.error is not None:
        return Waiting(CONFIG_ERROR, environment.error)
    who = run_as(pod, container, allowance)
    refusal = root_refusal(pod, container, who, allowance)
    if refusal is not None:
        return Waiting(CONFIG_ERROR, refusal)
    values = environment.values
    layout = mount_layout(container, values, has_root=allowance.isolates)
    if layout.error is not None:
        return Waiting(CONFIG_ERROR, layout.error)
    usual = {
        "PATH": USUAL_PATH,
        "HOSTNAME": pod.spec.hostname or pod.metadata.name,
        "HOME": home_of(allowance.own_user if who.user is None else who.user),
    }
    start = PreparedStart(container=container, who=who, layout=layout, variables=usual | values)
    size = expanded_size(start.words, start.environment("").get)
    if size > LARGEST_EXPANSION:
        return Waiting(CONFIG_ERROR, f"command and args have {OversizedExpansion(size)}")
    return start


def gate_group(pod: Pod, allowance: Allowance) -> int | None:
    """The group that may enter the pod's folder.

    None when all runs as the agent itself, or has its volumes mounted elsewhere.
    """
    if not allowance.is_root or allowance.isolates or not pod.spec.containers:
        return None
    return run_as(pod, pod.spec.containers[0], allowance).group


def home_of(user: int) -> str:
    """The home of a user, the root folder for one that has none."""
    try:
        return pwd.getpwuid(user).pw_dir or "/"
    except KeyError:
        return "/"


class ProcessLauncher:
    """Starts containers as processes.  *disk* has the threads in which files are laid out."""

    def __init__(
        self,
        runtime: ProcessRuntime,
        volumes: PodVolumes,
        *,
        allowance: Allowance,
        disk: Executor,
    ) -> None:
        self._runtime = runtime
        self._volumes = volumes
        self._allowance = allowance
        self._disk = disk

    async def launch(
        self,
        pod: Pod,
        container: Container,
        resolved: ResolvedPod,
        _last: RuntimeContainerStatus | None,
        /,
    ) -> Launched | Waiting:
        """Start the next life of a container, or say why it waits."""
        prepared = prepare_start(
            pod, container, resolved.environments[container.name], self._allowance
        )
        if isinstance(prepared, Waiting):
            return prepared
        try:
            launch = await in_thread(
                lambda: self._laid_out(pod, container, prepared, resolved.volumes),
                executor=self._disk,
            )
        except VolumeError as error:
            return Waiting(CONFIG_ERROR, str(error))
        record = await self._runtime.start(pod.metadata.uid, launch)
        problem = record.message if record.reason == START_ERROR else ""
        return Launched(record.runtime_status(), problem)

    def _laid_out(
        self,
        pod: Pod,
        container: Container,
        prepared: PreparedStart,
        contents: Mapping[str, VolumeContents],
    ) -> Launch:
        volumes, who, allowance = self._volumes, prepared.who, self._allowance
        name, layout = container.name, prepared.layout
        folder = volumes.container_folder(pod, name)
        message_file = message_file_of(folder)
        own_root: ContainerRoot | None = None
        if allowance.isolates:
            sources = volumes.mount_sources(pod, name, layout, contents)
            own_root = container_root(
                pod,
                container,
                folder,
                shared=allowance.shared,
                mounts=mounts_of(sources, layout.message_path, message_file),
            )
            root, directory = "/", container.working_dir or "/"
        else:
            links = volumes.lay_out(pod, name, layout, contents, message_file)
            root, directory = str(links), volumes.working_folder(links, container.working_dir)
        gate = gate_group(pod, allowance)
        groups = set(who.groups) if gate is None else {*who.groups, gate}
        return Launch(
            container=container.name,
            arguments=prepared.arguments(root),
            environment=prepared.environment(root),
            directory=directory,
            user=who.user,
            group=who.group,
            groups=tuple(sorted(groups)) if who.user is not None or groups else None,
            capabilities=capabilities_of(container),
            root=own_root,
            fingerprint=fingerprint_of(container),
            image=container.image,
            message_policy=container.termination_message_policy,
            stdin=container.stdin,
            stdin_once=container.stdin_once,
        )
