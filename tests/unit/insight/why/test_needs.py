"""What has to be looked at besides what was asked about."""

from __future__ import annotations

from typing import Any

import pytest

from reflet.api.core.workloads import (
    CronJob,
    DaemonSet,
    Deployment,
    Job,
    ReplicaSet,
    StatefulSet,
)
from reflet.api.selectors.labels import LabelSelector
from reflet.insight.why import needs
from reflet.insight.why.reasons import ObjectName
from tests.unit.insight.why.scenes import (
    LONG_AGO,
    made,
    metadata,
    owned,
    pod,
    running,
    running_status,
    unschedulable,
    workload,
)

REVISION = "deployment.kubernetes.io/revision"
WEB = workload(Deployment, "web", replicas=1)


def replica_set(revision: int) -> Any:
    meta = {**owned("Deployment", "web"), "annotations": {REVISION: str(revision)}}
    return workload(ReplicaSet, f"web-{revision}", meta=meta)


def of(revision: int) -> Any:
    return running(f"web-{revision}-x", of=owned("ReplicaSet", f"web-{revision}"))


CRON_JOB = made(
    CronJob, {"metadata": metadata("tidy"), "spec": {"schedule": "@daily", "jobTemplate": {}}}
)
DONE = {"conditions": [{"type": "Complete", "status": "True"}]}


@pytest.mark.parametrize(
    ("workloads", "pods", "names"),
    [
        ([WEB], [], ["web"]),
        ([WEB, replica_set(1)], [of(1)], []),
        ([WEB, replica_set(1), replica_set(2)], [of(1)], ["web"]),
        ([workload(StatefulSet, "db")], [], ["db"]),
        ([workload(StatefulSet, "db")], [running(of=owned("StatefulSet", "db"))], []),
        ([CRON_JOB], [], ["tidy"]),
        ([workload(Job, "load")], [], ["load"]),
        ([workload(Job, "load", status=DONE)], [], []),
        ([workload(Job, "load", meta=owned("CronJob", "tidy"))], [], []),
    ],
)
def test_templates_that_no_pod_shows_are_looked_at(
    workloads: list[Any], pods: list[Any], names: list[str]
) -> None:
    found = needs.templates_to_look_at(workloads, pods)

    assert [each.metadata.name for each in found] == names


def test_what_new_pods_need_is_that_of_whoever_makes_them() -> None:
    web = workload(
        Deployment,
        "web",
        pods={
            "serviceAccountName": "builder",
            "priorityClassName": "urgent",
            "runtimeClassName": "gvisor",
            "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}],
        },
    )
    owned_set = workload(
        ReplicaSet, "web-1", meta=owned("Deployment", "web"), pods={"serviceAccountName": "other"}
    )

    assert [*needs.prerequisites([web, owned_set], ())] == [
        ("ServiceAccount", "shop", "builder"),
        ("PriorityClass", "", "urgent"),
        ("RuntimeClass", "", "gvisor"),
    ]


def test_claims_that_a_stateful_set_makes_itself_need_not_be_there() -> None:
    volumes = [
        {"name": name, "persistentVolumeClaim": {"claimName": name}} for name in ("data", "old")
    ]
    template = {"metadata": {"name": "data"}}
    db = workload(StatefulSet, "db", volumeClaimTemplates=[template])

    assert [*needs.claims_named(db, pod(volumes=volumes))] == [
        ("PersistentVolumeClaim", "shop", "old")
    ]


def test_labels_of_a_workload_of_its_template_or_of_pods_select_the_root() -> None:
    labelled = workload(Deployment, "a", meta={"labels": {"team": "x"}})
    by_template = workload(Deployment, "x")
    by_pod = running("c", of=owned("Rollout", "c"), meta={"labels": {"team": "x"}})

    roots = needs.roots_with(LabelSelector.parse("team=x"), [labelled, by_template], [by_pod])
    templates = needs.roots_with(LabelSelector.parse("app=x"), [labelled, by_template], [by_pod])

    assert sorted(map(str, roots)) == ["deploy/a", "rollout/c"]
    assert list(map(str, templates)) == ["deploy/x"]


def test_only_what_belongs_to_a_target_is_kept() -> None:
    target = frozenset({ObjectName(kind="Deployment", namespace="shop", name="web")})
    other = workload(Deployment, "other")

    pods, workloads = needs.below(target, [WEB, replica_set(1), other], [of(1), running("stray")])

    assert [each.metadata.name for each in pods] == ["web-1-x"]
    assert [each.metadata.name for each in workloads] == ["web", "web-1"]


@pytest.mark.parametrize(
    ("item", "troubled"),
    [
        (running(), False),
        (running(ready=False), True),
        (running(meta={"deletionTimestamp": LONG_AGO}), True),
        (pod(status={"phase": "Succeeded"}), False),
        (pod(status={"phase": "Failed"}), False),
        (pod(), True),
        (
            pod(status={**running_status(), "conditions": [{"type": "Ready", "status": "False"}]}),
            True,
        ),
    ],
)
def test_nodes_are_looked_at_for_pods_that_do_not_run(item: Any, troubled: bool) -> None:
    assert needs.is_troubled(item) is troubled


def test_the_schedulers_words_are_in_a_condition() -> None:
    assert needs.scheduler_words(pod(status=unschedulable("0/1 nodes"))) == "0/1 nodes"
    assert needs.scheduler_words(running()) == ""


def test_claims_are_looked_at_for_pods_without_a_node() -> None:
    volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]

    assert needs.waits_for_claims(pod(nodeName="", volumes=volumes))
    assert not needs.waits_for_claims(pod(nodeName=""))
    assert not needs.waits_for_claims(pod(volumes=volumes))


@pytest.mark.parametrize(
    ("item", "lacks"),
    [
        (WEB, True),
        (workload(Deployment, "web", replicas=1, status={"replicas": 1}), False),
        (workload(Deployment, "web", replicas=0), False),
        (workload(StatefulSet, "db", replicas=2, status={"replicas": 1}), True),
        (workload(DaemonSet, "d", status={"desiredNumberScheduled": 1}), True),
        (workload(Job, "load"), True),
        (workload(Job, "load", status={"active": 1}), False),
        (workload(Job, "load", status=DONE), False),
        (CRON_JOB, False),
    ],
)
def test_quotas_are_looked_at_for_workloads_that_lack_pods(item: Any, lacks: bool) -> None:
    assert needs.lacks_pods(item) is lacks
