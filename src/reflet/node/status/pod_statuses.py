"""The status of a pod: its phase, its conditions and the statuses of its containers.

Pure: from a pod, what the runtime saw of it and why containers wait, to what the API server is
told.  Who tells it is ``status_manager``.

Upstream: pkg/kubelet/kubelet_pods.go, generateAPIPodStatus, getPhase and
convertToAPIContainerStatuses.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from msgspec.structs import replace

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
    again = _starting_again(pod, lives, seen, circumstances)
    init = _container_statuses(
        pod, pod.spec.init_containers, lives, seen, circumstances, again=again
    )
    containers = _container_statuses(
        pod, pod.spec.containers, lives, seen, circumstances, again=again
    )
    ephemeral = tuple(
        replace(each, ready=False, started=None)  # nothing probes it, and no Service counts on it
        for each in _container_statuses(
            pod, pod.spec.ephemeral_containers, lives, seen, circumstances, again=again
        )
    )
    phase = _phase(pod, seen, init, containers, circumstances, again=again)
    reason = circumstances.failure
    if is_terminated(pod):
        phase = pod.status.phase
        reason = reason or Waiting(pod.status.reason, pod.status.message)
    if circumstances.failure is not None:
        init, containers, ephemeral = map(_with_lives, (init, containers, ephemeral))
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
        # The kubelet's order: init containers as they run, the others by name.
        container_statuses=_by_name(containers),
        ephemeral_container_statuses=_by_name(ephemeral),
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
    *,
    again: frozenset[str],
) -> tuple[ContainerStatus, ...]:
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
            # How it ended says more than that it waits, until it is known for what.
            starts_again=each.name in again and each.name in circumstances.waiting,
            is_init=containers is pod.spec.init_containers,
            health=_health(circumstances.health, lives.get(each.name, ())),
            scheme=circumstances.scheme,
        )
        for each in containers
    )


def _health(health: PodHealth, lives: Sequence[RuntimeContainerStatus]) -> ContainerHealth:
    return health.of(lives[0].id) if lives else NO_PROBES


def _starting_again(
    pod: Pod,
    lives: Mapping[str, Sequence[RuntimeContainerStatus]],
    seen: RuntimeStatus,
    circumstances: Circumstances,
) -> frozenset[str]:
    """The containers whose last life was not their last."""
    if circumstances.is_ending:
        return frozenset()
    initialized = is_initialized(pod, seen, circumstances.health)
    spec = pod.spec
    policies = {each.name: policy_of(pod, each) for each in spec.containers}
    for each in spec.init_containers:
        if is_sidecar(each):
            policies[each.name] = policy_of(pod, each)
        elif not initialized:
            policies[each.name] = init_policy_of(pod, each)
    return frozenset(
        name
        for name, (newest, *_) in lives.items()
        if (name in policies and starts_again(policies[name], newest))
        or name in circumstances.failed
    )


def _phase(
    pod: Pod,
    seen: RuntimeStatus,
    init: Sequence[ContainerStatus],
    containers: Sequence[ContainerStatus],
    circumstances: Circumstances,
    *,
    again: frozenset[str],
) -> str:
    if circumstances.failure is not None:
        return FAILED
    sidecars = {each.name for each in pod.spec.init_containers if is_sidecar(each)}
    if any(
        each.state.terminated is not None
        and each.state.terminated.exit_code
        and each.name not in sidecars | again
        for each in init
    ) and not is_initialized(pod, seen, circumstances.health):
        return FAILED
    if not is_initialized(pod, seen, circumstances.health):
        return PENDING
    states = [each.state for each in containers]
    ended = [
        each.state.terminated
        for each in containers
        if each.state.terminated is not None and each.name not in again
    ]
    if not states or not all(each.container_id for each in containers):
        return PENDING  # until every container has had a life
    if any(state.running is not None for state in states):
        return RUNNING
    if len(ended) == len(states):
        if any(each.name in sidecars and each.state.running is not None for each in init):
            return RUNNING  # the sidecars still have to end
        return FAILED if any(each.exit_code for each in ended) else SUCCEEDED
    return RUNNING  # some wait to start again: it is running, however often it crashes


def _by_name(statuses: Iterable[ContainerStatus]) -> tuple[ContainerStatus, ...]:
    return tuple(sorted(statuses, key=lambda each: each.name))


def _with_lives(statuses: Sequence[ContainerStatus]) -> tuple[ContainerStatus, ...]:
    """Containers of a pod that is not run, and that never were, are nothing to tell of."""
    return tuple(each for each in statuses if each.container_id)
