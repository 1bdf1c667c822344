"""A pretend kubelet: from a pod and the time to its next status.

Everything is read from the status before, so nothing is lost when it starts again.

Upstream: pkg/kubelet/kubelet_pods.go, getPhase and generateAPIPodStatus;
pkg/kubelet/kuberuntime/kuberuntime_manager.go, doBackOff; pkg/kubelet/status/generate.go
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from reflet.gotext.times import time_text
from reflet.play.actions import Document
from reflet.play.pod_scripts import Script, ScriptStep

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


def seconds_until(text: str, seconds: float, now: datetime) -> float:
    """How long it is until so many seconds after a time of an object."""
    end = datetime.fromisoformat(text).astimezone(UTC) + timedelta(seconds=seconds)
    return (end - now).total_seconds()


def soonest(*delays: float | None) -> float | None:
    """The shortest of some delays; None is never."""
    return min((delay for delay in delays if delay is not None), default=None)


def next_status(pod: Document, around: Surrounding) -> tuple[Document, float | None]:
    """Give the status that follows, and in how many seconds to look again without a change."""
    spec, before = pod["spec"], pod.get("status", {})
    inits = spec.get("initContainers") or []
    old = {
        status["name"]: status
        for part in ("initContainerStatuses", "containerStatuses")
        for status in before.get(part) or ()
    }
    statuses: list[Document] = []
    delays: list[float | None] = []
    is_initialized = True
    for position, container in enumerate((*inits, *spec["containers"])):
        status = old.get(container["name"]) or _new_status(container, has_inits=bool(inits))
        move = _Container(pod, container, around, is_init=position < len(inits))
        status, again = move.next(status, may_start=is_initialized)
        statuses.append(status)
        delays.append(again)
        if position < len(inits):
            is_sidecar = "running" in status["state"] and container.get("restartPolicy") == "Always"
            is_initialized &= is_sidecar or _exit_code(status) == 0
    made, rest = statuses[: len(inits)], statuses[len(inits) :]
    phase = _phase(spec, made, rest, is_initialized=is_initialized)
    following: dict[str, Any] = {
        **before,
        "phase": phase,
        "observedGeneration": pod["metadata"].get("generation", 1),
        "conditions": _conditions(pod, phase, rest, around.now, is_initialized=is_initialized),
        "hostIP": around.host_ip,
        "hostIPs": [{"ip": around.host_ip}],
        "podIP": around.pod_ip,
        "podIPs": [{"ip": around.pod_ip}],
        "startTime": before.get("startTime") or time_text(around.now),
        "containerStatuses": rest,
    }
    if inits:
        following["initContainerStatuses"] = made
    return following, soonest(*delays)


def ended_status(pod: Document, now: datetime) -> Document:
    """Give the status of a pod that was told to end: whatever ran was stopped."""
    status = pod.get("status", {})
    ended = [
        each if "terminated" in each["state"] else _ended(each, KILLED, now)
        for each in status.get("containerStatuses") or ()
    ]
    is_good = ended and all(_exit_code(each) == 0 for each in ended)
    phase = "Succeeded" if is_good else "Failed"
    conditions = _conditions(pod, phase, ended, now, is_initialized=True)
    return {**status, "phase": phase, "containerStatuses": ended, "conditions": conditions}


# Containers


@dataclass(frozen=True, slots=True)
class _Container:
    """A container of a pod, from one status to the next, and for how long that one holds."""

    pod: Document
    container: Document
    around: Surrounding
    is_init: bool

    def next(self, status: Document, *, may_start: bool) -> tuple[Document, float | None]:
        state, restarts, now = status["state"], status["restartCount"], self.around.now
        step = self._step(restarts)
        if "running" in state:
            if step.how != "exit":
                return status, None
            left = seconds_until(state["running"]["startedAt"], step.after, now)
            return (status, left) if left > 0 else (_ended(status, step.code, now), None)
        if "terminated" in state:
            if not self._restarts(state["terminated"]["exitCode"]):
                return status, None
            # The first crash is forgiven: only the second one in a row waits.
            return self._backing_off(status) if restarts else self._started(status, 1)
        if state["waiting"]["reason"] == "CrashLoopBackOff":
            return self._backing_off(status)
        if not may_start or step.how == "pending":
            return status, None
        return self._started(status, 0)

    def _step(self, restarts: int) -> ScriptStep:
        script = self.around.scripts(self.container)
        return script[min(restarts, len(script) - 1)]

    def _restarts(self, code: int) -> bool:
        policy = self.pod["spec"].get("restartPolicy", "Always")
        if self.is_init:
            is_sidecar = self.container.get("restartPolicy") == "Always"
            return is_sidecar or (bool(code) and policy != "Never")
        return policy == "Always" or (policy == "OnFailure" and bool(code))

    def _started(self, status: Document, restarts: int) -> tuple[Document, None]:
        missing = self.around.missing(self.container)
        if missing:
            return _waiting(status, "CreateContainerConfigError", missing), None
        last = status["state"] if "terminated" in status["state"] else status["lastState"]
        return {
            **status,
            "containerID": f"reflet://{self.pod['metadata']['uid']}/{status['name']}/{restarts}",
            "imageID": self.container["image"],
            "lastState": last,
            "ready": self._step(restarts).how != "unready",
            "restartCount": restarts,
            "started": True,
            "state": {"running": {"startedAt": time_text(self.around.now)}},
        }, None

    def _backing_off(self, status: Document) -> tuple[Document, float | None]:
        restarts, state = status["restartCount"], status["state"]
        last = state if "terminated" in state else status["lastState"]
        delay = min(FIRST_BACKOFF * 2 ** min(restarts - 1, 10), LONGEST_BACKOFF)
        left = seconds_until(last["terminated"]["finishedAt"], delay, self.around.now)
        if left <= 0:
            return self._started({**status, "lastState": last}, restarts + 1)
        minutes, seconds = divmod(int(delay), 60)
        wait = f"{minutes}m{seconds}s" if minutes else f"{seconds}s"
        pod = "{name}_{namespace}({uid})".format_map(self.pod["metadata"])
        words = f"back-off {wait} restarting failed container={status['name']} pod={pod}"
        return {**_waiting(status, "CrashLoopBackOff", words), "lastState": last}, left


def _new_status(container: Document, *, has_inits: bool) -> Document:
    reason = "PodInitializing" if has_inits else "ContainerCreating"
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


def _waiting(status: Document, reason: str, message: str) -> dict[str, Any]:
    state = {"waiting": {"reason": reason, "message": message}}
    return {**status, "ready": False, "started": False, "state": state}


def _ended(status: Document, code: int, now: datetime) -> Document:
    ended = {
        "containerID": status.get("containerID", ""),
        "exitCode": code,
        "finishedAt": time_text(now),
        "reason": "Error" if code else "Completed",
        "startedAt": status["state"].get("running", {}).get("startedAt") or time_text(now),
    }
    return {**status, "ready": False, "started": False, "state": {"terminated": ended}}


def _exit_code(status: Document) -> int | None:
    code: int | None = status["state"].get("terminated", {}).get("exitCode")
    return code


# The pod


def _phase(
    spec: Document, inits: Sequence[Document], rests: Sequence[Document], *, is_initialized: bool
) -> str:
    policy = spec.get("restartPolicy", "Always")
    if not is_initialized:
        return "Failed" if policy == "Never" and any(map(_exit_code, inits)) else "Pending"
    codes = [_exit_code(each) for each in rests]
    if policy != "Always" and None not in codes and (policy == "Never" or not any(codes)):
        return "Failed" if any(codes) else "Succeeded"
    is_new = any("waiting" in each["state"] and not each["lastState"] for each in rests)
    return "Pending" if is_new else "Running"


def _conditions(
    pod: Document, phase: str, rests: Sequence[Document], now: datetime, *, is_initialized: bool
) -> list[Document]:
    """The kubelet's conditions, and those of others; times move with the status only."""
    unready = [each["name"] for each in rests if not each["ready"]]
    old = {each["type"]: each for each in pod.get("status", {}).get("conditions") or ()}
    gates = [each["conditionType"] for each in pod["spec"].get("readinessGates") or ()]
    why_containers = why_ready = message = ""
    if phase in FINISHED:
        why_containers = why_ready = "PodCompleted" if phase == "Succeeded" else "PodFailed"
    elif unready:
        why_containers = why_ready = "ContainersNotReady"
        message = f"containers with unready status: [{' '.join(unready)}]"
    elif any(old.get(gate, {}).get("status") != "True" for gate in gates):
        why_ready = "ReadinessGatesNotReady"
    found = {
        "PodReadyToStartContainers": (phase not in FINISHED, ""),
        "Initialized": (is_initialized, "" if is_initialized else "ContainersNotInitialized"),
        "Ready": (not why_ready, why_ready),
        "ContainersReady": (not why_containers, why_containers),
        "PodScheduled": (True, ""),
    }
    made: dict[str, Document] = {}
    for kind, (is_true, reason) in found.items():
        condition = {
            "type": kind,
            "status": str(is_true),
            "observedGeneration": pod["metadata"].get("generation", 1),
            "lastProbeTime": None,
            "lastTransitionTime": time_text(now),
        }
        before = old.get(kind, {})
        if before.get("status") == condition["status"] and "lastTransitionTime" in before:
            condition["lastTransitionTime"] = before["lastTransitionTime"]
        words = {"reason": reason} if reason else {}
        words |= {"message": message} if reason == "ContainersNotReady" else {}
        made[kind] = {**condition, **words}
    return [*made.values(), *(each for kind, each in old.items() if kind not in found)]
