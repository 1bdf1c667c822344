"""The sandbox of a pod: whether another one is needed, what starts again in it, and starting it.

Containers live and die with their sandbox.  A pod whose sandbox is gone begins from its first init
container again, but for what its restart policy says has had its last life.

Upstream: pkg/kubelet/kuberuntime/util/util.go, PodSandboxChanged;
pkg/kubelet/kuberuntime/kuberuntime_manager.go, computePodActions and SyncPod (createSandbox).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from reflet.api.core.pods import Pod
from reflet.controllers.event_recorder import NORMAL, WARNING
from reflet.errors import RefletError
from reflet.node.container_runtime import ContainerRuntime
from reflet.node.pods.killing import ContainerStopper
from reflet.node.pods.restart_policy import NEVER, ON_FAILURE, has_succeeded, policy_of
from reflet.node.status.node_events import NodeEvents
from reflet.pleg.runtime_status import RuntimeStatus

NETWORK_RETRY: Final = 1.0  # seconds; the kubelet's backOffOnTransientErrorPeriod
CHANGED: Final = "Pod sandbox changed, it will be killed and re-created."


def needs_sandbox(seen: RuntimeStatus) -> bool:
    """Whether the pod has no sandbox, one that has ended, or more than one."""
    ready = [each.ready for each in seen.sandboxes]
    return not ready or not ready[0] or ready.count(True) > 1


def seen_anew(pod: Pod, seen: RuntimeStatus) -> RuntimeStatus:
    """What counts of a pod that gets another sandbox: only lives that are not to be repeated."""
    if pod.spec.restart_policy == NEVER and seen.containers:
        return seen
    over = {
        each.name
        for each in pod.spec.containers
        if policy_of(pod, each) == ON_FAILURE and has_succeeded(seen.container(each.name))
    }
    if pod.spec.containers and len(over) == len(pod.spec.containers):
        return seen
    return replace(seen, containers=tuple(each for each in seen.containers if each.name in over))


class SandboxFailed(RefletError):
    """A sandbox could not be started, and an event has said why.

    ``retry_after`` is in how many seconds it may be tried again, None for the usual back-off.
    """

    retry_after: float | None = None


class NetworkNotReady(SandboxFailed):
    """There is no network for a sandbox yet, and an event has said so; it may be there soon."""

    retry_after = NETWORK_RETRY


class PodSandboxes:
    """Starts the sandbox of one pod."""

    def __init__(
        self, runtime: ContainerRuntime, stopper: ContainerStopper, events: NodeEvents
    ) -> None:
        self._runtime = runtime
        self._stopper = stopper
        self._events = events

    async def start(self, pod: Pod, seen: RuntimeStatus) -> bool:
        """End what is left of the sandbox before, and start another; whether addresses changed.

        Raises SandboxFailed, after an event, when none could be started.
        """
        why = None if pod.spec.host_network else self._runtime.network_problem()
        if why is not None:
            message = f"network is not ready: {why}"
            self._events.of_pod(pod, WARNING, "NetworkNotReady", message)
            raise NetworkNotReady(message)
        if seen.sandboxes:
            self._events.of_pod(pod, NORMAL, "SandboxChanged", CHANGED)
            await self._stopper.stop_all(pod, seen)
            await self._runtime.stop_sandbox(pod.metadata.uid)
        try:
            return await self._runtime.run_sandbox(pod)
        except RefletError as error:
            message = f"Failed to create pod sandbox: {error}"
            self._events.of_pod(pod, WARNING, "FailedCreatePodSandBox", message)
            raise SandboxFailed(message) from error
