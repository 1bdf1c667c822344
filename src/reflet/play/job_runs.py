"""``jobs`` of play: pods until enough have succeeded, or too many have failed.

Pods that ended are counted while they are there: one that somebody deletes before the job is over
may run again.  There is no back-off between failures; policies of pod failure and of success are
not looked at.

Upstream: pkg/controller/job/job_controller.go, syncJob; pkg/controller/ttlafterfinished
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from reflet.api.resources import JOBS, PODS
from reflet.controllers.object_writes import set_condition
from reflet.gotext.times import time_text
from reflet.play.actions import Action, Delete, Document, Plan, Save, status_saved, with_metadata
from reflet.play.cluster_view import ClusterView
from reflet.play.owned_pods import is_active, is_going, is_ready, phase_of, pod_of
from reflet.play.pod_lifecycle import FINISHED, seconds_until
from reflet.play.running_play import Player

INDEX: Final = "batch.kubernetes.io/job-completion-index"
# The server wants to hear why a job will end before it hears that it has.
_INTERIM: Final = {"Complete": "SuccessCriteriaMet", "Failed": "FailureTarget"}
_HIDDEN: Final = frozenset({"active", "succeeded", "failed"})  # when they are 0


def run_job(view: ClusterView, job: Document) -> Plan:
    """Count what has ended, make what is missing, and say how it stands."""
    spec, before, now = job["spec"], job.get("status", {}), view.now()
    conditions = before.get("conditions") or []
    held = {each["type"]: each for each in conditions if each["status"] == "True"}
    if "Complete" in held or "Failed" in held:
        end = (held.get("Complete") or held["Failed"])["lastTransitionTime"]
        return _after_the_end(view, job, end)
    pods, is_suspended = view.owned(PODS, job), spec.get("suspend", False)
    active = [pod for pod in pods if is_active(pod)]
    going = sum(is_going(pod) and phase_of(pod) not in FINISHED for pod in pods)
    status: dict[str, Any] = {**before, "uncountedTerminatedPods": {}}
    for name, phase in (("succeeded", "Succeeded"), ("failed", "Failed")):
        ended = sum(phase_of(pod) == phase for pod in pods)
        status[name] = max(ended, before.get(name, 0))
    if not is_suspended and ("Suspended" in held or "startTime" not in before):
        status["startTime"] = time_text(now)
    if is_suspended != ("Suspended" in held):
        word = "suspended" if is_suspended else "resumed"
        reason, message = f"Job{word.capitalize()}", f"Job {word}"
        conditions = set_condition(
            conditions, "Suspended", is_suspended, reason=reason, message=message, now=now
        )
    left = _time_left(view, spec, status)
    verdict = _verdict(spec, status, active, left)
    missing, surplus = ([], active) if verdict or is_suspended else _missing(job, status, pods)
    actions: list[Action] = [Delete(PODS, pod) for pod in surplus]
    if not is_going(job):
        actions += [Save(PODS, pod) for pod in missing]
    if verdict:
        kind, reason, message = verdict
        for each in (_INTERIM[kind], kind) if not active and not going else (_INTERIM[kind],):
            conditions = set_condition(
                conditions, each, True, reason=reason, message=message, now=now
            )
        if kind == "Complete" and not active and not going:
            status["completionTime"] = time_text(now)
    still = [pod for pod in active if pod not in surplus]
    status |= {"conditions": conditions} if conditions else {}
    status |= {"active": len(still), "ready": sum(map(is_ready, still))}
    status["terminating"] = going + len(surplus)
    shown = {key: value for key, value in status.items() if value != 0 or key not in _HIDDEN}
    return Plan([*actions, *status_saved(JOBS, job, shown)], None if verdict else left)


def _time_left(view: ClusterView, spec: Document, status: Document) -> float | None:
    seconds = spec.get("activeDeadlineSeconds")
    if seconds is None or spec.get("suspend") or "startTime" not in status:
        return None
    return seconds_until(status["startTime"], seconds, view.now())


def _verdict(
    spec: Document, status: Document, active: Sequence[Document], left: float | None
) -> tuple[str, str, str] | None:
    """How the job ends, why, and in which words; None while it goes on."""
    restarts = sum(
        each["restartCount"]
        for pod in active
        for each in pod.get("status", {}).get("containerStatuses") or ()
    )
    if status["failed"] + restarts > spec.get("backoffLimit", 6):
        return "Failed", "BackoffLimitExceeded", "Job has reached the specified backoff limit"
    if left is not None and left <= 0:
        return "Failed", "DeadlineExceeded", "Job was active longer than specified deadline"
    done, wanted = status["succeeded"], spec.get("completions")
    if done >= wanted if wanted is not None else done and not active:
        return "Complete", "CompletionsReached", "Reached expected number of succeeded pods"
    return None


def _after_the_end(view: ClusterView, job: Document, end: str) -> Plan:
    seconds = job["spec"].get("ttlSecondsAfterFinished")
    if seconds is None or is_going(job):
        return Plan()
    left = seconds_until(end, seconds, view.now())
    return Plan((), left) if left > 0 else Plan([Delete(JOBS, job, policy="Foreground")])


def _missing(
    job: Document, status: Document, pods: Sequence[Document]
) -> tuple[list[Document], list[Document]]:
    """The pods to make, and those that are too many."""
    spec, active = job["spec"], [pod for pod in pods if is_active(pod)]
    completions, wanted = spec.get("completions"), spec.get("parallelism", 1)
    if completions is not None:
        wanted = min(wanted, completions - status["succeeded"])
    elif status["succeeded"]:
        # A work queue: the first pod that succeeds says that there is nothing left.
        wanted = min(wanted, len(active))
    number, surplus = max(wanted - len(active), 0), active[: max(len(active) - wanted, 0)]
    if spec.get("completionMode") != "Indexed":
        return [pod_of(job) for _ in range(number)], surplus
    taken = {_index(pod) for pod in pods if is_active(pod) or phase_of(pod) == "Succeeded"}
    free = [index for index in map(str, range(completions or 0)) if index not in taken]
    return [_indexed_pod(job, index) for index in free[:number]], surplus


def _index(pod: Document) -> str:
    return str(pod["metadata"].get("annotations", {}).get(INDEX, ""))


def _indexed_pod(job: Document, index: str) -> Document:
    pod, name = pod_of(job, **{INDEX: index}), job["metadata"]["name"]
    annotations = {**pod["metadata"].get("annotations", {}), INDEX: index}
    pod = with_metadata(pod, annotations=annotations, generateName=f"{name}-{index}-")
    path = {"fieldRef": {"fieldPath": f"metadata.annotations['{INDEX}']"}}
    variable = {"name": "JOB_COMPLETION_INDEX", "valueFrom": path}
    containers = [
        {**each, "env": [*(each.get("env") or ()), variable]} for each in pod["spec"]["containers"]
    ]
    pod["spec"] = {**pod["spec"], "containers": containers, "hostname": f"{name}-{index}"}
    return pod


PLAYER = Player(JOBS, run_job, owns=(PODS,))
