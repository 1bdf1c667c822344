"""Restart policies, sidecars, and in which state of its life a container is.

Pure predicates on what a pod says and what the runtime saw; ``pod_actions`` decides with them, and
the statuses say with them whether an ended container is waiting or terminated.

An init container is never restarted after it succeeded, whatever the policy of the pod.  One whose
own policy is Always is a sidecar and goes on beside the others.

Upstream: pkg/kubelet/container/helpers.go, ShouldContainerBeRestarted;
pkg/api/v1/pod/util.go, IsRestartableInitContainer.
"""

from __future__ import annotations

from typing import Final

from reflet.api.core.containers import Container
from reflet.api.core.pods import Pod
from reflet.node.probes.probe_results import PodHealth
from reflet.pleg.runtime_status import RuntimeContainerStatus, RuntimeState

ALWAYS, ON_FAILURE, NEVER = "Always", "OnFailure", "Never"

_ENDED: Final = frozenset({RuntimeState.EXITED, RuntimeState.UNKNOWN, RuntimeState.CREATED})


def is_sidecar(container: Container) -> bool:
    """Whether an init container goes on beside the others."""
    return container.restart_policy == ALWAYS


def is_running(status: RuntimeContainerStatus | None) -> bool:
    """Whether the container's process is there."""
    return status is not None and status.state is RuntimeState.RUNNING


def is_started(status: RuntimeContainerStatus | None, health: PodHealth) -> bool:
    """Whether the container runs and its startup probe, if it has one, has succeeded."""
    return status is not None and is_running(status) and health.of(status.id).is_started


def has_ended(status: RuntimeContainerStatus | None) -> bool:
    """Whether the container was there and is no more."""
    return status is not None and status.state in _ENDED


def has_succeeded(status: RuntimeContainerStatus | None) -> bool:
    """Whether the container ended and said that all was well."""
    return status is not None and status.state is RuntimeState.EXITED and status.exit_code == 0


def policy_of(pod: Pod, container: Container) -> str:
    """The restart policy of a container: its own if it has one, else the pod's."""
    return container.restart_policy or pod.spec.restart_policy or ALWAYS


def init_policy_of(pod: Pod, container: Container) -> str:
    """The restart policy of an init container: one that succeeded is done, whatever the pod's."""
    if container.restart_policy:
        return container.restart_policy
    return NEVER if pod.spec.restart_policy == NEVER else ON_FAILURE


def starts_again(policy: str, status: RuntimeContainerStatus | None) -> bool:
    """Whether a container that ended as *status* says is started again."""
    if not has_ended(status):
        return False
    if policy == ALWAYS:
        return True
    return policy == ON_FAILURE and not has_succeeded(status)
