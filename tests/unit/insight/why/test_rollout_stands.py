"""How a Deployment stands."""

from __future__ import annotations

from typing import Any

from reflet.api.core.workloads import Deployment, ReplicaSet
from reflet.insight.why.diagnosis import Diagnosis
from tests.unit.insight.why.scenes import (
    LONG_AGO,
    crashing,
    diagnosed,
    owned,
    pod,
    running,
    workload,
)

REVISION = "deployment.kubernetes.io/revision"
TOO_LATE = {
    "type": "Progressing",
    "status": "False",
    "reason": "ProgressDeadlineExceeded",
    "message": 'ReplicaSet "web-2" has timed out progressing.',
}


def deployment(replicas: int = 3, *conditions: dict[str, Any], **more: Any) -> Any:
    status = {"observedGeneration": 1, "conditions": list(conditions), **more.pop("status", {})}
    return workload(Deployment, "web", replicas=replicas, status=status, **more)


def replica_set(revision: int, replicas: int, **more: Any) -> Any:
    meta = {**owned("Deployment", "web"), "annotations": {REVISION: str(revision)}}
    return workload(
        ReplicaSet,
        f"web-{revision}",
        replicas=replicas,
        meta=meta,
        status={"observedGeneration": 1, **more.pop("status", {})},
        **more,
    )


def pods_of(revision: int, number: int, *, crash: bool = False) -> list[Any]:
    of = owned("ReplicaSet", f"web-{revision}")
    names = [f"web-{revision}-{each}" for each in range(number)]
    if crash:
        return [pod(name, status=crashing(1), of=of) for name in names]
    return [running(name, of=of) for name in names]


def summary(diagnosis: Diagnosis) -> str:
    (root,) = diagnosis.roots
    return root.summary


def test_all_pods_are_ready() -> None:
    diagnosis = diagnosed(*pods_of(1, 3), workloads=[deployment(), replica_set(1, 3)])

    assert (summary(diagnosis), diagnosis.wrong) == ("3 of 3 pods are ready", False)


def test_a_new_version_that_does_not_come_up_leaves_the_old_one_serving() -> None:
    diagnosis = diagnosed(
        *pods_of(1, 3),
        *pods_of(2, 1, crash=True),
        workloads=[deployment(), replica_set(1, 3), replica_set(2, 1)],
    )

    (root,) = diagnosis.roots
    assert root.summary == "the new version does not come up; 3 old pods still serve"
    assert [(str(each.name), each.role, each.wanted, each.ready) for each in root.members] == [
        ("rs/web-2", "new", 1, 0),
        ("rs/web-1", "old", 3, 3),
    ]
    assert [(str(each.root), each.pods) for each in diagnosis.reasons[0].affected] == [
        ("deploy/web", ("web-2-0",))
    ]


def test_a_rollout_that_has_exceeded_its_deadline_is_explained_by_its_pods() -> None:
    diagnosis = diagnosed(
        *pods_of(2, 1, crash=True), workloads=[deployment(1, TOO_LATE), replica_set(2, 1)]
    )

    assert [each.reason.type for each in diagnosis.reasons] == ["ContainerExits"]
    assert summary(diagnosis) == "0 of 1 pods are ready; its rollout has exceeded its deadline"


def test_a_rollout_without_progress_that_nothing_else_explains() -> None:
    young = pod("web-2-0", status={"phase": "Pending"}, of=owned("ReplicaSet", "web-2"))

    diagnosis = diagnosed(young, workloads=[deployment(1, TOO_LATE), replica_set(2, 1)], now=None)

    assert [each.reason.message for each in diagnosis.reasons] == [
        'its rollout makes no progress: ReplicaSet "web-2" has timed out progressing.'
    ]


def test_a_refusal_that_only_the_deployment_knows() -> None:
    failure = {
        "type": "ReplicaFailure",
        "status": "True",
        "reason": "FailedCreate",
        "message": 'pods "web-x" is forbidden: error looking up service account shop/nosuch: '
        'serviceaccount "nosuch" not found',
    }

    diagnosis = diagnosed(workloads=[deployment(1, failure)])

    assert [each.reason.message for each in diagnosis.reasons] == [
        "ServiceAccount shop/nosuch does not exist: no pod is created"
    ]


def test_a_replica_set_that_cannot_be_made() -> None:
    failure = {
        "type": "Progressing",
        "status": "False",
        "reason": "ReplicaSetCreateError",
        "message": 'Failed to create new replica set "web-1": admission webhook "w" denied the '
        "request: no",
    }

    diagnosis = diagnosed(workloads=[deployment(1, failure)])

    assert [each.reason.message for each in diagnosis.reasons] == ["webhook w refuses the pod: no"]


def test_a_deployment_of_which_no_controller_knows() -> None:
    silent = workload(Deployment, "web", replicas=1)

    diagnosis = diagnosed(workloads=[silent])

    assert [each.reason.message for each in diagnosis.reasons] == [
        "no controller of Deployment objects has looked at it"
    ]


def test_a_deployment_without_replica_sets() -> None:
    diagnosis = diagnosed(workloads=[deployment(2)])

    assert [each.reason.message for each in diagnosis.reasons] == [
        "0 of 2 pods have been made, and nothing says why"
    ]


def test_scaled_to_zero_is_not_wrong() -> None:
    diagnosis = diagnosed(workloads=[deployment(0), replica_set(1, 0)])

    (root,) = diagnosis.roots
    assert (root.summary, root.idle, diagnosis.wrong) == ("scaled to 0", True, False)


def test_a_rollout_that_is_paused_is_not_wrong_and_is_said() -> None:
    diagnosis = diagnosed(*pods_of(1, 1), workloads=[deployment(1, paused=True), replica_set(1, 1)])

    assert summary(diagnosis) == "1 of 1 pods are ready; the rollout is paused"
    assert not diagnosis.wrong


def test_trouble_of_old_pods_is_not_that_of_the_new_version() -> None:
    old = [*pods_of(1, 1), pod("web-1-9", status=crashing(1), of=owned("ReplicaSet", "web-1"))]

    diagnosis = diagnosed(
        *old, *pods_of(2, 2), workloads=[deployment(3), replica_set(1, 2), replica_set(2, 2)]
    )

    assert summary(diagnosis) == "3 of 3 pods are ready"


def test_replica_sets_without_a_revision_are_ordered_by_age() -> None:
    older = workload(
        ReplicaSet,
        "older",
        replicas=1,
        meta={**owned("Deployment", "web"), "creationTimestamp": "2025-01-01T00:00:00Z"},
        status={"observedGeneration": 1},
    )
    newer = workload(
        ReplicaSet,
        "newer",
        replicas=1,
        meta={**owned("Deployment", "web"), "creationTimestamp": LONG_AGO},
        status={"observedGeneration": 1},
    )

    (root,) = diagnosed(workloads=[deployment(1), newer, older]).roots

    assert [(each.name.name, each.role) for each in root.members] == [
        ("newer", "new"),
        ("older", "old"),
    ]
