"""``jobs`` of play: pods until enough have succeeded, or too many have failed.

Each pod carries a finalizer until it is counted, so that one that is deleted counts once.  Pod
failure policies, success policies and the back-off limit for each index are not looked at.

Upstream: pkg/controller/job/job_controller.go, syncJob and trackJobStatusAndRemoveFinalizers;
indexed_job_utils.go; pkg/controller/ttlafterfinished
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from reflet.api.resources import JOBS, PODS
from reflet.gotext.times import time_text
from reflet.play.actions import (
    Action,
    Create,
    Delete,
    Document,
    NextActions,
    Patch,
    soonest,
    status_update,
)
from reflet.play.cluster_view import ClusterView, SeenObject
from reflet.play.controller import PlayedController, its_controller, itself
from reflet.play.pod_lifecycle import FINISHED, moment
from reflet.play.workloads.workload_pods import (
    is_active,
    is_going,
    is_ready,
    phase_of,
    pod_of,
    with_condition,
)

TRACKED: Final = "batch.kubernetes.io/job-tracking"
INDEX: Final = "batch.kubernetes.io/job-completion-index"
FIRST_BACKOFF: Final = 10.0  # seconds
LONGEST_BACKOFF: Final = 600.0
_INTERIM: Final = {"Complete": "SuccessCriteriaMet", "Failed": "FailureTarget"}


async def decide(view: ClusterView, key: str) -> NextActions:
    """Look at one Job."""
    job = view.get(JOBS, key)
    if job is None:
        namespace, _, name = key.partition("/")
        pods = view.seen(PODS, "namespace", namespace)
        return NextActions([_released(each.document) for each in pods if _is_lost(each, name)])
    return decide_job(job, view.owned(PODS, job["metadata"]["uid"]), view.now())


def _is_lost(pod: SeenObject, job: str) -> bool:
    """Whether a pod waits to be counted by a job that is not there to do it."""
    owners = pod.metadata.owner_references
    is_its = any(each.controller and each.kind == "Job" and each.name == job for each in owners)
    return is_its and TRACKED in pod.metadata.finalizers


def decide_job(job: Document, pods: Sequence[Document], now: datetime) -> NextActions:
    """Count what has ended, make what is missing, and say how it stands."""
    status = dict(job.get("status", {}))
    if _condition(status, "Complete") or _condition(status, "Failed"):
        return _after_the_end(job, pods, now)
    counted = [pod for pod in pods if _is_over(pod) and TRACKED in _finalizers(pod)]
    succeeded = [pod for pod in counted if phase_of(pod) == "Succeeded"]
    active = [pod for pod in pods if is_active(pod)]
    _add(status, "succeeded", len(succeeded))
    _add(status, "failed", len(counted) - len(succeeded))
    indexes = _completed(status) | {_index(pod) for pod in succeeded}
    if job["spec"].get("completionMode") == "Indexed":
        status["completedIndexes"] = _ranges(indexes)
        status["succeeded"] = len(indexes)
    verdict = _verdict(job, status, active, now)
    is_suspended = job["spec"].get("suspend", False)
    changes: list[Action] = []
    again, going = _deadline(job, status, now), sum(map(is_going, pods))
    if verdict or is_suspended:
        changes += [Delete(PODS, pod) for pod in active]
        going, active = going + len(active), []
    elif "deletionTimestamp" not in job["metadata"]:
        wait = _backoff(pods, now)
        made, surplus = _missing(job, status, active, indexes)
        changes += [Delete(PODS, pod) for pod in surplus]
        if made and wait:
            again = soonest(again, wait)
        else:
            changes += [Create(PODS, pod) for pod in made]
    conditions = _suspension(job, status, now)
    if verdict:
        conditions = _ended(status, conditions, verdict, now, is_over=not going)
    if not is_suspended:
        was_suspended = _condition(status, "Suspended") is not None
        started = None if was_suspended else status.get("startTime")
        status["startTime"] = started or time_text(now)
    status |= {"conditions": conditions} if conditions else {}
    numbers = {"active": len(active), "succeeded": status.get("succeeded", 0)}
    numbers["failed"] = status.get("failed", 0)
    status = {name: value for name, value in status.items() if name not in numbers}
    status |= {name: number for name, number in numbers.items() if number}
    status |= {"ready": sum(map(is_ready, active)), "terminating": going}
    status["uncountedTerminatedPods"] = {}
    released = [_released(pod) for pod in counted]
    return NextActions([*status_update(JOBS, job, status), *released], again, at_once=changes)


def _is_over(pod: Document) -> bool:
    return phase_of(pod) in FINISHED


def _finalizers(pod: Document) -> Sequence[str]:
    return pod["metadata"].get("finalizers") or ()


def _released(pod: Document) -> Patch:
    kept = [each for each in _finalizers(pod) if each != TRACKED]
    meant = {"uid": pod["metadata"]["uid"], "finalizers": kept or None}
    return Patch(PODS, pod, {"metadata": meant})


def _add(status: dict[str, Any], name: str, number: int) -> None:
    status[name] = status.get(name, 0) + number


def _condition(status: Document, kind: str) -> Document | None:
    for each in status.get("conditions") or ():
        if each["type"] == kind and each["status"] == "True":
            return dict(each)
    return None


# How it ends


def _verdict(
    job: Document, status: Document, active: Sequence[Document], now: datetime
) -> tuple[str, str, str] | None:
    """How the job ends, why, and in which words; None while it goes on."""
    for kind, interim in _INTERIM.items():
        held = _condition(status, interim)
        if held:
            return kind, held["reason"], held["message"]
    spec = job["spec"]
    restarts = sum(
        each["restartCount"]
        for pod in active
        for each in pod.get("status", {}).get("containerStatuses") or ()
        if spec["template"]["spec"].get("restartPolicy") == "OnFailure"
    )
    if status.get("failed", 0) + restarts > spec.get("backoffLimit", 6):
        return "Failed", "BackoffLimitExceeded", "Job has reached the specified backoff limit"
    left = _deadline(job, status, now)
    if left is not None and left <= 0:
        return "Failed", "DeadlineExceeded", "Job was active longer than specified deadline"
    done, wanted = status.get("succeeded", 0), spec.get("completions")
    if done >= wanted if wanted is not None else done and not active:
        return "Complete", "CompletionsReached", "Reached expected number of succeeded pods"
    return None


def _deadline(job: Document, status: Document, now: datetime) -> float | None:
    seconds, started = job["spec"].get("activeDeadlineSeconds"), status.get("startTime")
    if seconds is None or started is None or job["spec"].get("suspend"):
        return None
    return (moment(started) + timedelta(seconds=seconds) - now).total_seconds()


def _ended(
    status: dict[str, Any],
    conditions: list[Document],
    verdict: tuple[str, str, str],
    now: datetime,
    *,
    is_over: bool,
) -> list[Document]:
    kind, reason, message = verdict
    words = {"reason": reason, "message": message, "lastProbeTime": time_text(now)}
    if not _condition({"conditions": conditions}, _INTERIM[kind]):
        conditions = with_condition(conditions, now, _INTERIM[kind], "True", **words)
    if is_over:
        conditions = with_condition(conditions, now, kind, "True", **words)
        if kind == "Complete":
            status["completionTime"] = time_text(now)
    return conditions


def _after_the_end(job: Document, pods: Sequence[Document], now: datetime) -> NextActions:
    released = [_released(pod) for pod in pods if _is_over(pod) and TRACKED in _finalizers(pod)]
    seconds = job["spec"].get("ttlSecondsAfterFinished")
    if seconds is None or "deletionTimestamp" in job["metadata"]:
        return NextActions(released)
    status = job["status"]
    held = _condition(status, "Complete") or _condition(status, "Failed") or {}
    end = moment(held["lastTransitionTime"]) + timedelta(seconds=seconds)
    left = (end - now).total_seconds()
    if left > 0:
        return NextActions(released, left)
    return NextActions([*released, Delete(JOBS, job, policy="Foreground")])


def _suspension(job: Document, status: Document, now: datetime) -> list[Document]:
    conditions = list(status.get("conditions") or ())
    is_held = _condition(status, "Suspended") is not None
    probe = {"lastProbeTime": time_text(now)}
    if job["spec"].get("suspend") and not is_held:
        words = {"reason": "JobSuspended", "message": "Job suspended", **probe}
        conditions = with_condition(conditions, now, "Suspended", "True", **words)
    elif is_held and not job["spec"].get("suspend"):
        words = {"reason": "JobResumed", "message": "Job resumed", **probe}
        conditions = with_condition(conditions, now, "Suspended", "False", **words)
    return conditions


# Pods


def _missing(
    job: Document, status: Document, active: Sequence[Document], indexes: set[int]
) -> tuple[list[Document], list[Document]]:
    """The pods to make, and those that are too many."""
    spec = job["spec"]
    completions, parallelism = spec.get("completions"), spec.get("parallelism", 1)
    if completions is None:
        # A work queue: the first pod that succeeds says that there is nothing left.
        wanted = parallelism if not status.get("succeeded") else min(len(active), parallelism)
    else:
        wanted = min(parallelism, completions - status.get("succeeded", 0))
    surplus = list(active[: max(len(active) - wanted, 0)])
    number = max(wanted - len(active), 0)
    if spec.get("completionMode") != "Indexed":
        return [_new_pod(job) for _ in range(number)], surplus
    taken = indexes | {_index(pod) for pod in active}
    free = [index for index in range(completions or 0) if index not in taken]
    return [_new_pod(job, index) for index in free[:number]], surplus


def _new_pod(job: Document, index: int | None = None) -> Document:
    template = job["spec"]["template"]
    if index is None:
        return pod_of(job, template, finalizers=[TRACKED])
    text, name = str(index), job["metadata"]["name"]
    pod = pod_of(
        job,
        template,
        finalizers=[TRACKED],
        generateName=f"{name}-{text}-",
        labels={INDEX: text},
        annotations={INDEX: text},
    )
    field = {"fieldRef": {"fieldPath": f"metadata.labels['{INDEX}']"}}
    variable = {"name": "JOB_COMPLETION_INDEX", "valueFrom": field}
    containers = [
        {**each, "env": [*(each.get("env") or ()), variable]} for each in pod["spec"]["containers"]
    ]
    pod["spec"] = {**pod["spec"], "containers": containers, "hostname": f"{name}-{text}"}
    return pod


def _index(pod: Document) -> int:
    return int(pod["metadata"].get("annotations", {}).get(INDEX, -1))


def _completed(status: Document) -> set[int]:
    found: set[int] = set()
    for part in filter(None, (status.get("completedIndexes") or "").split(",")):
        first, _, last = part.partition("-")
        found |= set(range(int(first), int(last or first) + 1))
    return found


def _ranges(indexes: set[int]) -> str:
    """``0-2,5``."""
    runs: list[list[int]] = []
    for index in sorted(indexes):
        if runs and runs[-1][1] == index - 1:
            runs[-1][1] = index
        else:
            runs.append([index, index])
    return ",".join(
        str(first) if first == last else f"{first}{',' if last == first + 1 else '-'}{last}"
        for first, last in runs
    )


def _backoff(pods: Sequence[Document], now: datetime) -> float | None:
    """How long no pod is made after the last one failed; longer with each failure in a row."""
    ends = sorted((_end(pod), phase_of(pod) == "Failed") for pod in pods if _is_over(pod))
    failures = 0
    for _, is_failed in reversed(ends):
        if not is_failed:
            break
        failures += 1
    if not failures:
        return None
    delay = min(FIRST_BACKOFF * 2 ** min(failures - 1, 10), LONGEST_BACKOFF)
    left = (ends[-1][0] + timedelta(seconds=delay) - now).total_seconds()
    return left if left > 0 else None


def _end(pod: Document) -> datetime:
    times = [
        each["state"]["terminated"]["finishedAt"]
        for each in pod.get("status", {}).get("containerStatuses") or ()
        if "terminated" in each.get("state", {})
    ]
    return moment(max(times, default=pod["metadata"]["creationTimestamp"]))


CONTROLLER = PlayedController("jobs", {JOBS: itself, PODS: its_controller("Job")}, decide)
