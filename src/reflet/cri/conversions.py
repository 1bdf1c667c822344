"""From CRI's answers to pods and statuses, as the kubelet reads them.  Pure.

Upstream: pkg/kubelet/kuberuntime/kuberuntime_manager.go, getPods, GetPodStatus
Upstream: pkg/kubelet/kuberuntime/kuberuntime_container.go, toKubeContainerStatus
Upstream: pkg/kubelet/kuberuntime/kuberuntime_sandbox.go, determinePodSandboxIPs
Upstream: pkg/kubelet/kuberuntime/helpers.go, toKubeContainerState, podSandboxByCreatedThenID
Upstream: pkg/kubelet/types/labels.go; pkg/kubelet/kuberuntime/labels.go
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import Final

from reflet.cri.messages.containers import Container, ContainerState, ContainerStatus
from reflet.cri.messages.sandboxes import PodSandbox, PodSandboxState, PodSandboxStatus
from reflet.pleg.runtime_status import (
    RuntimeContainer,
    RuntimeContainerStatus,
    RuntimePod,
    RuntimeSandbox,
    RuntimeState,
)

POD_NAME_LABEL: Final = "io.kubernetes.pod.name"
POD_NAMESPACE_LABEL: Final = "io.kubernetes.pod.namespace"
POD_UID_LABEL: Final = "io.kubernetes.pod.uid"
CONTAINER_NAME_LABEL: Final = "io.kubernetes.container.name"
RESTART_COUNT_ANNOTATION: Final = "io.kubernetes.container.restartCount"

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)

CONTAINER_STATES: Final[Mapping[int, RuntimeState]] = MappingProxyType(
    {
        ContainerState.CREATED: RuntimeState.CREATED,
        ContainerState.RUNNING: RuntimeState.RUNNING,
        ContainerState.EXITED: RuntimeState.EXITED,
        ContainerState.UNKNOWN: RuntimeState.UNKNOWN,
    }
)
SANDBOX_STATES: Final[Mapping[int, RuntimeState]] = MappingProxyType(
    {
        PodSandboxState.READY: RuntimeState.RUNNING,
        PodSandboxState.NOTREADY: RuntimeState.EXITED,
    }
)


@dataclass(slots=True)
class _Gathered:
    """A pod while its parts are put together."""

    uid: str
    name: str
    namespace: str
    created_at: int = 0
    containers: list[RuntimeContainer] = field(default_factory=list)
    sandboxes: list[RuntimeContainer] = field(default_factory=list)

    def pod(self) -> RuntimePod:
        return RuntimePod(
            uid=self.uid,
            name=self.name,
            namespace=self.namespace,
            containers=tuple(self.containers),
            sandboxes=tuple(self.sandboxes),
        )


def pods_of(sandboxes: Iterable[PodSandbox], containers: Iterable[Container]) -> list[RuntimePod]:
    """The pods that these are of, the newest first, and so are their sandboxes and containers.

    A pod's uid is in its sandbox's metadata and in its containers' labels.  A container without
    that label, which the kubelet would not have made, is where its sandbox is.
    """
    pods: dict[str, _Gathered] = {}
    uids: dict[str, str] = {}  # by the id of the sandbox
    for sandbox in sorted(sandboxes, key=_sandbox_order):
        whose = sandbox.metadata
        if whose is None or not sandbox.id:
            continue
        pod = pods.setdefault(whose.uid, _Gathered(whose.uid, whose.name, whose.namespace))
        uids[sandbox.id] = whose.uid
        state = SANDBOX_STATES.get(sandbox.state, RuntimeState.UNKNOWN)
        pod.sandboxes.append(RuntimeContainer(sandbox.id, state=state))
        pod.created_at = sandbox.created_at
    for container in sorted(containers, key=lambda each: (-each.created_at, each.id)):
        if container.metadata is None or not container.id or container.image is None:
            continue
        labels = container.labels
        uid = labels.get(POD_UID_LABEL) or uids.get(container.pod_sandbox_id, "")
        pod = pods.setdefault(
            uid, _Gathered(uid, labels.get(POD_NAME_LABEL, ""), labels.get(POD_NAMESPACE_LABEL, ""))
        )
        state = CONTAINER_STATES.get(container.state, RuntimeState.UNKNOWN)
        pod.containers.append(RuntimeContainer(container.id, container.metadata.name, state))
    newest_first = sorted(pods.values(), key=lambda pod: -pod.created_at)
    return [gathered.pod() for gathered in newest_first]


def container_status(status: ContainerStatus, *, message: str = "") -> RuntimeContainerStatus:
    """Everything about one container; *message* is what it left as its last words."""
    state = CONTAINER_STATES.get(status.state, RuntimeState.UNKNOWN)
    has_ended = state is RuntimeState.EXITED
    name = status.labels.get(CONTAINER_NAME_LABEL) or (status.metadata and status.metadata.name)
    words = [status.message, message] if has_ended else []
    return RuntimeContainerStatus(
        id=status.id,
        name=name or "",
        state=state,
        created_at=moment(status.created_at),
        # One that was never started, because that failed, started in 1970, as in the kubelet.
        started_at=None if state is RuntimeState.CREATED else moment(status.started_at),
        finished_at=moment(status.finished_at) if has_ended else None,
        exit_code=status.exit_code if has_ended else None,
        reason=status.reason if has_ended else "",
        message=": ".join(filter(None, words)),
        restart_count=restart_count(status.annotations),
        image=status.image.image if status.image is not None else "",
        image_id=status.image_ref,
    )


def newest_first(
    statuses: Iterable[RuntimeContainerStatus],
) -> tuple[RuntimeContainerStatus, ...]:
    """In the order in which they are looked through for the newest of a name."""
    return tuple(sorted(statuses, key=lambda each: each.created_at or EPOCH, reverse=True))


def sandbox_status(status: PodSandboxStatus) -> RuntimeSandbox:
    """Everything about one sandbox."""
    return RuntimeSandbox(
        id=status.id,
        ready=status.state == PodSandboxState.READY,
        created_at=moment(status.created_at),
    )


def ips_of(statuses: Sequence[PodSandboxStatus]) -> tuple[str, ...]:
    """The addresses of a pod, which are those of its newest sandbox while that is ready.

    None with the node's own network, and none at all when one of them cannot be read.
    """
    if not statuses or statuses[0].state != PodSandboxState.READY or statuses[0].network is None:
        return ()
    network = statuses[0].network
    first = (network.ip,) if network.ip else ()
    found = (*first, *(each.ip for each in network.additional_ips))
    return found if all(map(_is_address, found)) else ()


def restart_count(annotations: Mapping[str, str]) -> int:
    """How often a container was restarted before this one, as it was noted when it was made."""
    try:
        return int(annotations.get(RESTART_COUNT_ANNOTATION, "0"))
    except ValueError:
        return 0


def moment(nanoseconds: int) -> datetime:
    """A time of CRI."""
    return EPOCH + timedelta(microseconds=nanoseconds // 1000)


def _sandbox_order(sandbox: PodSandbox) -> tuple[int, int, str]:
    """The last attempt first, then the newest."""
    attempt = sandbox.metadata.attempt if sandbox.metadata is not None else 0
    return -attempt, -sandbox.created_at, sandbox.id


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True
