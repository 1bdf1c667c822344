"""Equal reasons are one, worst first; what is missing, idle or refused; what could not be told."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from reflet.api.core.workloads import CronJob, Deployment, ReplicaSet
from reflet.errors import Forbidden
from reflet.insight.why.cluster_state import ClusterState
from reflet.insight.why.diagnosis import diagnose
from reflet.insight.why.pod_reasons import Stand
from reflet.insight.why.reasons import ObjectName
from reflet.resolution.objects import ObjectsInHand
from reflet.resolution.pod_inputs import PodInputs, RefusedObject
from reflet.resolution.templates.templates import Workload, pod_of
from tests.unit.insight.why.scenes import (
    crashing,
    diagnosed,
    made,
    metadata,
    node,
    only_reason,
    owned,
    pod,
    running,
    state,
    unschedulable,
    waiting,
    warning,
    workload,
)
from tests.unit.resolution.scenes import secret, variable

CANARY = "canary-hush-hush"
OBSERVED = {"observedGeneration": 1}


def reading(key: str, name: str = "db") -> dict[str, Any]:
    return {"env": [variable(key.upper(), secretKeyRef={"name": name, "key": key})]}


def broken(name: str, owner: str, key: str = "password") -> Any:
    words = f"couldn't find key {key} in Secret shop/db"
    return pod(
        name,
        status=waiting("CreateContainerConfigError", words),
        container=reading(key),
        of=owned("ReplicaSet", f"{owner}-1"),
    )


def replica_set(owner: str, replicas: int = 2) -> Any:
    return workload(
        ReplicaSet,
        f"{owner}-1",
        replicas=replicas,
        meta=owned("Deployment", owner),
        status=OBSERVED,
    )


def deployment(name: str, replicas: int = 2, **more: Any) -> Any:
    return workload(Deployment, name, replicas=replicas, status=OBSERVED, **more)


def template(of: Workload, *objects: Any) -> PodInputs:
    inputs = PodInputs(pod=pod_of(of), objects=ObjectsInHand(objects))
    return replace(inputs, kind=of.kind, name=of.metadata.name)


def test_equal_reasons_of_several_workloads_are_one() -> None:
    reason = only_reason(
        broken("web-a", "web"),
        broken("web-b", "web"),
        broken("api-a", "api"),
        workloads=[
            *(deployment(name) for name in ("web", "api")),
            *(replica_set(name, number) for name, number in (("web", 2), ("api", 1))),
        ],
        objects=[secret("db", user=b"x")],
    )

    assert reason.reason.message == "Secret shop/db has no key password; it has user"
    assert [(str(each.root), each.pods) for each in reason.affected] == [
        ("deploy/web", ("web-a", "web-b")),
        ("deploy/api", ("api-a",)),
    ]
    assert [signal.count for signal in reason.explains] == [3]
    assert reason.reason.in_configuration


def test_what_pods_want_of_a_missing_object_is_put_together() -> None:
    reason = only_reason(broken("a", "web", "password"), broken("b", "api", "user"))

    assert reason.fix == (
        "create Secret db in namespace shop with key password; "
        "create Secret db in namespace shop with key user"
    )


def test_the_worst_comes_first() -> None:
    missing_pull_secret = running("d", imagePullSecrets=[{"name": "registry"}])
    would_not_start = running("c", container=reading("password"))
    crashes = [
        pod(name, status=crashing(1), of=owned("ReplicaSet", "web-1")) for name in ("a", "b")
    ]
    unplaced = pod(
        "e", status=unschedulable("0/1 nodes are available: 1 Insufficient cpu."), nodeName=""
    )

    reasons = diagnosed(
        missing_pull_secret, would_not_start, unplaced, *crashes, nodes=[node()]
    ).reasons

    assert [(each.reason.type, each.wrong, each.running) for each in reasons] == [
        ("ContainerExits", True, False),
        ("NoNodeFits", True, False),
        ("MissingObject", True, True),
        ("MissingPullSecret", False, True),
    ]


def test_pods_are_counted_by_how_they_stand() -> None:
    diagnosis = diagnosed(
        running("a"), running("b"), pod("c", status=crashing(1)), pod("d", meta={}, nodeName="")
    )

    assert diagnosis.pods() == 4
    assert (diagnosis.pods(Stand.FINE), diagnosis.pods(Stand.WRONG)) == (2, 2)


def test_only_what_was_asked_about_is_looked_at() -> None:
    asked = frozenset({ObjectName(kind="Pod", namespace="shop", name="a")})

    diagnosis = diagnosed(pod("a", status=crashing(1)), pod("b", status=crashing(2)), targets=asked)

    assert [str(each.root) for each in diagnosis.roots] == ["pod/a"]
    assert len(diagnosis.reasons) == 1


def test_a_pod_that_was_asked_about_is_told_by_its_own_name() -> None:
    asked = frozenset({ObjectName(kind="Pod", namespace="shop", name="web-a")})

    diagnosis = diagnosed(
        broken("web-a", "web"), workloads=[deployment("web"), replica_set("web")], targets=asked
    )

    assert [str(each.root) for each in diagnosis.reasons[0].affected] == ["pod/web-a"]


# Templates


def test_the_template_of_a_workload_without_pods_is_looked_at() -> None:
    web = deployment("web", pods={"containers": [{"name": "web", **reading("password")}]})

    reason = only_reason(workloads=[web, replica_set("web", 0)], templates=[template(web)])

    assert reason.reason.message == "Secret shop/db does not exist"
    assert [(str(each.root), each.pods) for each in reason.affected] == [("deploy/web", ())]


def test_what_is_scaled_to_zero_lacks_nothing_now() -> None:
    web = deployment("web", 0, pods={"containers": [{"name": "web", **reading("password")}]})

    diagnosis = diagnosed(workloads=[web], templates=[template(web)])

    assert [(each.reason.type, each.wrong) for each in diagnosis.reasons] == [
        ("MissingObject", False)
    ]
    assert not diagnosis.wrong


# What does not exist


def naming(account: str = "builder") -> Any:
    return deployment("web", 1, pods={"serviceAccountName": account})


ABSENT = frozenset({("ServiceAccount", "shop", "builder")})


def test_a_service_account_that_does_not_exist() -> None:
    there = running("web-a", of=owned("ReplicaSet", "web-1"))

    reason = only_reason(there, workloads=[naming(), replica_set("web", 1)], absent=ABSENT)

    assert reason.reason.message == (
        "ServiceAccount shop/builder does not exist: no pod is created"
    )
    assert [str(each.root) for each in reason.affected] == ["deploy/web"]


def test_what_was_meant_is_suggested() -> None:
    present = frozenset({("ServiceAccount", "shop", "bulider"), ("ServiceAccount", "x", "builder")})

    reason = only_reason(workloads=[naming()], absent=ABSENT, present=present, now=None)

    assert reason.fix == (
        "did you mean bulider? Otherwise create ServiceAccount builder in namespace shop"
    )


def test_what_the_controller_says_of_it_is_the_same_reason() -> None:
    words = (
        'Error creating: pods "web-x" is forbidden: error looking up service account '
        'shop/builder: serviceaccount "builder" not found'
    )

    reason = only_reason(
        workloads=[naming(), replica_set("web", 1)],
        absent=ABSENT,
        events=[warning("FailedCreate", words, about="web-1", kind="ReplicaSet")],
    )

    assert [signal.reason for signal in reason.explains] == ["FailedCreate"]


def test_a_pod_that_is_there_needs_nothing_to_be_made() -> None:
    assert diagnosed(running(serviceAccountName="builder"), absent=ABSENT).reasons == ()


def test_what_files_do_not_have_a_cluster_may() -> None:
    claims = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]
    web = deployment("web", pods={"serviceAccountName": "builder", "volumes": claims})
    absent = ABSENT | {("PersistentVolumeClaim", "shop", "data")}

    diagnosis = diagnose(ClusterState(templates=[template(web)], absent=absent, from_files=True))

    assert [(each.reason.message, each.wrong) for each in diagnosis.reasons] == [
        (
            (
                "ServiceAccount shop/builder is not in the files: no pod is created where it does "
                "not exist"
            ),
            False,
        ),
        (
            (
                "PersistentVolumeClaim shop/data is not in the files: no node takes the pod where "
                "it does not exist"
            ),
            False,
        ),
    ]


def test_a_workload_that_a_server_would_refuse() -> None:
    refused = RefusedObject(
        "a.yaml:1", "Deployment", "shop", "web", "spec.selector: Required value"
    )

    diagnosis = diagnose(ClusterState(refusals=(refused,), from_files=True))

    assert [each.reason.type for each in diagnosis.reasons] == ["ServerRefuses"]
    assert [(str(each.root), each.wrong) for each in diagnosis.roots] == [("deploy/web", True)]


def test_a_cron_job_is_looked_at_by_the_template_of_its_next_job() -> None:
    inner = {"spec": {"containers": [{"name": "web", **reading("password")}]}}
    spec = {"schedule": "@daily", "jobTemplate": {"spec": {"template": inner}}}
    tidy = made(CronJob, {"metadata": metadata("tidy"), "spec": spec})

    reason = only_reason(workloads=[tidy], templates=[template(tidy)])

    assert reason.reason.message == "Secret shop/db does not exist"


# What is not known


def test_what_could_not_be_read_is_no_reason_once_the_pod_has_started() -> None:
    hand = ObjectsInHand(failures={("Secret", "shop", "db"): Forbidden("you cannot get secrets")})
    inputs = PodInputs(pod=running(container=reading("password")), objects=hand)

    diagnosis = diagnose(ClusterState(pods=[inputs]))

    assert (diagnosis.reasons, diagnosis.wrong) == ((), False)
    assert [each.reason.type for each in diagnosis.unknown] == ["UnreadableObject"]


def test_what_was_not_looked_at_is_passed_on() -> None:
    diagnosis = diagnosed(running(), left_out=("nodes: forbidden",))

    assert diagnosis.left_out == ("nodes: forbidden",)


@pytest.mark.parametrize("key", ["password", "passwort"])
def test_no_value_of_a_secret_is_in_a_diagnosis(key: str) -> None:
    found = state(broken("a", "web", key), objects=[secret("db", password=CANARY.encode())])

    assert CANARY not in repr(diagnose(found))
    assert CANARY not in repr(found)
