"""Starting the containers of a pod, and not too often.

``ContainerStarter`` has a launcher start a container, tells the events, and runs its postStart
hook.  It also knows how long a crash holds a container back (CrashLoopBackOff): the back-off of
each container is kept here, and ``processes/crash_backoff`` computes it.  What a container is
started from is the launcher's: ``process_launch``, or ``node.cri``.

Upstream: pkg/kubelet/kuberuntime/kuberuntime_container.go, startContainer;
pkg/kubelet/kuberuntime/kuberuntime_manager.go, doBackOff.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Final

from reflet.api.core.containers import Container
from reflet.api.core.pods import Pod
from reflet.controllers.event_recorder import NORMAL, WARNING
from reflet.errors import RefletError
from reflet.gotext.durations import go_duration
from reflet.node.container_runtime import ContainerLauncher, Launched
from reflet.node.pods.killing import Killer, grace_of, unless_interrupted
from reflet.node.probes.handlers import Target
from reflet.node.probes.lifecycle_hooks import LONGEST_HOOK, HookFailed, LifecycleHooks
from reflet.node.probes.probe_spec import Handler, post_start_of
from reflet.node.status.container_statuses import CRASH_LOOP, Waiting
from reflet.node.status.node_events import NodeEvents
from reflet.node.status.pod_events import tell_skipped_names
from reflet.pleg.runtime_status import RuntimeContainerStatus
from reflet.podconfig.resolved_pod import ResolvedPod
from reflet.processes.crash_backoff import CrashBackoff
from reflet.resolution.places import container_named
from reflet.runtime.clock import Clock
from reflet.runtime.metrics import Metrics

RUN_ERROR: Final = "RunContainerError"
HOOK_ERROR: Final = "PostStartHookError"
LONGEST_PULL: Final = 3600.0  # seconds for the image of a container

logger = logging.getLogger(__name__)


class ContainerStarter:
    """Starts the containers of one pod.

    *interrupted* is set when it is to wait for nothing any more; *allowing* is entered while it
    waits as many seconds as the pod says.
    """

    def __init__(
        self,
        launcher: ContainerLauncher,
        hooks: LifecycleHooks,
        killer: Killer,
        events: NodeEvents,
        *,
        first_backoff: CrashBackoff,
        clock: Clock,
        metrics: Metrics,
        interrupted: asyncio.Event,
        allowing: Callable[[float], AbstractContextManager[None]],
    ) -> None:
        self._launcher = launcher
        self._hooks = hooks
        self._killer = killer
        self._events = events
        self._first_backoff = first_backoff
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
        tell_skipped_names(self._events, pod, resolved.environments[name])
        with self._allowing(LONGEST_PULL):
            launched = await self._launched(pod, container, resolved, last)
        if launched is None:
            return None  # the pod has to go
        if isinstance(launched, Waiting):
            self._failed(pod, name, launched.event or launched.message)
            return launched
        if after_crash and last is not None and last.finished_at is not None:
            self._backoffs[name] = self._backoff(name).restarted(
                ended_at=last.finished_at.timestamp(), now=self._clock.now().timestamp()
            )
        waiting = self._tell(pod, name, launched.problem)
        hook = post_start_of(container)
        if waiting is not None or hook is None:
            return waiting
        with self._allowing(LONGEST_HOOK):
            return await self._after_start(pod, container, hook, launched.life)

    async def _launched(
        self,
        pod: Pod,
        container: Container,
        resolved: ResolvedPod,
        last: RuntimeContainerStatus | None,
    ) -> Launched | Waiting | None:
        """Have a container started, which may take long; None when the pod has to go meanwhile."""
        outcome: list[Launched | Waiting] = []

        async def launch() -> None:
            try:
                outcome.append(await self._launcher.launch(pod, container, resolved, last))
            except RefletError as error:
                outcome.append(Waiting(RUN_ERROR, str(error)))

        await unless_interrupted(self._interrupted, launch())
        return outcome[0] if outcome else None

    async def _after_start(
        self, pod: Pod, container: Container, hook: Handler, life: RuntimeContainerStatus
    ) -> Waiting | None:
        """Run the container's hook; one that fails is the container's end."""
        target = Target(container, life.id, pod.metadata.uid)
        try:
            await unless_interrupted(self._interrupted, self._hooks.run(pod, target, hook))
        except HookFailed as error:
            name = container.name
            logger.warning("the postStart hook of %s failed: %s", name, error)
            # Nothing of the hook is in the event: what it is given and says may be secret.
            self._events.of_pod(
                pod, WARNING, "FailedPostStartHook", "PostStartHook failed", container=name
            )
            killing = self._killer.kill_container(
                pod, life, grace_of(pod), why="FailedPostStartHook"
            )
            await unless_interrupted(self._interrupted, killing)
            return Waiting(HOOK_ERROR, str(error))
        return None

    def _tell(self, pod: Pod, name: str, problem: str) -> Waiting | None:
        self._events.of_pod(pod, NORMAL, "Created", "Container created", container=name)
        if problem:
            self._metrics.count("reflet_node_container_starts_total", result="failed")
            self._failed(pod, name, problem)
            return Waiting(RUN_ERROR, problem)
        self._metrics.count("reflet_node_container_starts_total", result="started")
        self._events.of_pod(pod, NORMAL, "Started", "Container started", container=name)
        return None

    def _failed(self, pod: Pod, name: str, message: str) -> None:
        self._events.of_pod(pod, WARNING, "Failed", f"Error: {message}", container=name)

    def _backoff(self, name: str) -> CrashBackoff:
        return self._backoffs.get(name, self._first_backoff)
