"""How StatefulSets, DaemonSets and workloads of other makers stand."""

from __future__ import annotations

from typing import Any

import pytest

from reflet.api.core.pods import PodTemplateSpec
from reflet.api.core.workloads import DaemonSet, Deployment, ReplicaSet, StatefulSet
from reflet.api.meta import ObjectMeta
from reflet.insight.why.diagnosis import Diagnosis
from reflet.resolution.templates.templates import CustomWorkload, PlacedTemplate
from tests.unit.insight.why.scenes import (
    crashing,
    diagnosed,
    owned,
    pod,
    running,
    workload,
)

OBSERVED = {"observedGeneration": 1}


def stateful_set(replicas: int = 3, **more: Any) -> Any:
    return workload(StatefulSet, "db", replicas=replicas, status=OBSERVED, **more)


def summary(diagnosis: Diagnosis) -> str:
    (root,) = diagnosis.roots
    return root.summary


OF_SET = owned("StatefulSet", "db")


def test_a_stateful_set_waits_for_a_pod_that_is_not_ready() -> None:
    diagnosis = diagnosed(
        running("db-0", of=OF_SET),
        pod("db-1", status=crashing(1), of=OF_SET),
        workloads=[stateful_set()],
    )

    assert summary(diagnosis) == (
        "1 of 3 pods are ready; it waits for pod/db-1 before it makes db-2"
    )
    assert [each.reason.message for each in diagnosis.reasons] == [
        "container web exits with code 1 again and again"
    ]


def test_a_stateful_set_that_makes_all_pods_at_once_waits_for_none() -> None:
    diagnosis = diagnosed(
        pod("db-1", status=crashing(1), of=OF_SET),
        workloads=[stateful_set(2, podManagementPolicy="Parallel")],
    )

    assert summary(diagnosis) == "0 of 2 pods are ready"


def test_ordinals_may_begin_anywhere() -> None:
    diagnosis = diagnosed(
        pod("db-5", status=crashing(1), of=OF_SET),
        workloads=[stateful_set(2, ordinals={"start": 5})],
    )

    assert summary(diagnosis).endswith("it waits for pod/db-5 before it makes db-6")


@pytest.mark.parametrize("kind", [StatefulSet, ReplicaSet])
def test_scaled_to_zero_is_not_wrong(kind: Any) -> None:
    diagnosis = diagnosed(workloads=[workload(kind, "db", replicas=0, status=OBSERVED)])

    assert (summary(diagnosis), diagnosis.wrong) == ("scaled to 0", False)


def daemon_set(**status: int) -> Any:
    return workload(DaemonSet, "agent", status={**OBSERVED, **status})


OF_DAEMON = owned("DaemonSet", "agent")


def test_a_daemon_set_whose_pods_are_unavailable() -> None:
    diagnosis = diagnosed(
        running("agent-a", of=OF_DAEMON),
        pod("agent-b", status=crashing(1), of=OF_DAEMON),
        workloads=[daemon_set(desiredNumberScheduled=2, currentNumberScheduled=2)],
    )

    assert summary(diagnosis) == "1 of 2 pods are ready"
    assert diagnosis.reasons[0].pods == 1


def test_a_daemon_set_with_pods_on_nodes_that_are_not_to_have_one_is_not_wrong() -> None:
    diagnosis = diagnosed(
        running("agent-a", of=OF_DAEMON),
        workloads=[daemon_set(desiredNumberScheduled=1, numberMisscheduled=1)],
    )

    assert summary(diagnosis) == "1 of 1 pods are ready; 1 on nodes that are not to have one"
    assert not diagnosis.wrong


def test_a_daemon_set_that_no_node_is_to_have_is_not_wrong() -> None:
    diagnosis = diagnosed(workloads=[daemon_set()])

    assert (summary(diagnosis), diagnosis.wrong) == ("no node is to have its pod", False)


def test_a_workload_of_another_maker_is_walked_through_its_replica_sets() -> None:
    rollout = CustomWorkload(
        api_version="argoproj.io/v1alpha1",
        kind="Rollout",
        metadata=ObjectMeta(namespace="shop", name="web", uid="web"),
        templates=(PlacedTemplate(path="spec.template", template=PodTemplateSpec()),),
    )
    made_by_it = workload(
        ReplicaSet, "web-1", replicas=2, meta=owned("Rollout", "web"), status=OBSERVED
    )
    broken = pod(status=crashing(1), of=owned("ReplicaSet", "web-1"))

    diagnosis = diagnosed(broken, workloads=[rollout, made_by_it])

    assert summary(diagnosis) == "0 of 1 pods are ready"
    assert {each.reason.type for each in diagnosis.reasons} == {"ContainerExits", "PodsNotMade"}
    assert {str(each.affected[0].root) for each in diagnosis.reasons} == {"rollout/web"}


def test_pods_of_a_workload_that_is_not_in_hand_are_told_under_its_name() -> None:
    broken = pod(status=crashing(1), of=owned("Rollout", "web"))

    diagnosis = diagnosed(broken)

    assert [str(each.root) for each in diagnosis.roots] == ["rollout/web"]


def test_a_daemon_set_that_no_controller_has_looked_at_is_not_idle() -> None:
    diagnosis = diagnosed(workloads=[workload(DaemonSet, "agent")])

    assert summary(diagnosis) == "no controller has looked at it yet"
    assert [each.reason.type for each in diagnosis.reasons] == ["ControllerSilent"]


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        (Deployment, {"readyReplicas": 2}),
        (StatefulSet, {"readyReplicas": 2}),
        (DaemonSet, {"desiredNumberScheduled": 3, "numberReady": 2}),
    ],
)
@pytest.mark.parametrize("unseen", ["Pod", "ReplicaSet"])
def test_who_may_not_look_at_pods_has_the_word_of_the_status(
    kind: Any, status: dict[str, int], unseen: str
) -> None:
    spec = {} if kind is DaemonSet else {"replicas": 3}
    web = workload(kind, "web", status={**OBSERVED, **status}, **spec)

    diagnosis = diagnosed(workloads=[web], unseen=frozenset({unseen}))

    assert summary(diagnosis) == "2 of 3 pods are ready"
    assert (diagnosis.reasons, diagnosis.wrong) == ((), False)
