"""Starting a container: from a resolved container to a process, and not too often.

``prepare_start`` computes the arguments, the variables and whom the container runs as, or why it
has to wait (CreateContainerConfigError).  ``ContainerStarter`` lays out its files, has the runtime
start it, tells the events, and runs its postStart hook.  It also knows how long a crash holds a
container back (CrashLoopBackOff): the back-off of each container is kept here, and
``processes/crash_backoff`` computes it.

Upstream: pkg/kubelet/kuberuntime/kuberuntime_container.go, startContainer and
generateContainerConfig; pkg/kubelet/kuberuntime/kuberuntime_manager.go, doBackOff.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import pwd
from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Final

from msgspec.structs import replace

from reflet.api.codec import encode
from reflet.api.core.containers import Container
from reflet.api.core.pods import Pod
from reflet.controllers.event_recorder import NORMAL, WARNING
from reflet.errors import RefletError
from reflet.gotext.durations import go_duration
from reflet.node.pods.admission import Allowance, RunAs, root_refusal, run_as
from reflet.node.pods.container_mounts import (
    ROOT_VARIABLE,
    MountLayout,
    capabilities_of,
    container_root,
    mount_layout,
    mounts_of,
)
from reflet.node.pods.killing import Killer, grace_of, unless_interrupted
from reflet.node.pods.pod_volumes import PodVolumes
from reflet.node.probes.handlers import Target
from reflet.node.probes.lifecycle_hooks import LONGEST_HOOK, HookFailed, LifecycleHooks
from reflet.node.probes.probe_spec import Handler, post_start_of
from reflet.node.process_runtime import Launch, ProcessRuntime, message_file_of
from reflet.node.shim.container_records import START_ERROR, ContainerRecord
from reflet.node.status.container_statuses import CONFIG_ERROR, CRASH_LOOP, Waiting
from reflet.node.status.node_events import NodeEvents
from reflet.pleg.runtime_status import RuntimeContainerStatus
from reflet.podconfig.resolved_pod import ResolvedPod
from reflet.processes.container_plan import ContainerRoot
from reflet.processes.crash_backoff import CrashBackoff
from reflet.resolution.expansion import (
    LARGEST_EXPANSION,
    OversizedExpansion,
    expand_all,
    expanded_size,
)
from reflet.resolution.file_contents import VolumeContents
from reflet.resolution.places import container_named
from reflet.resolution.variables import Environment
from reflet.runtime.clock import Clock
from reflet.runtime.metrics import Metrics
from reflet.runtime.threads import in_thread
from reflet.volumes.volume_errors import VolumeError

RUN_ERROR: Final = "RunContainerError"
HOOK_ERROR: Final = "PostStartHookError"
USUAL_PATH: Final = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

logger = logging.getLogger(__name__)


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


def fingerprint_of(container: Container) -> str:
    """What a container is made from, apart from its image, which plays no part here."""
    return hashlib.sha256(encode(replace(container, image=""))).hexdigest()[:16]


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


class ContainerStarter:
    """Starts the containers of one pod.

    *disk* has the threads in which files are laid out.  *interrupted* is set when it is to wait
    for nothing any more; *allowing* is entered while it waits as many seconds as the pod says.
    """

    def __init__(
        self,
        runtime: ProcessRuntime,
        volumes: PodVolumes,
        hooks: LifecycleHooks,
        killer: Killer,
        events: NodeEvents,
        *,
        allowance: Allowance,
        first_backoff: CrashBackoff,
        disk: Executor,
        clock: Clock,
        metrics: Metrics,
        interrupted: asyncio.Event,
        allowing: Callable[[float], AbstractContextManager[None]],
    ) -> None:
        self._runtime = runtime
        self._volumes = volumes
        self._hooks = hooks
        self._killer = killer
        self._events = events
        self._allowance = allowance
        self._first_backoff = first_backoff
        self._disk = disk
        self._clock = clock
        self._metrics = metrics
        self._interrupted = interrupted
        self._allowing = allowing
        self._backoffs: dict[str, CrashBackoff] = {}

    def held_back(self, ended: RuntimeContainerStatus) -> float:
        """For how many more seconds a container that ended must not start again."""
        if ended.finished_at is None:
            return 0.0
        return self._backoff(ended.name).left(
            ended_at=ended.finished_at.timestamp(), now=self._clock.now().timestamp()
        )

    def hold(self, pod: Pod, name: str) -> Waiting:
        """Say that a container waits because it crashed."""
        identity = f"{pod.metadata.name}_{pod.metadata.namespace}({pod.metadata.uid})"
        self._events.of_pod(
            pod,
            WARNING,
            "BackOff",
            f"Back-off restarting failed container {name} in pod {identity}",
            container=name,
        )
        delay = go_duration(self._backoff(name).delay)
        return Waiting(
            CRASH_LOOP, f"back-off {delay} restarting failed container={name} pod={identity}"
        )

    async def start(
        self,
        pod: Pod,
        name: str,
        resolved: ResolvedPod,
        last: RuntimeContainerStatus | None,
        *,
        after_crash: bool,
    ) -> Waiting | None:
        """Start a container whose life before was *last*; why it waits, if it does."""
        container = container_named(pod, name).container
        environment = resolved.environments[name]
        tell_skipped_names(self._events, pod, environment)
        prepared = prepare_start(pod, container, environment, self._allowance)
        if isinstance(prepared, Waiting):
            self._failed(pod, name, prepared.message)
            return prepared
        try:
            launch = await in_thread(
                lambda: self._laid_out(pod, container, prepared, resolved.volumes),
                executor=self._disk,
            )
        except VolumeError as error:
            self._failed(pod, name, str(error))
            return Waiting(CONFIG_ERROR, str(error))
        try:
            record = await self._runtime.start(pod.metadata.uid, launch)
        except RefletError as error:
            self._failed(pod, name, str(error))
            return Waiting(RUN_ERROR, str(error))
        if after_crash and last is not None and last.finished_at is not None:
            self._backoffs[name] = self._backoff(name).restarted(
                ended_at=last.finished_at.timestamp(), now=self._clock.now().timestamp()
            )
        waiting = self._tell(pod, name, record)
        hook = post_start_of(container)
        if waiting is not None or hook is None:
            return waiting
        with self._allowing(LONGEST_HOOK):
            return await self._after_start(pod, Target(container, record.id), hook, record)

    async def _after_start(
        self, pod: Pod, target: Target, hook: Handler, record: ContainerRecord
    ) -> Waiting | None:
        """Run the container's hook; one that fails is the container's end."""
        try:
            await unless_interrupted(self._interrupted, self._hooks.run(pod, target, hook))
        except HookFailed as error:
            name = record.name
            logger.warning("the postStart hook of %s failed: %s", name, error)
            # Nothing of the hook is in the event: what it is given and says may be secret.
            self._events.of_pod(
                pod, WARNING, "FailedPostStartHook", "PostStartHook failed", container=name
            )
            life = record.runtime_status()
            killing = self._killer.kill_container(
                pod, life, grace_of(pod), why="FailedPostStartHook"
            )
            await unless_interrupted(self._interrupted, killing)
            return Waiting(HOOK_ERROR, str(error))
        return None

    def _tell(self, pod: Pod, name: str, record: ContainerRecord) -> Waiting | None:
        self._events.of_pod(pod, NORMAL, "Created", "Container created", container=name)
        if record.reason == START_ERROR:
            self._metrics.count("reflet_node_container_starts_total", result="failed")
            self._failed(pod, name, f"failed to start container: {record.message}")
            return Waiting(RUN_ERROR, record.message)
        self._metrics.count("reflet_node_container_starts_total", result="started")
        self._events.of_pod(pod, NORMAL, "Started", "Container started", container=name)
        return None

    def _failed(self, pod: Pod, name: str, message: str) -> None:
        self._events.of_pod(pod, WARNING, "Failed", f"Error: {message}", container=name)

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

    def _backoff(self, name: str) -> CrashBackoff:
        return self._backoffs.get(name, self._first_backoff)


def tell_skipped_names(events: NodeEvents, pod: Pod, environment: Environment) -> None:
    """Say which keys a container does without, as the kubelet does whenever it makes variables."""
    for skipped in environment.events:
        events.of_pod(pod, WARNING, skipped.event_reason, skipped.kubelet)
