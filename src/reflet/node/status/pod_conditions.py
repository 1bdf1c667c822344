"""The conditions of a pod: Initialized, Ready, ContainersReady, PodScheduled, readiness gates.

Pure.  The moment of a transition stays until the status of the condition changes, and conditions
of others are left as they are.

Upstream: pkg/kubelet/status/generate.go, GeneratePodReadyCondition,
GenerateContainersReadyCondition and GeneratePodInitializedCondition.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final

from msgspec.structs import replace

from reflet.api.core.pods import ContainerStatus, Pod
from reflet.api.meta import Condition
from reflet.node.pods.restart_policy import is_sidecar

ISOLATED: Final = "reflet.dev/Isolated"
"""Whether a pod's containers have namespaces of their own, which an agent may go without."""

OURS: Final = (
    "PodReadyToStartContainers",
    "Initialized",
    "Ready",
    "ContainersReady",
    "PodScheduled",
    ISOLATED,
)


def pod_conditions(
    pod: Pod,
    *,
    phase: str,
    has_sandbox: bool,
    init: Sequence[ContainerStatus],
    containers: Sequence[ContainerStatus],
    now: datetime,
    isolates: bool | None = None,
) -> tuple[Condition, ...]:
    """Return the pod's conditions; those of others stay as they are."""
    generation = pod.metadata.generation
    before = {condition.type: condition for condition in pod.status.conditions}
    containers_ready = _containers_ready(pod, phase, (*init, *containers))
    wanted = (
        Condition(type="PodReadyToStartContainers", status=_truth(has_sandbox)),
        _initialized(pod, phase, init, containers),
        _ready(pod, containers_ready),
        containers_ready,
        Condition(type="PodScheduled", status="True"),
        *(() if isolates is None else (_isolated(isolates),)),
    )
    ours = tuple(
        _dated(replace(each, observed_generation=generation), before.get(each.type), now)
        for each in wanted
    )
    others = tuple(each for each in pod.status.conditions if each.type not in OURS)
    return (*ours, *others)


def _isolated(isolates: bool) -> Condition:
    if isolates:
        return Condition(
            type=ISOLATED,
            status="True",
            reason="Namespaces",
            message="containers have namespaces and a file system of their own",
        )
    return Condition(
        type=ISOLATED,
        status="False",
        reason="NoIsolation",
        message="containers are plain processes of the node: its agent has --no-isolation",
    )


def _initialized(
    pod: Pod,
    phase: str,
    init: Iterable[ContainerStatus],
    containers: Iterable[ContainerStatus],
) -> Condition:
    sidecars = {each.name for each in pod.spec.init_containers if is_sidecar(each)}
    incomplete = [
        each.name
        for each in init
        if not (bool(each.started) if each.name in sidecars else each.ready)
    ]
    if phase == "Succeeded":
        return Condition(type="Initialized", status="True", reason="PodCompleted")
    # Where a container has had a life the init containers are done, whatever became of sidecars.
    if incomplete and not any(each.container_id for each in containers):
        return Condition(
            type="Initialized",
            status="False",
            reason="ContainersNotInitialized",
            message=f"containers with incomplete status: [{' '.join(incomplete)}]",
        )
    return Condition(type="Initialized", status="True")


def _ready(pod: Pod, containers_ready: Condition) -> Condition:
    """A pod is ready when its containers are and all its readiness gates are open."""
    if containers_ready.status != "True":
        return replace(containers_ready, type="Ready")
    known = {condition.type: condition.status for condition in pod.status.conditions}
    closed = [
        f'the status of pod readiness gate "{gate}" is not "True", but {known[gate]}'
        if gate in known
        else f'corresponding condition of pod readiness gate "{gate}" does not exist.'
        for gate in (each.condition_type for each in pod.spec.readiness_gates)
        if known.get(gate) != "True"
    ]
    if not closed:
        return Condition(type="Ready", status="True")
    return Condition(
        type="Ready", status="False", reason="ReadinessGatesNotReady", message=", ".join(closed)
    )


def _containers_ready(pod: Pod, phase: str, statuses: Iterable[ContainerStatus]) -> Condition:
    kind = "ContainersReady"
    if phase == "Succeeded":
        return Condition(type=kind, status="False", reason="PodCompleted")
    if phase == "Failed":
        return Condition(type=kind, status="False", reason="PodFailed")
    # Init containers have done their part long ago, but for those that run on beside the others.
    passing = {each.name for each in pod.spec.init_containers if not is_sidecar(each)}
    unready = [each.name for each in statuses if not each.ready and each.name not in passing]
    if not unready:
        return Condition(type=kind, status="True")
    return Condition(
        type=kind,
        status="False",
        reason="ContainersNotReady",
        message=f"containers with unready status: [{' '.join(unready)}]",
    )


def _dated(wanted: Condition, before: Condition | None, now: datetime) -> Condition:
    if before is not None and before.status == wanted.status and before.last_transition_time:
        return replace(wanted, last_transition_time=before.last_transition_time)
    return replace(wanted, last_transition_time=now.replace(microsecond=0))


def _truth(value: bool) -> str:
    return "True" if value else "False"
