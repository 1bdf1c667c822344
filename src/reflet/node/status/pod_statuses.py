"""The status of a pod: its phase, its conditions and the statuses of its containers.

Pure: from a pod, what the runtime saw of it and why containers wait, to what the API server is
told.  Who tells it is ``status_manager``.

Upstream: pkg/kubelet/kubelet_pods.go, generateAPIPodStatus, getPhase and
convertToAPIContainerStatuses.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from reflet.api.core.containers import Container
from reflet.api.core.pods import ContainerStatus, HostIP, Pod, PodIP, PodStatus
from reflet.node.pods.pod_actions import is_initialized
from reflet.node.pods.restart_policy import init_policy_of, is_sidecar, policy_of, starts_again
from reflet.node.probes.probe_results import NO_PROBES, UNPROBED, ContainerHealth, PodHealth
from reflet.node.status.container_statuses import (
    CONTAINER_CREATING,
    POD_INITIALIZING,
    SCHEME,
    Waiting,
    container_status,
)
from reflet.node.status.pod_conditions import pod_conditions
from reflet.pleg.runtime_status import RuntimeContainerStatus, RuntimeStatus
from reflet.pods.registrar import is_terminated

PENDING, RUNNING, SUCCEEDED, FAILED = "Pending", "Running", "Succeeded", "Failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Circumstances:
    """What a status depends on besides the pod and its processes.

    *waiting* says why containers wait, by name.  *failure* is why the pod as a whole is not run.
    With *is_ending* nothing of it starts again.  *health* is what probes say, and *failed* are
    the containers that were ended because of it.  *isolates* says whether its containers have
    namespaces of their own, None where none are run.  *addresses* are the node's, and
    *pod_addresses* the pod's where the runtime does not say; ids of containers begin with *scheme*.
    """

    addresses: tuple[str, ...] = ()
    pod_addresses: tuple[str, ...] = ()
    scheme: str = SCHEME
    waiting: Mapping[str, Waiting] = field(default_factory=dict)
    failure: Waiting | None = None
    is_ending: bool = False
    isolates: bool | None = None
    health: PodHealth = UNPROBED
    failed: frozenset[str] = frozenset()


def pod_status(
    pod: Pod, seen: RuntimeStatus, circumstances: Circumstances, *, now: datetime
) -> PodStatus:
    """Return the pod's status; one that has succeeded or failed stays so."""
    lives = _lives(seen)
    init = _container_statuses(pod, pod.spec.init_containers, lives, seen, circumstances)
    containers = _container_statuses(pod, pod.spec.containers, lives, seen, circumstances)
    phase = _phase(pod, seen, init, containers, circumstances)
    reason = circumstances.failure
    if is_terminated(pod):
        phase = pod.status.phase
        reason = reason or Waiting(pod.status.reason, pod.status.message)
    if circumstances.failure is not None:
        init, containers = _with_lives(init), _with_lives(containers)
    addresses = circumstances.addresses
    ips = seen.ips or circumstances.pod_addresses
    return PodStatus(
        observed_generation=pod.metadata.generation,
        phase=phase,
        conditions=pod_conditions(
            pod,
            phase=phase,
            has_sandbox=any(sandbox.ready for sandbox in seen.sandboxes),
            init=init,
            containers=containers,
            now=now,
            isolates=circumstances.isolates,
        ),
        reason=reason.reason if reason else "",
        message=reason.message if reason else "",
        host_ip=addresses[0] if addresses else "",
        host_ips=tuple(HostIP(ip=each) for each in addresses),
        pod_ip=ips[0] if ips else "",
        pod_ips=tuple(PodIP(ip=each) for each in ips),
        start_time=pod.status.start_time or now.replace(microsecond=0),
        init_container_statuses=init,
        container_statuses=containers,
        qos_class=pod.status.qos_class,
        nominated_node_name=pod.status.nominated_node_name,
    )


def _lives(seen: RuntimeStatus) -> dict[str, list[RuntimeContainerStatus]]:
    lives: dict[str, list[RuntimeContainerStatus]] = {}
    for life in seen.containers:
        lives.setdefault(life.name, []).append(life)
    return lives


def _container_statuses(
    pod: Pod,
    containers: Sequence[Container],
    lives: Mapping[str, Sequence[RuntimeContainerStatus]],
    seen: RuntimeStatus,
    circumstances: Circumstances,
) -> tuple[ContainerStatus, ...]:
    is_init = containers is pod.spec.init_containers
    initialized = is_initialized(pod, seen, circumstances.health)
    if pod.spec.init_containers and not initialized:
        usual = Waiting(POD_INITIALIZING)
    else:
        usual = Waiting(CONTAINER_CREATING)
    return tuple(
        container_status(
            each,
            lives.get(each.name, ()),
            waiting=circumstances.waiting.get(each.name, usual),
            starts_again=not circumstances.is_ending
            and (
                _starts_again(pod, each, lives.get(each.name, ()), is_init, initialized)
                or (each.name in circumstances.failed and each.name in lives)
            ),
            is_init=is_init,
            health=_health(circumstances.health, lives.get(each.name, ())),
            scheme=circumstances.scheme,
        )
        for each in containers
    )


def _health(health: PodHealth, lives: Sequence[RuntimeContainerStatus]) -> ContainerHealth:
    return health.of(lives[0].id) if lives else NO_PROBES


def _starts_again(
    pod: Pod,
    container: Container,
    lives: Sequence[RuntimeContainerStatus],
    is_init: bool,
    initialized: bool,
) -> bool:
    if not lives:
        return False
    if not is_init or is_sidecar(container):
        return starts_again(policy_of(pod, container), lives[0])
    return not initialized and starts_again(init_policy_of(pod, container), lives[0])


def _phase(
    pod: Pod,
    seen: RuntimeStatus,
    init: Sequence[ContainerStatus],
    containers: Sequence[ContainerStatus],
    circumstances: Circumstances,
) -> str:
    if circumstances.failure is not None:
        return FAILED
    sidecars = {each.name for each in pod.spec.init_containers if is_sidecar(each)}
    if any(
        each.state.terminated is not None
        and each.state.terminated.exit_code
        and each.name not in sidecars
        for each in init
    ) and not is_initialized(pod, seen, circumstances.health):
        return FAILED
    if not is_initialized(pod, seen, circumstances.health):
        return PENDING
    states = [each.state for each in containers]
    ended = [state.terminated for state in states if state.terminated is not None]
    if not states or not all(each.container_id for each in containers):
        return PENDING  # until every container has had a life
    if any(state.running is not None for state in states):
        return RUNNING
    if len(ended) == len(states):
        if any(each.name in sidecars and each.state.running is not None for each in init):
            return RUNNING  # the sidecars still have to end
        return FAILED if any(each.exit_code for each in ended) else SUCCEEDED
    return RUNNING  # some wait to start again: it is running, however often it crashes


def _with_lives(statuses: Sequence[ContainerStatus]) -> tuple[ContainerStatus, ...]:
    """Containers of a pod that is not run, and that never were, are nothing to tell of."""
    return tuple(each for each in statuses if each.container_id)
