"""The conditions of a pod.

Owns: when a pod is initialized, ready and scheduled, in the kubelet's words, and that the moment
of a transition stays until the next one.  Only computes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final

from msgspec.structs import replace

from reflet.api.meta import Condition
from reflet.api.pod_status import ContainerStatus
from reflet.api.pods import Pod
from reflet.node.run_decisions import is_sidecar

OURS: Final = (
    "PodReadyToStartContainers",
    "Initialized",
    "Ready",
    "ContainersReady",
    "PodScheduled",
)


def pod_conditions(
    pod: Pod,
    *,
    phase: str,
    has_sandbox: bool,
    init: Sequence[ContainerStatus],
    containers: Sequence[ContainerStatus],
    now: datetime,
) -> tuple[Condition, ...]:
    """Return the pod's conditions; those of others stay as they are."""
    generation = pod.metadata.generation
    before = {condition.type: condition for condition in pod.status.conditions}
    wanted = (
        Condition(type="PodReadyToStartContainers", status=_truth(has_sandbox)),
        _initialized(pod, phase, init, containers),
        _ready("Ready", phase, containers),
        _ready("ContainersReady", phase, containers),
        Condition(type="PodScheduled", status="True"),
    )
    ours = tuple(
        _dated(replace(each, observed_generation=generation), before.get(each.type), now)
        for each in wanted
    )
    others = tuple(each for each in pod.status.conditions if each.type not in OURS)
    return (*ours, *others)


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


def _ready(kind: str, phase: str, containers: Iterable[ContainerStatus]) -> Condition:
    if phase == "Succeeded":
        return Condition(type=kind, status="False", reason="PodCompleted")
    if phase == "Failed":
        return Condition(type=kind, status="False", reason="PodFailed")
    unready = [each.name for each in containers if not each.ready]
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
