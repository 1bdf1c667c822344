from __future__ import annotations

from typing import Any

from reflet.play.actions import Plan
from reflet.play.job_runs import INDEX, run_job
from tests.unit.play.documents_scene import (
    GOING,
    Document,
    at,
    metadata,
    pod,
    ready_pod,
    status_of,
    template,
    view_of,
    words,
)


def job(status: Document | None = None, **spec: Any) -> Document:
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": metadata("hello"),
        "spec": {"completions": 1, "parallelism": 1, "template": template(), **spec},
        "status": status or {},
    }


def decided(wanted: Document, *pods: Document) -> Plan:
    return run_job(view_of(*pods, owner=wanted), wanted)


def kinds(status: Document) -> list[str]:
    return [each["type"] for each in status["conditions"]]


def test_no_more_pods_are_made_than_run_at_a_time_and_are_missing() -> None:
    assert words(decided(job(completions=5, parallelism=2))) == ["make hello-"] * 2
    assert words(decided(job({"succeeded": 4}, completions=5, parallelism=2))) == ["make hello-"]


def test_what_was_counted_stays_counted_when_the_pod_has_gone() -> None:
    two = job({"succeeded": 1, "failed": 1}, completions=2)

    status = status_of(decided(two))

    assert (status["succeeded"], status["failed"], status["ready"]) == (1, 1, 0)


def test_a_job_is_complete_in_two_conditions() -> None:
    status = status_of(decided(job(), pod("a", phase="Succeeded")))

    assert kinds(status) == ["SuccessCriteriaMet", "Complete"]
    assert status["completionTime"] == at(0)


def test_a_job_with_too_many_failures_ends_when_its_pods_have() -> None:
    failed, running = pod("a", phase="Failed"), ready_pod("b")

    first = decided(job(backoffLimit=0, parallelism=2), failed, running)
    waiting = job(status_of(first), backoffLimit=0)
    last = decided(waiting, failed)

    assert words(first) == ["delete b"]
    assert kinds(status_of(first)) == ["FailureTarget"]
    assert not decided(waiting, failed, ready_pod("b", metadata=GOING)).actions
    assert kinds(status_of(last)) == ["FailureTarget", "Failed"]


def test_each_index_is_made_once_and_told_to_its_pod() -> None:
    indexed = job(completions=3, parallelism=3, completionMode="Indexed")
    done = pod("a", phase="Succeeded", metadata={"annotations": {INDEX: "1"}})

    made = [each.document for each in decided(indexed, done).actions[:2]]

    assert [each["metadata"]["annotations"][INDEX] for each in made] == ["0", "2"]
    assert made[0]["spec"]["containers"][0]["env"][0]["name"] == "JOB_COMPLETION_INDEX"
    assert made[0]["spec"]["hostname"] == "hello-0"


def test_a_suspended_job_has_no_pods_and_says_so() -> None:
    suspended = decided(job(suspend=True), ready_pod("a"))
    resumed = decided(job(status_of(suspended)))

    assert words(suspended) == ["delete a"]
    assert kinds(status_of(suspended)) == ["Suspended"]
    assert "startTime" not in status_of(suspended)
    assert status_of(resumed)["startTime"] == at(0)


def test_a_job_that_takes_too_long_fails() -> None:
    late = job({"startTime": at(-60)}, activeDeadlineSeconds=60)

    assert status_of(decided(late))["conditions"][0]["reason"] == "DeadlineExceeded"


def test_a_job_is_looked_at_when_its_deadline_comes_and_not_by_the_clock_after_it() -> None:
    early = decided(job({"startTime": at(-50)}, activeDeadlineSeconds=60))
    held = decided(job({"startTime": at(-60)}, activeDeadlineSeconds=60), ready_pod("a"))

    assert (early.again, held.again) == (10.0, None)


def test_a_job_that_is_over_is_deleted_when_its_time_has_come() -> None:
    complete = [{"type": "Complete", "status": "True", "lastTransitionTime": at(-5)}]

    early = decided(job({"conditions": complete}, ttlSecondsAfterFinished=10))
    due = decided(job({"conditions": complete}, ttlSecondsAfterFinished=5))

    assert (early.again, words(due)) == (5.0, ["delete hello"])
