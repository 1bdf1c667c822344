"""A pretend kubelet: from a pod and the time to its next status.

Everything is read from the status before, so nothing is lost when it starts again.

Upstream: pkg/kubelet/kubelet_pods.go, getPhase and generateAPIPodStatus;
pkg/kubelet/kuberuntime/kuberuntime_manager.go, doBackOff; pkg/kubelet/status/generate.go
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from reflet.gotext.times import time_text
from reflet.play.actions import Document, soonest
from reflet.play.pod_scripts import Exit, Script, Steady

FIRST_BACKOFF: Final = 10.0  # seconds between the second crash of a container and its next start
LONGEST_BACKOFF: Final = 300.0
KILLED: Final = 143  # the exit code of a program that ends on SIGTERM
FINISHED: Final = frozenset({"Succeeded", "Failed"})


@dataclass(frozen=True, slots=True)
class Surrounding:
    """What a pod's status depends on besides the pod: its node, its address, what is missing.

    *scripts* says what a container does; *missing* why it cannot be made, empty if it can.
    """

    now: datetime
    host_ip: str
    pod_ip: str
    scripts: Callable[[Document], Script]
    missing: Callable[[Document], str] = lambda _: ""


def moment(text: str) -> datetime:
    """Read a time of an object."""
    return datetime.fromisoformat(text).astimezone(UTC)


@dataclass(frozen=True, slots=True)
class _Moved:
    """A container's next status, and in how many seconds it changes by itself."""

    status: Document
    again: float | None = None

    @property
    def state(self) -> Document:
        state: Document = self.status["state"]
        return state

    @property
    def exit_code(self) -> int | None:
        code: int | None = self.state.get("terminated", {}).get("exitCode")
        return code


def next_status(pod: Document, around: Surrounding) -> tuple[Document, float | None]:
    """Give the status that follows, and in how many seconds to look again without a change."""
    spec, before = pod["spec"], pod.get("status", {})
    inits, rests = spec.get("initContainers") or [], spec["containers"]
    old = {
        status["name"]: status
        for part in ("initContainerStatuses", "containerStatuses")
        for status in before.get(part) or ()
    }
    moved_inits: list[_Moved] = []
    is_initialized = True
    for container in inits:
        may_start = is_initialized
        moved = _moved(pod, container, old.get(container["name"]), around, may_start=may_start)
        moved_inits.append(moved)
        started = "running" in moved.state and container.get("restartPolicy") == "Always"
        is_initialized &= started or moved.exit_code == 0
    moved_rests = [
        _moved(pod, each, old.get(each["name"]), around, may_start=is_initialized) for each in rests
    ]
    phase = _phase(spec, moved_inits, moved_rests, is_initialized=is_initialized)
    status: dict[str, Any] = {**before, "phase": phase}
    status["observedGeneration"] = pod["metadata"].get("generation", 1)
    status["conditions"] = _conditions(pod, phase, moved_rests, around, is_initialized)
    status |= {"hostIP": around.host_ip, "hostIPs": [{"ip": around.host_ip}]}
    status |= {"podIP": around.pod_ip, "podIPs": [{"ip": around.pod_ip}]}
    status.setdefault("startTime", time_text(around.now))
    if inits:
        status["initContainerStatuses"] = [each.status for each in moved_inits]
    status["containerStatuses"] = [each.status for each in moved_rests]
    return status, soonest(*(each.again for each in (*moved_inits, *moved_rests)))


def ended_status(pod: Document, now: datetime) -> Document:
    """Give the status of a pod that was told to end: whatever ran was stopped."""
    status = pod.get("status", {})
    ended = [
        each
        if "terminated" in each["state"]
        else {
            **each,
            "ready": False,
            "started": False,
            "state": _terminated(each, KILLED, each["state"], now),
        }
        for each in status.get("containerStatuses") or ()
    ]
    is_good = all(each["state"]["terminated"]["exitCode"] == 0 for each in ended)
    phase = "Succeeded" if ended and is_good else "Failed"
    found = {"Ready": ("False", "PodFailed"), "ContainersReady": ("False", "PodFailed")}
    conditions = _merged(status.get("conditions") or (), found, pod, now)
    return {**status, "phase": phase, "containerStatuses": ended, "conditions": conditions}


# Containers


def _moved(
    pod: Document,
    container: Document,
    before: Document | None,
    around: Surrounding,
    *,
    may_start: bool,
) -> _Moved:
    status = before or _new_status(container, pod)
    state, restarts = status["state"], status["restartCount"]
    script = around.scripts(container)
    step = script[min(restarts, len(script) - 1)]
    if "terminated" in state:
        if not _restarts(pod, container, state["terminated"]["exitCode"]):
            return _Moved(status)
        if restarts == 0:
            # The first crash is forgiven: only the second one in a row waits.
            return _started(pod, container, status, around, 1)
        return _backing_off(pod, container, status, around)
    if state.get("waiting", {}).get("reason") == "CrashLoopBackOff":
        return _backing_off(pod, container, status, around)
    if "running" in state:
        if not isinstance(step, Exit):
            return _Moved(status)
        end = moment(state["running"]["startedAt"]) + timedelta(seconds=step.after)
        left = (end - around.now).total_seconds()
        if left > 0:
            return _Moved(status, left)
        ended = _terminated(status, step.code, state, around.now)
        return _Moved({**status, "ready": False, "started": False, "state": ended})
    if not may_start or step == Steady("pending"):
        reason = "ContainerCreating" if may_start and not _has_inits(pod) else "PodInitializing"
        return _Moved({**status, "state": {"waiting": {"reason": reason}}})
    return _started(pod, container, status, around, 0)


def _started(
    pod: Document, container: Document, status: Document, around: Surrounding, restarts: int
) -> _Moved:
    missing = around.missing(container)
    if missing:
        waiting = {"reason": "CreateContainerConfigError", "message": missing}
        return _Moved({**status, "state": {"waiting": waiting}})
    script = around.scripts(container)
    is_ready = script[min(restarts, len(script) - 1)] != Steady("unready")
    last = status["state"] if "terminated" in status["state"] else status["lastState"]
    return _Moved(
        {
            **status,
            "containerID": _container_id(pod, container, restarts),
            "imageID": f"{container['image']}@sha256:{_digest(container['image'])}",
            "lastState": last,
            "ready": is_ready,
            "restartCount": restarts,
            "started": True,
            "state": {"running": {"startedAt": time_text(around.now)}},
        }
    )


def _backing_off(
    pod: Document, container: Document, status: Document, around: Surrounding
) -> _Moved:
    state, restarts = status["state"], status["restartCount"]
    last = state if "terminated" in state else status["lastState"]
    delay = min(FIRST_BACKOFF * 2 ** min(restarts - 1, 10), LONGEST_BACKOFF)
    end = moment(last["terminated"]["finishedAt"]) + timedelta(seconds=delay)
    left = (end - around.now).total_seconds()
    if left <= 0:
        return _started(pod, container, {**status, "lastState": last}, around, restarts + 1)
    name = f"{pod['metadata']['name']}_{pod['metadata']['namespace']}({pod['metadata']['uid']})"
    message = (
        f"back-off {_go_minutes(delay)} restarting failed container={container['name']} pod={name}"
    )
    waiting = {"reason": "CrashLoopBackOff", "message": message}
    return _Moved(
        {
            **status,
            "lastState": last,
            "ready": False,
            "started": False,
            "state": {"waiting": waiting},
        },
        left,
    )


def _go_minutes(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes}m{rest}s" if minutes else f"{rest}s"


def _new_status(container: Document, pod: Document) -> Document:
    reason = "PodInitializing" if _has_inits(pod) else "ContainerCreating"
    return {
        "name": container["name"],
        "image": container["image"],
        "imageID": "",
        "lastState": {},
        "ready": False,
        "restartCount": 0,
        "started": False,
        "state": {"waiting": {"reason": reason}},
    }


def _terminated(status: Document, code: int, state: Document, now: datetime) -> Document:
    started = state.get("running", {}).get("startedAt") or time_text(now)
    return {
        "terminated": {
            "containerID": status.get("containerID", ""),
            "exitCode": code,
            "finishedAt": time_text(now),
            "reason": "Error" if code else "Completed",
            "startedAt": started,
        }
    }


def _restarts(pod: Document, container: Document, code: int) -> bool:
    policy = pod["spec"].get("restartPolicy", "Always")
    if container in pod["spec"].get("initContainers", ()):
        if container.get("restartPolicy") == "Always":
            return True
        return bool(code) and policy != "Never"
    return policy == "Always" or (policy == "OnFailure" and bool(code))


def _has_inits(pod: Document) -> bool:
    return bool(pod["spec"].get("initContainers"))


def _digest(*parts: str) -> str:
    return hashlib.sha256("/".join(parts).encode()).hexdigest()


def _container_id(pod: Document, container: Document, restarts: int) -> str:
    return f"reflet://{_digest(pod['metadata']['uid'], container['name'], str(restarts))}"


# The pod


def _phase(
    spec: Document,
    inits: Sequence[_Moved],
    rests: Sequence[_Moved],
    *,
    is_initialized: bool,
) -> str:
    policy = spec.get("restartPolicy", "Always")
    if not is_initialized:
        is_over = policy == "Never" and any(each.exit_code for each in inits)
        return "Failed" if is_over else "Pending"
    codes = [each.exit_code for each in rests]
    if policy != "Always" and all(code is not None for code in codes):
        if not any(codes):
            return "Succeeded"
        if policy == "Never":
            return "Failed"
    never_started = ("waiting" in each.state and not each.status["lastState"] for each in rests)
    return "Pending" if any(never_started) else "Running"


def _conditions(
    pod: Document,
    phase: str,
    rests: Sequence[_Moved],
    around: Surrounding,
    is_initialized: bool,
) -> list[Document]:
    unready = [each.status["name"] for each in rests if not each.status["ready"]]
    before = pod.get("status", {}).get("conditions") or ()
    if phase in FINISHED:
        reason = "PodCompleted" if phase == "Succeeded" else "PodFailed"
        containers, ready = ("False", reason), ("False", reason)
    elif unready:
        containers = ready = ("False", "ContainersNotReady")
    else:
        containers = ready = ("True", "")
        held = {each["type"]: each["status"] for each in before}
        gates = [each["conditionType"] for each in pod["spec"].get("readinessGates") or ()]
        if any(held.get(gate) != "True" for gate in gates):
            ready = ("False", "ReadinessGatesNotReady")
    initialized = ("True", "") if is_initialized else ("False", "ContainersNotInitialized")
    if phase == "Succeeded":
        initialized = ("True", "PodCompleted")
    found = {
        "PodReadyToStartContainers": ("False" if phase in FINISHED else "True", ""),
        "Initialized": initialized,
        "Ready": ready,
        "ContainersReady": containers,
        "PodScheduled": ("True", ""),
    }
    message = f"containers with unready status: [{' '.join(unready)}]"
    return [
        {**each, "message": message} if each.get("reason") == "ContainersNotReady" else each
        for each in _merged(before, found, pod, around.now)
    ]


def _merged(
    before: Sequence[Document], found: dict[str, tuple[str, str]], pod: Document, now: datetime
) -> list[Document]:
    """The conditions that were found, and those of others; times move with the status only."""
    old = {each["type"]: each for each in before}
    merged: list[Document] = []
    for kind, (status, reason) in found.items():
        earlier = old.get(kind, {})
        since = earlier.get("lastTransitionTime") if earlier.get("status") == status else None
        condition = {
            "type": kind,
            "status": status,
            "observedGeneration": pod["metadata"].get("generation", 1),
            "lastProbeTime": None,
            "lastTransitionTime": since or time_text(now),
        }
        merged.append({**condition, "reason": reason} if reason else condition)
    return [*merged, *(each for each in before if each["type"] not in found)]
