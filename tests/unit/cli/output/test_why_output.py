"""How a diagnosis reads: of one object, and of many."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from reflet.api.core.workloads import Deployment, ReplicaSet
from reflet.cli.output.why_output import diagnosis_document, overview, report
from reflet.insight.why.diagnosis import Diagnosis
from reflet.insight.why.reasons import ObjectName
from reflet.resolution.objects import ObjectsInHand
from reflet.resolution.pod_inputs import PodInputs
from reflet.resolution.templates.templates import pod_of
from tests.unit.insight.why.scenes import (
    JUST_NOW,
    crashing,
    diagnosed,
    node,
    owned,
    pod,
    running,
    unschedulable,
    waiting,
    warning,
    workload,
)
from tests.unit.resolution.scenes import secret, variable

OBSERVED = {"observedGeneration": 1}
READING = {"env": [variable("PASSWORD", secretKeyRef={"name": "db", "key": "password"})]}
REVISION = "deployment.kubernetes.io/revision"


def web(replicas: int = 3) -> Any:
    return workload(Deployment, "web", replicas=replicas, status=OBSERVED)


def replica_set(revision: int, replicas: int, of: str = "web") -> Any:
    meta = {**owned("Deployment", of), "annotations": {REVISION: str(revision)}}
    return workload(ReplicaSet, f"{of}-{revision}", replicas=replicas, meta=meta, status=OBSERVED)


def broken(name: str, of: str) -> Any:
    words = "couldn't find key password in Secret shop/db"
    return pod(
        name,
        status=waiting("CreateContainerConfigError", words),
        container=READING,
        of=owned("ReplicaSet", of),
    )


def lines_of(diagnosis: Diagnosis) -> str:
    return "\n".join(report(diagnosis)) + "\n"


def test_a_new_version_that_does_not_come_up() -> None:
    old = [running(f"web-1-{n}", of=owned("ReplicaSet", "web-1")) for n in range(3)]

    diagnosis = diagnosed(
        *old,
        broken("web-2-x", "web-2"),
        workloads=[web(), replica_set(1, 3), replica_set(2, 1)],
        objects=[secret("db", user=b"x")],
    )

    assert (
        lines_of(diagnosis)
        == """\
Deployment shop/web: the new version does not come up; 3 old pods still serve; 1
reason keeps its pods from starting
  rs/web-2  new, 0 of 1 pods ready
  rs/web-1  old, 3 of 3 pods ready

1. Secret shop/db has no key password; it has user
   pods      web-2-x
   where     container web, variable PASSWORD
             (spec.containers[0].env[0].valueFrom.secretKeyRef)
   kubelet   couldn't find key password in Secret shop/db
   shown as  container waiting: CreateContainerConfigError
   seen      container web: CreateContainerConfigError: couldn't find key
             password in Secret shop/db
   fix       add key password to Secret db, or use a key it has
"""
    )


@pytest.mark.parametrize(
    ("item", "verdict"),
    [
        (running(), "it runs"),
        (pod(status={"phase": "Succeeded"}), "it runs"),
        (
            pod(meta={"creationTimestamp": JUST_NOW}, nodeName=""),
            "nothing in its configuration keeps it from starting",
        ),
        (running(container=READING), "it runs, but 1 reason would keep it from starting again"),
        (
            pod(status=crashing(1)),
            "1 reason keeps it from running, not in the configuration",
        ),
        (
            pod(status=crashing(1), container=READING),
            "2 reasons keep it from running, 1 of them in the configuration",
        ),
        (
            running(imagePullSecrets=[{"name": "registry"}]),
            "nothing keeps it from starting; 1 thing to fix",
        ),
        (
            pod(status=waiting("CreateContainerConfigError", 'secret "db" not found')),
            "no reason is known why it does not run",
        ),
        (
            pod(nodeName="", schedulingGates=[{"name": "gate"}]),
            "it is kept back on purpose",
        ),
        (
            pod(
                status={"phase": "Failed", "reason": "Evicted"},
                of=owned("ReplicaSet", "web-1"),
            ),
            "it has failed, and another one is there in its place",
        ),
    ],
)
def test_one_line_says_how_a_pod_stands(item: Any, verdict: str) -> None:
    asked = frozenset({ObjectName(kind="Pod", namespace="shop", name="web-1")})
    first, *_ = "\n".join(report(diagnosed(item, targets=asked))).split("\n\n")

    assert " ".join(first.split()) == f"Pod shop/web-1: {verdict}"


@pytest.mark.parametrize(
    ("workloads", "verdict"),
    [
        ([web(0)], "scaled to 0"),
        (
            [web(1)],
            "0 of 1 pods are ready; 1 reason keeps its pods from running, not in the configuration",
        ),
    ],
)
def test_one_line_says_how_a_workload_stands(workloads: list[Any], verdict: str) -> None:
    first, *_ = "\n".join(report(diagnosed(workloads=workloads))).split("\n\n")

    assert " ".join(first.split()) == f"Deployment shop/web: {verdict}"


def test_what_would_keep_pods_from_starting_is_said_of_what_has_none() -> None:
    pods = {"containers": [{"name": "web", **READING}]}
    idle = workload(Deployment, "web", replicas=0, status=OBSERVED, pods=pods)
    made = PodInputs(pod=pod_of(idle), objects=ObjectsInHand())
    template = replace(made, kind="Deployment", name="web")

    first, *_ = report(diagnosed(workloads=[idle], templates=[template]))

    assert first == ("Deployment shop/web: scaled to 0; 1 reason would keep its pods from starting")


def many() -> Diagnosis:
    unplaced = pod(
        "alone", status=unschedulable("0/1 nodes are available: 1 Insufficient cpu."), nodeName=""
    )
    return diagnosed(
        *(broken(f"web-1-{n}", "web-1") for n in range(6)),
        broken("api-1-x", "api-1"),
        running("fine"),
        running("pulled", imagePullSecrets=[{"name": "registry"}]),
        pod("new", meta={"creationTimestamp": JUST_NOW}, nodeName=""),
        unplaced,
        workloads=[
            web(6),
            replica_set(1, 6),
            workload(Deployment, "api", replicas=1, status=OBSERVED),
            replica_set(1, 1, of="api"),
            workload(Deployment, "idle", replicas=0, status=OBSERVED),
        ],
        objects=[secret("db", user=b"x")],
        nodes=[node()],
        events=[warning("FailedKillPod", "error killing pod", about="alone")],
        left_out=("events: forbidden, it takes list of events",),
    )


def test_many_are_told_by_their_reasons_worst_first() -> None:
    text = "\n".join(overview(many())) + "\n"

    assert (
        text
        == """\
2 reasons: 1 in the configuration, 1 elsewhere

1. 7 pods of deploy/web, deploy/api: Secret shop/db has no key password; it has
   user
   pods      web-1-0, web-1-1, web-1-2, web-1-3 and 3 more
   where     container web, variable PASSWORD
             (spec.containers[0].env[0].valueFrom.secretKeyRef)
   kubelet   couldn't find key password in Secret shop/db
   shown as  container waiting: CreateContainerConfigError
   seen      container web: CreateContainerConfigError (7 times): couldn't find
             key password in Secret shop/db
   fix       add key password to Secret db, or use a key it has

2. pod/alone: no node takes the pod: 1 with too little cpu left
   seen  pod: Unschedulable: 0/1 nodes are available: 1 Insufficient cpu.
   fix   ask for less, scale something down or add a node

Seen in the cluster, not configuration:
- pod/alone: event: FailedKillPod: error killing pod

2 of 11 pods and 1 of 3 workloads are fine; 1 pod is starting; 1 workload wants
no pods now; 1 more remark: -v shows it

Not checked:
- events: forbidden, it takes list of events
"""
    )


def test_all_remarks_are_shown_on_request() -> None:
    text = "\n".join(overview(many(), verbose=True))

    assert "pod/pulled: Secret shop/registry does not exist" in text
    assert "-v shows" not in text


def test_where_several_namespaces_are_each_is_named() -> None:
    elsewhere = pod(status=crashing(1), meta={"namespace": "blog"})

    text = "\n".join(overview(diagnosed(pod(status=crashing(1)), elsewhere)))

    assert "1. pod/web-1 (shop): container web exits" in text
    assert "2. pod/web-1 (blog): container web exits" in text


def test_nothing_wrong_is_one_line() -> None:
    assert [*overview(diagnosed(running("a"), running("b")))] == ["2 of 2 pods are fine"]
    assert [*overview(diagnosed(running()))] == ["1 of 1 pod is fine"]
    assert [*overview(diagnosed())] == ["nothing to check"]


def test_many_workloads_in_one_heading_are_a_few_and_the_rest() -> None:
    sets = [workload(ReplicaSet, f"s{n}", replicas=1, status=OBSERVED) for n in range(7)]
    pods = [broken(f"p{n}", f"s{n}") for n in range(7)]

    text = " ".join("\n".join(overview(diagnosed(*pods, workloads=sets))).split())

    assert "7 pods of rs/s0, rs/s1, rs/s2, rs/s3 and 3 more: Secret shop/db" in text


def test_no_line_is_longer_than_a_hundred_columns_or_broken_inside_a_word() -> None:
    lines = [*overview(many()), *report(diagnosed(pod(status=crashing(1))))]

    assert max(map(len, lines)) <= 100
    words = {word for line in lines for word in line.split()}
    assert "(spec.containers[0].env[0].valueFrom.secretKeyRef)" in words


def test_programs_get_what_is_wrong_and_the_totals() -> None:
    document = diagnosis_document(many(), ["a remark"])

    assert document["wrong"] is True
    assert [each["name"] for each in document["objects"]] == ["web", "api", "alone"]
    assert document["reasons"][0]["affected"][1] == {
        "kind": "Deployment",
        "namespace": "shop",
        "name": "api",
        "pods": ["api-1-x"],
    }
    assert [each["type"] for each in document["reasons"]] == [
        "MissingKey",
        "NoNodeFits",
        "MissingPullSecret",
    ]
    assert [each["configuration"] for each in document["reasons"]] == [True, False, True]
    assert document["unexplained"][0]["object"]["name"] == "alone"
    assert document["totals"] == {
        "pods": 11,
        "podsFine": 2,
        "podsStarting": 1,
        "podsLeftBehind": 0,
        "podsWaiting": 0,
        "podsWrong": 8,
        "workloads": 3,
        "workloadsWrong": 2,
        "workloadsIdle": 1,
    }
    assert (document["notes"], len(document["notLookedAt"])) == (["a remark"], 1)


def test_programs_get_the_members_of_a_workload() -> None:
    asked = frozenset({ObjectName(kind="Deployment", namespace="shop", name="web")})
    there = running("web-1-x", of=owned("ReplicaSet", "web-1"))

    document = diagnosis_document(
        diagnosed(there, workloads=[web(1), replica_set(1, 1)], targets=asked), ()
    )

    assert document["objects"] == [
        {
            "kind": "Deployment",
            "namespace": "shop",
            "name": "web",
            "wrong": False,
            "wantsNoPods": False,
            "summary": "1 of 1 pods are ready",
            "pods": {"fine": 1},
            "members": [
                {
                    "kind": "ReplicaSet",
                    "namespace": "shop",
                    "name": "web-1",
                    "role": None,
                    "wanted": 1,
                    "ready": 1,
                }
            ],
        }
    ]
