"""Why what makes pods has not all of them."""

from __future__ import annotations

from typing import Any

import pytest

from reflet.api.core.workloads import DaemonSet, Job, ReplicaSet, ReplicationController, StatefulSet
from reflet.insight.why.cluster_state import QuotaSeen
from tests.unit.insight.why.scenes import (
    JUST_NOW,
    LONG_AGO,
    diagnosed,
    made,
    metadata,
    only_reason,
    owned,
    pod,
    running,
    warning,
    workload,
)

QUOTA = (
    'pods "web-x" is forbidden: exceeded quota: compute, requested: pods=1, used: pods=2, '
    "limited: pods=2"
)
OBSERVED = {"observedGeneration": 1}


def replica_set(replicas: int = 3, *, status: dict[str, Any] | None = None, **more: Any) -> Any:
    return workload(
        ReplicaSet, "web", replicas=replicas, status={**OBSERVED, **(status or {})}, **more
    )


def failed_create(words: str = QUOTA, *, kind: str = "ReplicaSet", **more: Any) -> Any:
    return warning("FailedCreate", f"Error creating: {words}", about="web", kind=kind, **more)


@pytest.mark.parametrize(
    "maker",
    [
        replica_set(),
        workload(ReplicationController, "web", replicas=3, status=OBSERVED),
        workload(StatefulSet, "web", replicas=3, status=OBSERVED),
        workload(DaemonSet, "web", status={**OBSERVED, "desiredNumberScheduled": 2}),
        workload(Job, "web", status={"startTime": LONG_AGO}),
    ],
    ids=lambda maker: maker.kind,
)
def test_an_event_says_what_the_api_server_said(maker: Any) -> None:
    diagnosis = diagnosed(workloads=[maker], events=[failed_create(kind=maker.kind)])

    (reason,) = diagnosis.reasons
    assert reason.reason.message == "ResourceQuota shop/compute is used up: limited to pods=2"
    assert [signal.reason for signal in reason.explains] == ["FailedCreate"]
    assert diagnosis.unexplained == ()


def test_a_condition_says_it_too_and_counts_as_the_last_word() -> None:
    failure = {
        "type": "ReplicaFailure",
        "status": "True",
        "reason": "FailedCreate",
        "message": 'pods "web-x" is forbidden: no PriorityClass with name urgent was found',
    }

    reason = only_reason(
        workloads=[replica_set(status={"conditions": [failure]})], events=[failed_create()]
    )

    assert reason.reason.message == "PriorityClass urgent does not exist: no pod is created"
    assert [signal.source for signal in reason.explains] == ["condition", "event"]


def test_the_last_of_several_events_counts() -> None:
    earlier = failed_create(lastTimestamp="2026-01-01T11:00:00Z")
    later = failed_create(
        'admission webhook "w" denied the request: no', lastTimestamp="2026-01-01T11:30:00Z"
    )

    reason = only_reason(workloads=[replica_set()], events=[later, earlier])

    assert reason.reason.message == "webhook w refuses the pod: no"


def test_events_of_a_workload_that_has_all_its_pods_say_nothing() -> None:
    there = running(of=owned("ReplicaSet", "web"))

    diagnosis = diagnosed(there, workloads=[replica_set(1)], events=[failed_create()])

    assert (diagnosis.reasons, diagnosis.unexplained) == ((), ())


def test_pods_that_have_ended_do_not_count() -> None:
    ended = pod(status={"phase": "Succeeded"}, of=owned("ReplicaSet", "web"))

    reason = only_reason(ended, workloads=[replica_set(1)], events=[failed_create()])

    assert reason.reason.type == "QuotaExceeded"


def quota(used: str, resource: str = "pods") -> QuotaSeen:
    status = {"hard": {resource: "2"}, "used": {resource: used}}
    found: QuotaSeen = made(QuotaSeen, {"metadata": metadata("compute"), "status": status})
    return found


@pytest.mark.parametrize("resource", ["pods", "count/pods"])
def test_a_quota_at_its_limit_explains_what_no_event_does(resource: str) -> None:
    reason = only_reason(workloads=[replica_set()], quotas=[quota("2", resource)])

    assert reason.reason.message == (
        f"ResourceQuota shop/compute is used up: limited to {resource}=2"
    )


def test_a_quota_of_a_resource_counts_with_what_the_next_pod_asks_for() -> None:
    container = {"name": "web", "resources": {"requests": {"cpu": "1"}}}
    maker = replica_set(pods={"containers": [container]})

    reason = only_reason(workloads=[maker], quotas=[quota("1500m", "requests.cpu")])

    assert reason.reason.type == "QuotaExceeded"


def test_a_quota_with_room_explains_nothing() -> None:
    reason = only_reason(workloads=[replica_set()], quotas=[quota("1")])

    assert reason.reason.message == "0 of 3 pods have been made, and nothing says why"


def test_a_workload_that_no_controller_has_looked_at() -> None:
    reason = only_reason(workloads=[workload(ReplicaSet, "web", replicas=1)])

    assert reason.reason.message == "no controller of ReplicaSet objects has looked at it"


@pytest.mark.parametrize(
    "meta",
    [{"creationTimestamp": JUST_NOW}, {"generation": 2}],
    ids=["just made", "just changed"],
)
def test_a_workload_that_has_just_been_made_or_changed_is_not_wrong(meta: dict[str, Any]) -> None:
    assert not diagnosed(workloads=[replica_set(meta=meta)]).wrong


def test_a_job_that_waits_before_it_tries_again_is_not_wrong_for_that() -> None:
    retrying = workload(Job, "web", status={"startTime": LONG_AGO, "failed": 2})

    assert diagnosed(workloads=[retrying]).reasons == ()


def test_other_warnings_stay_unexplained() -> None:
    event = warning("FailedDelete", "Error deleting: no", about="web", kind="ReplicaSet")

    diagnosis = diagnosed(workloads=[replica_set()], events=[event])

    assert [(str(each.at), each.signal.reason) for each in diagnosis.unexplained] == [
        ("rs/web", "FailedDelete")
    ]
