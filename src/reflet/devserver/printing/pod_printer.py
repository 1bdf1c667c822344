"""What the columns of a pod show: how phases, conditions and container states become one word.

Upstream: pkg/printers/internalversion/printers.go, printPod
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from reflet.gotext.durations import human_duration, moment_of

Document = Mapping[str, Any]

NONE: Final = "<none>"
FINISHED: Final = frozenset({"Succeeded", "Failed"})


@dataclass(slots=True)
class _Summary:
    """What the containers add up to, while they are looked at."""

    word: str
    containers: int
    ready: int = 0
    restarts: int = 0
    last_restart: datetime | None = None

    def count_restarts(self, status: Document) -> None:
        self.restarts += status.get("restartCount", 0)
        ended = (status.get("lastState") or {}).get("terminated") or {}
        moment = moment_of(ended.get("finishedAt"))
        if moment is not None and (self.last_restart is None or moment > self.last_restart):
            self.last_restart = moment


def pod_cells(pod: Document, now: datetime) -> list[Any]:
    """Give the cells after the name: ready, status, restarts, age and the wide ones."""
    spec, status = pod.get("spec", {}), pod.get("status", {})
    summary = _summary(pod)
    restarts = str(summary.restarts)
    if summary.restarts and summary.last_restart is not None:
        ago = human_duration((now - summary.last_restart).total_seconds())
        restarts = f"{restarts} ({ago} ago)"
    born = moment_of(pod["metadata"].get("creationTimestamp"))
    addresses = status.get("podIPs") or [{"ip": status.get("podIP")}]
    return [
        f"{summary.ready}/{summary.containers}",
        summary.word,
        restarts,
        "<unknown>" if born is None else human_duration((now - born).total_seconds()),
        addresses[0].get("ip") or NONE,
        spec.get("nodeName") or NONE,
        status.get("nominatedNodeName") or NONE,
        _gates(spec, status),
    ]


def _gates(spec: Document, status: Document) -> str:
    gates = [gate.get("conditionType") for gate in spec.get("readinessGates") or ()]
    if not gates:
        return NONE
    true = {
        condition.get("type")
        for condition in status.get("conditions") or ()
        if condition.get("status") == "True"
    }
    return f"{sum(gate in true for gate in gates)}/{len(gates)}"


def _summary(pod: Document) -> _Summary:
    spec, status = pod.get("spec", {}), pod.get("status", {})
    sidecars = {
        container.get("name")
        for container in spec.get("initContainers") or ()
        if container.get("restartPolicy") == "Always"
    }
    phase = status.get("phase", "")
    summary = _Summary(
        word=status.get("reason") or phase,
        containers=len(spec.get("containers") or ()) + len(sidecars),
    )
    conditions = status.get("conditions") or ()
    if any(
        condition.get("type") == "PodScheduled" and condition.get("reason") == "SchedulingGated"
        for condition in conditions
    ):
        summary.word = "SchedulingGated"
    initializing = _look_at_init_containers(pod, sidecars, summary)
    if not initializing or _is_true(conditions, "Initialized"):
        _look_at_containers(pod, sidecars, summary)
    if pod["metadata"].get("deletionTimestamp"):
        if status.get("reason") == "NodeLost":
            summary.word = "Unknown"
        elif phase not in FINISHED:
            summary.word = "Terminating"
    return summary


def _is_true(conditions: Any, kind: str) -> bool:
    return any(
        condition.get("type") == kind and condition.get("status") == "True"
        for condition in conditions
    )


def _look_at_init_containers(pod: Document, sidecars: set[Any], summary: _Summary) -> bool:
    """Go through them in order; say whether one of them still holds the pod up."""
    total = len(pod.get("spec", {}).get("initContainers") or ())
    statuses = pod.get("status", {}).get("initContainerStatuses") or ()
    for index, container in enumerate(statuses):
        summary.count_restarts(container)
        state = container.get("state") or {}
        ended = state.get("terminated")
        if ended is not None and ended.get("exitCode", 0) == 0:
            continue
        if container.get("name") in sidecars and container.get("started"):
            summary.ready += bool(container.get("ready"))
            continue
        waits_for = (state.get("waiting") or {}).get("reason")
        if ended is not None:
            summary.word = "Init:" + (ended.get("reason") or _exit(ended))
        elif waits_for and waits_for != "PodInitializing":
            summary.word = f"Init:{waits_for}"
        else:
            summary.word = f"Init:{index}/{total}"
        return True
    return False


def _exit(ended: Document) -> str:
    if ended.get("signal"):
        return f"Signal:{ended['signal']}"
    return f"ExitCode:{ended.get('exitCode', 0)}"


def _look_at_containers(pod: Document, sidecars: set[Any], summary: _Summary) -> None:
    status = pod.get("status", {})
    # Restarts of ordinary init containers stop to count once the pod is initialized.
    summary.restarts, summary.last_restart = 0, None
    for container in status.get("initContainerStatuses") or ():
        if container.get("name") in sidecars:
            summary.count_restarts(container)
    runs = False
    for container in reversed(status.get("containerStatuses") or ()):
        summary.count_restarts(container)
        state = container.get("state") or {}
        waiting, ended = state.get("waiting"), state.get("terminated")
        if waiting is not None and waiting.get("reason"):
            summary.word = waiting["reason"]
        elif ended is not None:
            summary.word = ended.get("reason") or _exit(ended)
        elif container.get("ready") and state.get("running") is not None:
            runs = True
            summary.ready += 1
    if summary.word == "Completed" and runs:
        ready = _is_true(status.get("conditions") or (), "Ready")
        summary.word = "Running" if ready else "NotReady"
