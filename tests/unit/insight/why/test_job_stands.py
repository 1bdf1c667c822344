"""How Jobs and CronJobs stand."""

from __future__ import annotations

from typing import Any

import pytest

from reflet.api.core.workloads import CronJob, Job
from reflet.insight.why.diagnosis import Diagnosis
from tests.unit.insight.why.scenes import (
    LONG_AGO,
    Raw,
    diagnosed,
    made,
    metadata,
    owned,
    pod,
    warning,
    workload,
)

FAILED = {
    "phase": "Failed",
    "containerStatuses": [
        {"name": "web", "state": {"terminated": {"exitCode": 3, "reason": "Error"}}}
    ],
}


def condition(kind: str, reason: str = "", message: str = "") -> Raw:
    return {"type": kind, "status": "True", "reason": reason, "message": message}


TOO_OFTEN = condition(
    "Failed", "BackoffLimitExceeded", "Job has reached the specified backoff limit"
)
TOO_LONG = condition("Failed", "DeadlineExceeded", "Job was active longer than specified deadline")
COMPLETE = condition("Complete", "CompletionsReached", "Reached expected number of succeeded pods")


def job(name: str = "load", *conditions: Raw, of: Raw | None = None, **more: Any) -> Any:
    status = {"startTime": LONG_AGO, "conditions": list(conditions), **more.pop("status", {})}
    meta = {**(of or {}), **more.pop("meta", {})}
    return workload(Job, name, status=status, meta=meta, **more)


def failed_pod(of: str = "load") -> Any:
    return pod(f"{of}-x", status=FAILED, of=owned("Job", of), restartPolicy="Never")


def said(diagnosis: Diagnosis) -> list[str]:
    return [each.reason.message for each in diagnosis.reasons if each.wrong]


def test_a_failed_job_is_explained_by_its_pods() -> None:
    diagnosis = diagnosed(failed_pod(), workloads=[job("load", TOO_OFTEN)])

    (root,) = diagnosis.roots
    assert said(diagnosis) == ["container web exits with code 3"]
    assert root.summary == "failed: BackoffLimitExceeded"


def test_a_failed_job_whose_pods_are_gone() -> None:
    diagnosis = diagnosed(workloads=[job("load", TOO_OFTEN)])

    assert said(diagnosis) == [
        "job/load has failed (BackoffLimitExceeded): Job has reached the specified backoff limit"
    ]
    assert diagnosis.reasons[0].fix == "read why: kubectl logs job/load -n shop --all-containers"


def test_a_job_that_took_too_long() -> None:
    diagnosis = diagnosed(failed_pod(), workloads=[job("load", TOO_LONG)])

    assert {*said(diagnosis)} == {
        "container web exits with code 3",
        "job/load has failed (DeadlineExceeded): Job was active longer than specified deadline",
    }


def test_a_complete_job_is_fine_whatever_its_first_pods_did() -> None:
    diagnosis = diagnosed(failed_pod(), workloads=[job("load", COMPLETE)])

    (root,) = diagnosis.roots
    assert (root.summary, diagnosis.wrong) == ("complete", False)
    assert dict(root.pods) == {"left behind": 1}


def test_a_job_that_still_tries_says_what_its_pods_did() -> None:
    diagnosis = diagnosed(failed_pod(), workloads=[job(status={"failed": 1})])

    (root,) = diagnosis.roots
    assert root.summary == "0 active, 0 succeeded, 1 failed"
    assert said(diagnosis) == ["container web exits with code 3"]


def test_a_suspended_job_is_not_wrong() -> None:
    diagnosis = diagnosed(workloads=[job(suspend=True)])

    (root,) = diagnosis.roots
    assert (root.summary, root.idle, diagnosis.wrong) == ("suspended", True, False)


# CronJobs


def cron_job(**more: Any) -> Any:
    status = more.pop("status", {})
    template = {"spec": {"template": {"spec": {"containers": [{"name": "web"}]}}}}
    spec = {"schedule": "*/5 * * * *", "jobTemplate": template, **more}
    return made(CronJob, {"metadata": metadata("tidy"), "spec": spec, "status": status})


def run(name: str, *conditions: Raw, at: str) -> Any:
    return job(name, *conditions, of=owned("CronJob", "tidy"), meta={"creationTimestamp": at})


def about(reason: str, message: str, **more: Any) -> Any:
    return warning(reason, message, about="tidy", kind="CronJob", **more)


def test_a_suspended_cron_job_is_not_wrong() -> None:
    event = about("MissSchedule", "Missed scheduled time to start a job")

    diagnosis = diagnosed(workloads=[cron_job(suspend=True)], events=[event])

    (root,) = diagnosis.roots
    assert (root.summary, root.idle, diagnosis.wrong) == ("suspended", True, False)


def test_a_cron_job_whose_last_job_failed() -> None:
    diagnosis = diagnosed(
        workloads=[
            cron_job(),
            run("tidy-1", COMPLETE, at="2026-01-01T10:00:00Z"),
            run("tidy-2", TOO_OFTEN, at="2026-01-01T11:00:00Z"),
        ]
    )

    (root,) = diagnosis.roots
    assert said(diagnosis) == [
        "job/tidy-2 has failed (BackoffLimitExceeded): Job has reached the specified backoff limit"
    ]
    assert root.summary == "schedule */5 * * * *; job/tidy-2: failed: BackoffLimitExceeded"


def test_an_earlier_failure_of_a_cron_job_is_past() -> None:
    diagnosis = diagnosed(
        failed_pod("tidy-1"),
        workloads=[
            cron_job(),
            run("tidy-1", TOO_OFTEN, at="2026-01-01T10:00:00Z"),
            run("tidy-2", COMPLETE, at="2026-01-01T11:00:00Z"),
        ],
    )

    (root,) = diagnosis.roots
    assert not diagnosis.wrong
    assert dict(root.pods) == {"left behind": 1}


def test_pods_of_a_cron_job_that_are_refused() -> None:
    event = warning(
        "FailedCreate",
        'Error creating: pods "tidy-2-x" is forbidden: exceeded quota: q, requested: pods=1, '
        "used: pods=2, limited: pods=2",
        about="tidy-2",
        kind="Job",
    )

    diagnosis = diagnosed(
        workloads=[cron_job(), run("tidy-2", at="2026-01-01T11:00:00Z")], events=[event]
    )

    assert said(diagnosis) == ["ResourceQuota shop/q is used up: limited to pods=2"]


@pytest.mark.parametrize(
    ("reason", "words", "message"),
    [
        (
            "MissSchedule",
            "Missed scheduled time to start a job: Thu, 01 Jan 2026 11:00:00 +0000",
            (
                "cronjob/tidy did not start a job in time: Missed scheduled time to start a job: "
                "Thu, 01 Jan 2026 11:00:00 +0000"
            ),
        ),
        (
            "UnknownTimeZone",
            'invalid timeZone: "Mars": unknown time zone Mars',
            'cronjob/tidy starts no jobs: invalid timeZone: "Mars": unknown time zone Mars',
        ),
        (
            "FailedCreate",
            'Error creating job: admission webhook "w" denied the request: no',
            "webhook w refuses the pod: no",
        ),
    ],
)
def test_a_cron_job_that_starts_nothing(reason: str, words: str, message: str) -> None:
    diagnosis = diagnosed(workloads=[cron_job()], events=[about(reason, words)])

    assert said(diagnosis) == [message]


def test_what_was_missed_before_the_last_start_is_past() -> None:
    event = about("MissSchedule", "Missed", lastTimestamp="2026-01-01T10:00:00Z")
    started = cron_job(status={"lastScheduleTime": "2026-01-01T11:00:00Z"})

    assert not diagnosed(workloads=[started], events=[event]).wrong


def test_other_warnings_of_a_cron_job_stay_unexplained() -> None:
    diagnosis = diagnosed(workloads=[cron_job()], events=[about("UnexpectedJob", "Saw a job")])

    assert [each.signal.reason for each in diagnosis.unexplained] == ["UnexpectedJob"]
