from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from reflet.play.actions import Create, Delete, NextActions, Patch, Update
from reflet.play.workloads.job import INDEX, TRACKED, decide_job
from tests.unit.play.documents_scene import NOW, Document, at, metadata, pod, ready_pod, template


def job(status: Document | None = None, **spec: Any) -> Document:
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": metadata("hello"),
        "spec": {"completions": 1, "parallelism": 1, "template": template(), **spec},
        "status": status or {},
    }


def ended(name: str, phase: str, *, at_second: float = 0, **more: Any) -> Document:
    over = pod(name, phase=phase, metadata={"finalizers": [TRACKED], **more})
    terminated = {"finishedAt": at(at_second), "exitCode": 0}
    over["status"]["containerStatuses"] = [{"state": {"terminated": terminated}}]
    return over


def status_of(decided: NextActions) -> Document:
    (update,) = (each for each in decided.actions if isinstance(each, Update))
    return dict(update.document["status"])


def made(decided: NextActions) -> int:
    return sum(isinstance(each, Create) for each in decided.at_once)


def kinds(status: Document) -> list[str]:
    return [each["type"] for each in status["conditions"]]


def test_no_more_pods_are_made_than_run_at_a_time_and_are_missing() -> None:
    assert made(decide_job(job(completions=5, parallelism=2), [], NOW)) == 2
    assert made(decide_job(job({"succeeded": 4}, completions=5, parallelism=2), [], NOW)) == 1


def test_a_pod_that_has_ended_is_counted_once_and_released() -> None:
    decided = decide_job(job(completions=2), [ended("a", "Succeeded")], NOW)
    released = [each for each in decided.actions if isinstance(each, Patch)]

    assert status_of(decided)["succeeded"] == 1
    assert [each.patch["metadata"]["finalizers"] for each in released] == [None]
    counted = ended("a", "Succeeded", finalizers=[])
    assert decide_job(job(status_of(decided), completions=2), [counted], NOW).actions == []


def test_a_job_is_complete_in_two_conditions() -> None:
    status = status_of(decide_job(job(), [ended("a", "Succeeded")], NOW))

    assert kinds(status) == ["SuccessCriteriaMet", "Complete"]
    assert status["completionTime"] == at(0)


def test_a_job_with_too_many_failures_ends_when_its_pods_have() -> None:
    failed = ended("a", "Failed")
    running, going = ready_pod("b"), ready_pod("b", metadata={"deletionTimestamp": "now"})

    first = decide_job(job(backoffLimit=0, parallelism=2), [failed, running], NOW)
    waiting = decide_job(job(status_of(first), backoffLimit=0), [going], NOW)
    last = decide_job(job(status_of(first), backoffLimit=0), [], NOW)

    assert [each.of["metadata"]["name"] for each in first.at_once if isinstance(each, Delete)] == [
        "b"
    ]
    assert kinds(status_of(first)) == ["FailureTarget"]
    assert waiting.actions == []
    assert kinds(status_of(last)) == ["FailureTarget", "Failed"]


def test_after_a_failure_the_next_pod_waits_10_seconds_then_20() -> None:
    one = [ended("a", "Failed", at_second=0)]
    two = [*one, ended("b", "Failed", at_second=0)]

    assert decide_job(job(backoffLimit=6), one, NOW).again == 10.0
    assert decide_job(job(backoffLimit=6), two, NOW).again == 20.0
    assert made(decide_job(job(backoffLimit=6), [ended("a", "Failed", at_second=-10)], NOW)) == 1


def test_each_index_is_made_once_and_told_to_its_pod() -> None:
    indexed = job(completions=3, parallelism=3, completionMode="Indexed")
    done = ended("a", "Succeeded", annotations={INDEX: "1"})

    decided = decide_job(indexed, [done], NOW)

    pods = [each.document for each in decided.at_once if isinstance(each, Create)]
    assert [each["metadata"]["annotations"][INDEX] for each in pods] == ["0", "2"]
    assert pods[0]["spec"]["containers"][0]["env"][0]["name"] == "JOB_COMPLETION_INDEX"
    assert pods[0]["spec"]["hostname"] == "hello-0"
    assert status_of(decided)["completedIndexes"] == "1"


@pytest.mark.parametrize(
    ("before", "index", "after"), [("0-2", "3", "0-3"), ("0", "1", "0,1"), ("0,1", "5", "0,1,5")]
)
def test_completed_indexes_are_written_as_ranges(before: str, index: str, after: str) -> None:
    indexed = job({"completedIndexes": before}, completions=9, completionMode="Indexed")

    decided = decide_job(indexed, [ended("a", "Succeeded", annotations={INDEX: index})], NOW)

    assert status_of(decided)["completedIndexes"] == after


def test_a_suspended_job_has_no_pods_and_says_so() -> None:
    decided = decide_job(job(suspend=True), [ready_pod("a")], NOW)

    assert [type(each) for each in decided.at_once] == [Delete]
    status = status_of(decided)
    assert kinds(status) == ["Suspended"]
    assert "startTime" not in status


def test_a_job_that_takes_too_long_fails() -> None:
    late = job({"startTime": at(-60)}, activeDeadlineSeconds=60)

    assert status_of(decide_job(late, [], NOW))["conditions"][0]["reason"] == "DeadlineExceeded"


def test_a_job_that_is_over_is_deleted_when_its_time_has_come() -> None:
    complete: Sequence[Document] = [
        {"type": "Complete", "status": "True", "lastTransitionTime": at(-5)}
    ]
    early = job({"conditions": complete}, ttlSecondsAfterFinished=10)
    due = job({"conditions": complete}, ttlSecondsAfterFinished=5)

    assert decide_job(early, [], NOW).again == 5.0
    assert [type(each) for each in decide_job(due, [], NOW).actions] == [Delete]
