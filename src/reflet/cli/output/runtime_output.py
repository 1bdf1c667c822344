"""Pods of a container runtime as ``reflet ps`` shows them: rows for people, documents for programs.

Pure: statuses and times in, texts out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from reflet.gotext.durations import human_duration
from reflet.gotext.times import micro_time_text
from reflet.pleg.compute_events import PodEvent, PodEventType
from reflet.pleg.runtime_status import (
    RuntimeContainerStatus,
    RuntimeSandbox,
    RuntimeState,
    RuntimeStatus,
)

HEADINGS: Final = ("NAMESPACE", "POD", "CONTAINER", "STATE", "RESTARTS", "AGE", "OBSERVED")
WIDE_HEADINGS: Final = (*HEADINGS, "IP", "CONTAINER ID", "IMAGE", "MESSAGE")
EVENT_HEADINGS: Final = ("OBSERVED", "LAG", "EVENT", "NAMESPACE", "POD", "CONTAINER", "STATE")
EVENT_WIDTHS: Final = (12, 6, 16, 12, 24, 16, 0)
SANDBOX: Final = "(sandbox)"
NONE: Final = "<none>"
SHORT_ID: Final = 13  # letters of an id, as crictl shows them


@dataclass(frozen=True, slots=True)
class Observed:
    """The status of a pod, and the wall time that it is as new as."""

    status: RuntimeStatus
    at: datetime
    error: Exception | None = None


def rows(
    pods: Iterable[Observed], now: datetime, *, everything: bool, wide: bool
) -> Iterator[Sequence[str]]:
    """One row for each container; with *everything* for each of its lives, and for empty pods."""
    for pod in sorted(pods, key=lambda each: (each.status.namespace, each.status.name)):
        status = pod.status
        lives = [
            life for life in status.containers if everything or life.state is RuntimeState.RUNNING
        ]
        for life in lives:
            yield _row(pod, _container_cells(life, now), now, wide=wide)
        if everything and not lives:
            yield _row(pod, _sandbox_cells(status.sandboxes), now, wide=wide)


def document(
    pods: Iterable[Observed], runtime: dict[str, str], *, everything: bool
) -> dict[str, Any]:
    """What programs get."""
    ordered = sorted(pods, key=lambda each: (each.status.namespace, each.status.name))
    return {
        "apiVersion": "reflet.dev/v1alpha1",
        "kind": "RuntimePodList",
        "runtime": runtime,
        "items": [
            pod_document(pod)
            for pod in ordered
            if everything or any(c.state is RuntimeState.RUNNING for c in pod.status.containers)
        ],
    }


def pod_document(pod: Observed) -> dict[str, Any]:
    """One pod for programs."""
    status = pod.status
    found: dict[str, Any] = {
        "namespace": status.namespace,
        "name": status.name,
        "uid": status.uid,
        "observedAt": micro_time_text(pod.at),
        "ips": list(status.ips),
        "sandboxes": [
            {"id": each.id, "ready": each.ready, "createdAt": _time(each.created_at)}
            for each in status.sandboxes
        ],
        "containers": [_container_document(each) for each in status.containers],
    }
    if pod.error is not None:
        found["error"] = str(pod.error)
    return found


def event_document(event: PodEvent, pod: Observed) -> dict[str, Any]:
    """An event for programs, with the pod as it was observed to be."""
    return {
        "type": event.type.value,
        "containerID": event.container_id,
        "object": pod_document(pod),
    }


class EventLines:
    """Events as lines, with the names of what is gone by then."""

    def __init__(self) -> None:
        self._names: dict[str, tuple[str, str, str]] = {}

    def learn(self, status: RuntimeStatus) -> None:
        """Remember what the ids of a pod are called."""
        pod = (status.namespace, status.name)
        self._names |= {each.id: (*pod, SANDBOX) for each in status.sandboxes}
        self._names |= {each.id: (*pod, each.name) for each in status.containers}

    def line(self, event: PodEvent, pod: Observed) -> str:
        """One event, when it was observed, and how long after it happened."""
        self.learn(pod.status)
        identity = event.container_id
        names = self._names.get(identity, (pod.status.namespace, pod.status.name, identity))
        if event.type is PodEventType.CONTAINER_REMOVED:
            self._names.pop(identity, None)
        life = next((each for each in pod.status.containers if each.id == identity), None)
        happened = _happened(event, life)
        lag = "" if happened is None else span((pod.at - happened).total_seconds())
        observed = pod.at.astimezone().strftime("%H:%M:%S.%f")[:-3]
        state = "" if life is None else state_of(life)
        return in_columns((observed, lag, event.type.value, *names, state))


def in_columns(cells: Sequence[str]) -> str:
    """A line whose columns stand below each other, though the next lines are not known yet."""
    padded = (cell.ljust(width) for cell, width in zip(cells, EVENT_WIDTHS, strict=True))
    return " ".join(padded).rstrip()


def state_of(life: RuntimeContainerStatus) -> str:
    """What a container is doing, and how it ended."""
    if life.state is not RuntimeState.EXITED:
        return life.state.value.capitalize()
    ending = "Exited" if life.reason in {"", "Error"} else life.reason
    return f"{ending} ({life.exit_code})"


def span(seconds: float) -> str:
    """How long, to the millisecond below a second."""
    return human_duration(seconds) if seconds >= 1 else f"{max(0, round(seconds * 1000))}ms"


def _happened(event: PodEvent, life: RuntimeContainerStatus | None) -> datetime | None:
    if life is None:
        return None
    if event.type is PodEventType.CONTAINER_STARTED:
        return life.started_at
    return life.finished_at if event.type is PodEventType.CONTAINER_DIED else None


@dataclass(frozen=True, slots=True)
class _Cells:
    """What a row says of a container, or of a sandbox without any."""

    name: str
    state: str
    restarts: str
    created_at: datetime | None
    identity: str = ""
    image: str = ""
    message: str = ""


def _container_cells(life: RuntimeContainerStatus, now: datetime) -> _Cells:
    state = state_of(life)
    if life.state is RuntimeState.EXITED and life.finished_at is not None:
        state += f" {span((now - life.finished_at).total_seconds())} ago"
    return _Cells(
        life.name,
        state,
        str(life.restart_count),
        life.created_at,
        life.id[:SHORT_ID],
        life.image,
        " ".join(life.message.split()),
    )


def _sandbox_cells(sandboxes: Sequence[RuntimeSandbox]) -> _Cells:
    if not sandboxes:
        return _Cells(NONE, "No sandbox", "", None)
    newest = sandboxes[0]
    state = "Ready" if newest.ready else "Not ready"
    return _Cells(SANDBOX, state, "", newest.created_at, newest.id[:SHORT_ID])


def _row(pod: Observed, cells: _Cells, now: datetime, *, wide: bool) -> Sequence[str]:
    status = pod.status
    age = "" if cells.created_at is None else span((now - cells.created_at).total_seconds())
    observed = f"{span((now - pod.at).total_seconds())} ago"
    row = (
        status.namespace,
        status.name,
        cells.name,
        "Unknown" if pod.error is not None else cells.state,
        cells.restarts,
        age,
        observed,
    )
    if not wide:
        return row
    message = str(pod.error) if pod.error is not None else cells.message
    return (*row, ",".join(status.ips) or NONE, cells.identity, cells.image, message)


def _container_document(life: RuntimeContainerStatus) -> dict[str, Any]:
    found = {
        "id": life.id,
        "name": life.name,
        "state": life.state.value,
        "restartCount": life.restart_count,
        "image": life.image,
        "imageID": life.image_id,
        "createdAt": _time(life.created_at),
        "startedAt": _time(life.started_at),
    }
    if life.state is RuntimeState.EXITED:
        found |= {
            "finishedAt": _time(life.finished_at),
            "exitCode": life.exit_code,
            "reason": life.reason,
            "message": life.message,
        }
    return found


def _time(moment: datetime | None) -> str | None:
    return None if moment is None else micro_time_text(moment)
