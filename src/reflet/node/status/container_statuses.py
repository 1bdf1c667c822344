"""The status of one container: waiting, running or terminated, from its lives.

Pure: what the runtime saw of a container's lives in, its status out.  Why a container waits and
what its probes say is handed in.

Upstream: pkg/kubelet/kubelet_pods.go, convertToAPIContainerStatuses (convertContainerStatus).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from reflet.api.core.containers import Container
from reflet.api.core.pods import (
    ContainerState,
    ContainerStateRunning,
    ContainerStateTerminated,
    ContainerStateWaiting,
    ContainerStatus,
    Pod,
)
from reflet.node.pods.restart_policy import is_sidecar
from reflet.node.probes.probe_results import NO_PROBES, ContainerHealth
from reflet.pleg.runtime_status import RuntimeContainerStatus, RuntimeState
from reflet.processes.exit_status import UNKNOWN

CONTAINER_CREATING: Final = "ContainerCreating"
POD_INITIALIZING: Final = "PodInitializing"
CRASH_LOOP: Final = "CrashLoopBackOff"
CONFIG_ERROR: Final = "CreateContainerConfigError"
STATUS_UNKNOWN: Final = "ContainerStatusUnknown"
SCHEME: Final = "reflet"
_UNKNOWN_END: Final = "The container could not be located when the pod was terminated"


@dataclass(frozen=True, slots=True)
class Waiting:
    """Why a container does not run; *event* is what its event says, if not the message."""

    reason: str
    message: str = ""
    event: str = ""


def without_ephemeral(pod: Pod) -> dict[str, Waiting]:
    """Why ephemeral containers wait, by name, where none are run."""
    why = Waiting("EphemeralContainersDisabled", "processes are not added to a running pod")
    return {each.name: why for each in pod.spec.ephemeral_containers}


def container_status(
    container: Container,
    lives: Sequence[RuntimeContainerStatus],
    *,
    waiting: Waiting,
    starts_again: bool,
    is_init: bool = False,
    health: ContainerHealth = NO_PROBES,
    scheme: str = SCHEME,
) -> ContainerStatus:
    """Return the status of a container from its *lives*, the newest first.

    *waiting* is why it does not run, if it does not; *starts_again* says that an end is not its
    last; *health* is what probes say of the newest life; *scheme* is what ids begin with.
    """
    newest = lives[0] if lives else None
    if newest is None:
        return _status(container, None, state=ContainerState(waiting=_waiting(waiting)))
    earlier = _terminated(lives[1], scheme) if len(lives) > 1 else None
    if newest.state is RuntimeState.RUNNING:
        return _status(
            container,
            newest,
            scheme,
            state=ContainerState(running=ContainerStateRunning(started_at=newest.started_at)),
            last_state=ContainerState(terminated=earlier),
            ready=health.is_ready and (not is_init or is_sidecar(container)),
            started=health.is_started,
        )
    ended = _terminated(newest, scheme)
    if starts_again:
        return _status(
            container,
            newest,
            scheme,
            state=ContainerState(waiting=_waiting(waiting)),
            last_state=ContainerState(terminated=ended),
        )
    return _status(
        container,
        newest,
        scheme,
        state=ContainerState(terminated=ended),
        last_state=ContainerState(terminated=earlier),
        ready=is_init and not is_sidecar(container) and ended.exit_code == 0,
    )


def whole_seconds(moment: datetime | None) -> datetime | None:
    """Return the moment as the API server keeps it."""
    return None if moment is None else moment.replace(microsecond=0)


def _waiting(waiting: Waiting) -> ContainerStateWaiting:
    return ContainerStateWaiting(reason=waiting.reason, message=waiting.message)


def _terminated(life: RuntimeContainerStatus, scheme: str) -> ContainerStateTerminated:
    if life.exit_code is None:
        return ContainerStateTerminated(
            exit_code=UNKNOWN,
            reason=STATUS_UNKNOWN,
            message=life.message or _UNKNOWN_END,
            started_at=whole_seconds(life.started_at),
            finished_at=whole_seconds(life.finished_at),
            container_id=f"{scheme}://{life.id}",
        )
    return ContainerStateTerminated(
        exit_code=life.exit_code,
        signal=life.signal,
        reason=life.reason or ("Error" if life.exit_code else "Completed"),
        message=life.message,
        started_at=whole_seconds(life.started_at),
        finished_at=whole_seconds(life.finished_at),
        container_id=f"{scheme}://{life.id}",
    )


def _status(
    container: Container,
    life: RuntimeContainerStatus | None,
    scheme: str = "",
    *,
    state: ContainerState,
    last_state: ContainerState | None = None,
    ready: bool = False,
    started: bool = False,
) -> ContainerStatus:
    if state.running is not None:
        running = ContainerStateRunning(started_at=whole_seconds(state.running.started_at))
        state = ContainerState(running=running)
    return ContainerStatus(
        name=container.name,
        state=state,
        last_state=last_state or ContainerState(),
        ready=ready,
        started=started,
        restart_count=0 if life is None else life.restart_count,
        image=(life and life.image) or container.image,
        image_id="" if life is None else life.image_id,
        container_id="" if life is None else f"{scheme}://{life.id}",
    )
