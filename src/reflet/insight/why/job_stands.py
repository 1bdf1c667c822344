"""How a Job and a CronJob stand: what has failed, and whether it still counts.

Upstream: pkg/controller/{job,cronjob}
"""

from collections.abc import Sequence
from typing import Final

from reflet.api.core.workloads import CronJob, Job
from reflet.insight.why.cluster_state import StateView
from reflet.insight.why.creation_reasons import refusal
from reflet.insight.why.pod_makers import (
    FAILED_CREATE,
    LONG_AGO,
    OwnPod,
    WorkloadStand,
    is_owned,
    made_by,
    moment_of,
)
from reflet.insight.why.reasons import ObjectName, Reason, Sighting, seen
from reflet.insight.why.signals import Signal, common_words, counted, signals_in

_MISSED: Final = frozenset({"MissSchedule", "TooManyMissedTimes"})
_BAD_SCHEDULES: Final = frozenset(
    {"UnparseableSchedule", "UnParseableCronJobSchedule", "InvalidSchedule", "UnknownTimeZone"}
)


class JobFailed(Reason, frozen=True, kw_only=True):
    """A Job that has given up."""

    whose: ObjectName
    how: str
    words: str

    def _sentence(self) -> str:
        return f"{self.whose} has failed ({self.how}){f': {self.words}' if self.words else ''}"

    def _advice(self, example: ObjectName, /) -> str:
        return f"read why: kubectl logs {self.whose} {example.in_namespace} --all-containers"


class ScheduleMissed(Reason, frozen=True, kw_only=True):
    """A CronJob that did not start a job when it should have."""

    whose: ObjectName
    words: str

    def _sentence(self) -> str:
        return f"{self.whose} did not start a job in time: {self.words}"

    def _advice(self, _: ObjectName, /) -> str:
        return "raise startingDeadlineSeconds, or look why the controller was late"


class ScheduleInvalid(Reason, frozen=True, kw_only=True):
    """A CronJob whose schedule or time zone nobody can read."""

    whose: ObjectName
    words: str

    def _sentence(self) -> str:
        return f"{self.whose} starts no jobs: {self.words}"

    def _advice(self, _: ObjectName, /) -> str:
        return "correct spec.schedule or spec.timeZone"


def look_at_job(job: Job, pods: Sequence[OwnPod], view: StateView) -> WorkloadStand:
    """Return how a Job stands, whose pods are in hand."""
    name = ObjectName.of("Job", job.metadata)
    ended = {each.type: each for each in job.status.conditions if each.status == "True"}
    if "Complete" in ended:
        return WorkloadStand(summary="complete", idle=True, past=frozenset({job.metadata.uid}))
    failure = ended.get("Failed")
    if failure is not None:
        words = common_words(failure.message)
        signal = Signal(source="condition", reason=failure.reason, message=failure.message)
        reason = JobFailed(whose=name, how=failure.reason, words=words)
        # The pods say more than that there were too many of them.
        by_pods = failure.reason == "BackoffLimitExceeded" and any(each.wrong for each in pods)
        found = () if by_pods else (seen(reason, name, (signal,)),)
        return WorkloadStand(summary=f"failed: {failure.reason}", sightings=found)
    if job.spec.suspend:
        return WorkloadStand(summary="suspended", idle=True)
    made, left = made_by(job, pods, view)
    failed = f", {job.status.failed} failed" if job.status.failed else ""
    return WorkloadStand(
        summary=f"{job.status.active} active, {job.status.succeeded} succeeded{failed}",
        sightings=tuple(made),
        unexplained=tuple(left),
    )


def look_at_cron_job(cron_job: CronJob, pods: Sequence[OwnPod], view: StateView) -> WorkloadStand:
    """Return how a CronJob stands; of its finished jobs, the last one counts."""
    name = ObjectName.of("CronJob", cron_job.metadata)
    jobs = [each for each in view.owned_by(cron_job) if isinstance(each, Job)]
    jobs.sort(key=lambda each: each.metadata.creation_timestamp or LONG_AGO)
    past = {each.metadata.uid for each in jobs[:-1] if _is_finished(each)}
    found: list[Sighting] = []
    left: list[Signal] = []
    said = ["suspended" if cron_job.spec.suspend else f"schedule {cron_job.spec.schedule}"]
    for job in jobs:
        if job.metadata.uid in past:
            continue
        stand = look_at_job(job, [each for each in pods if is_owned(each.pod, job)], view)
        found += stand.sightings
        left += stand.unexplained
        past |= stand.past
        said.append(f"job/{job.metadata.name}: {stand.summary}")
    if not cron_job.spec.suspend:
        events, others = _schedule_events(cron_job, name, view)
        found += events
        left += others
    return WorkloadStand(
        summary="; ".join(said),
        sightings=tuple(found),
        unexplained=tuple(left),
        idle=bool(cron_job.spec.suspend),
        past=frozenset(past),
    )


def _is_finished(job: Job) -> bool:
    return any(
        each.type in {"Complete", "Failed"} and each.status == "True"
        for each in job.status.conditions
    )


def _schedule_events(
    cron_job: CronJob, name: ObjectName, view: StateView
) -> tuple[list[Sighting], list[Signal]]:
    """Return what events since the last start of a job say about the schedule."""
    started = cron_job.status.last_schedule_time or LONG_AGO
    events = list(view.events_of("CronJob", cron_job.metadata))
    events = [each for each in events if moment_of(each) == LONG_AGO or moment_of(each) > started]
    left: list[Signal] = []
    found: dict[str, Sighting] = {}
    for signal in counted(signals_in(events, cron_job.metadata.uid)):
        reason: Reason
        if signal.reason in _MISSED:
            reason = ScheduleMissed(whose=name, words=signal.message)
        elif signal.reason in _BAD_SCHEDULES:
            reason = ScheduleInvalid(whose=name, words=signal.message)
        elif signal.reason == FAILED_CREATE:
            reason = refusal(signal.message, name.namespace)
        else:
            left.append(signal)
            continue
        found[type(reason).__name__] = seen(reason, name, (signal,))  # the last one of a kind
    return [*found.values()], left
