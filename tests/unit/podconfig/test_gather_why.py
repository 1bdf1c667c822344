"""What is asked of a server to say why things do not run: that, and nothing else."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from reflet.client.client import ALL_NAMESPACES, Client
from reflet.errors import ConfigurationError, Forbidden, NotFound, TransportError
from reflet.insight.why.cluster_state import ClusterState
from reflet.insight.why.diagnosis import diagnose
from reflet.podconfig.gather_why import cluster_state
from reflet.podconfig.gather_why_targets import WhyTarget
from tests.unit.podconfig.listed_cluster import ListedCluster

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
LONG_AGO = "2026-01-01T10:00:00Z"
EVERYTHING = [
    *("cronjobs", "daemonsets", "deployments", "events", "jobs", "pods"),
    *("replicasets", "replicationcontrollers", "statefulsets"),
]
Raw = dict[str, Any]


def metadata(name: str, **more: Any) -> Raw:
    made = {"name": name, "namespace": "shop", "uid": name, "creationTimestamp": LONG_AGO}
    return {**made, **more}


def owner(kind: str, name: str) -> Raw:
    return {"ownerReferences": [{"kind": kind, "name": name, "uid": name, "controller": True}]}


def pod(name: str, *, phase: str = "Running", of: Raw | None = None, **more: Any) -> Raw:
    conditions = more.pop("conditions", [])
    ready = [{"name": "web", "ready": phase == "Running", "state": {}}]
    spec = {
        "enableServiceLinks": False,
        "nodeName": "node-1",
        "containers": [{"name": "web", **more.pop("container", {})}],
        **more,
    }
    status = {"phase": phase, "containerStatuses": ready, "conditions": conditions}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata(name, **(of or {})),
        "spec": spec,
        "status": status,
    }


def workload(kind: str, name: str, *, of: Raw | None = None, **more: Any) -> Raw:
    template = {
        "metadata": {"labels": {"app": "web"}},
        "spec": {"enableServiceLinks": False, "containers": [{"name": "web"}], **more},
    }
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": metadata(name, generation=1, **(of or {})),
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": {"app": "web"}},
            "template": template,
        },
        "status": {"replicas": 1, "observedGeneration": 1},
    }


def named(kind: str, name: str, version: str = "v1", **more: Any) -> Raw:
    return {"apiVersion": version, "kind": kind, "metadata": metadata(name), **more}


SERVICE = {
    "apiVersion": "v1",
    "kind": "Service",
    "metadata": {"name": "kubernetes", "namespace": "default"},
    "spec": {"clusterIP": "10.0.0.1", "ports": [{"port": 443}]},
}
DEPLOYMENT = workload("Deployment", "web")
REPLICA_SET = workload("ReplicaSet", "web-1", of=owner("Deployment", "web"))
POD = pod("web-1-x", of=owner("ReplicaSet", "web-1"))
READING: Raw = {
    "container": {
        "env": [{"name": "P", "valueFrom": {"secretKeyRef": {"name": "db", "key": "password"}}}]
    }
}


async def gathered(server: ListedCluster, *targets: WhyTarget, **more: Any) -> ClusterState:
    return await cluster_state(Client(server, namespace="shop"), targets, now=NOW, **more)


async def test_a_namespace_is_listed_kind_by_kind() -> None:
    server = ListedCluster(DEPLOYMENT, REPLICA_SET, POD, SERVICE)

    state = await gathered(server)

    assert server.lists == EVERYTHING
    assert "events type=Warning" in server.asked
    assert (len(state.pods), len(state.workloads), state.targets) == (1, 2, None)
    assert (state.left_out, state.now) == ((), NOW)


async def test_of_a_healthy_workload_only_what_its_selector_selects_is_asked_for() -> None:
    server = ListedCluster(DEPLOYMENT, REPLICA_SET, POD, SERVICE)

    await gathered(server, WhyTarget("deploy", "web"))

    assert sorted(server.asked) == [
        "deployments/web",
        "events type=Warning",
        "pods app=web",
        "replicasets app=web",
        "services/kubernetes",
    ]


async def test_of_a_pod_the_pod_its_events_and_its_objects_are_asked_for() -> None:
    server = ListedCluster(pod("web", **READING), SERVICE)

    await gathered(server, WhyTarget("pod", "web"))

    assert sorted(server.asked) == [
        "events involvedObject.kind=Pod,involvedObject.name=web",
        "pods/web",
        "secrets/db",
        "services/kubernetes",
    ]


async def test_what_a_pod_waits_for_is_asked_for_with_it() -> None:
    words = "0/1 nodes are available: 1 node(s) didn't match PersistentVolume's node affinity."
    condition = {
        "type": "PodScheduled",
        "status": "False",
        "reason": "Unschedulable",
        "message": words,
    }
    waiting = pod(
        "web",
        phase="Pending",
        nodeName="",
        conditions=[condition],
        volumes=[{"name": "d", "persistentVolumeClaim": {"claimName": "data"}}],
    )
    server = ListedCluster(
        waiting,
        SERVICE,
        named("PersistentVolumeClaim", "data", status={"phase": "Pending"}),
        named("PersistentVolumeClaim", "others", status={"phase": "Bound"}),
    )

    state = await gathered(server, WhyTarget("pod", "web"))

    assert {*server.lists} == {
        *("events", "nodes", "persistentvolumeclaims", "persistentvolumes", "storageclasses")
    }
    assert state.claims is not None
    assert [each.metadata.name for each in state.claims] == ["data"]


async def test_the_node_of_a_pod_that_does_not_run_is_looked_at_alone() -> None:
    server = ListedCluster(pod("web", phase="Pending"), SERVICE)

    state = await gathered(server, WhyTarget("pod", "web"))

    assert "nodes metadata.name=node-1" in server.asked
    assert state.nodes == ()


async def test_quotas_are_looked_at_where_pods_are_lacking() -> None:
    lacking = {**DEPLOYMENT, "status": {"observedGeneration": 1}}
    server = ListedCluster(lacking, SERVICE)

    state = await gathered(server, WhyTarget("deploy", "web"))

    assert "resourcequotas" in server.lists
    assert state.quotas == ()
    assert [each.name for each in state.templates] == ["web"]


async def test_what_new_pods_need_is_looked_for_by_name_alone() -> None:
    naming = workload(
        "Deployment",
        "web",
        serviceAccountName="builder",
        priorityClassName="urgent",
        runtimeClassName="gvisor",
    )
    server = ListedCluster(
        naming,
        POD,
        REPLICA_SET,
        SERVICE,
        named("ServiceAccount", "bulider"),
        {"apiVersion": "v1", "kind": "PriorityClass", "metadata": {"name": "urgent"}},
    )

    state = await gathered(server, WhyTarget("deploy", "web"))

    assert state.absent == {("ServiceAccount", "shop", "builder"), ("RuntimeClass", "", "gvisor")}
    assert ("ServiceAccount", "shop", "bulider") in state.present


async def test_what_may_not_be_listed_is_asked_for_by_name() -> None:
    naming = workload("Deployment", "web", serviceAccountName="builder")
    server = ListedCluster(naming, POD, REPLICA_SET, SERVICE, forbidden=("serviceaccounts",))

    state = await gathered(server, WhyTarget("deploy", "web"))

    assert state.absent == {("ServiceAccount", "shop", "builder")}
    assert state.left_out == ()


async def test_lists_that_are_forbidden_are_left_out_and_said_so() -> None:
    server = ListedCluster(DEPLOYMENT, POD, SERVICE, forbidden=("replicasets", "events"))

    state = await gathered(server)

    assert {*state.left_out} == {
        "replicasets: forbidden, it takes list of replicasets.apps",
        "events: forbidden, it takes list of events",
    }
    assert state.unseen == {"ReplicaSet", "Event"}


async def test_who_may_list_nothing_is_refused() -> None:
    server = ListedCluster(forbidden=tuple(EVERYTHING))

    with pytest.raises(Forbidden):
        await gathered(server)


async def test_a_server_that_cannot_be_asked_is_an_error() -> None:
    with pytest.raises(TransportError):
        await gathered(ListedCluster(failing=TransportError("away")))


async def test_a_name_that_is_not_there_is_an_error() -> None:
    with pytest.raises(NotFound):
        await gathered(ListedCluster(), WhyTarget("deploy", "web"))


async def test_a_type_that_makes_no_pods_is_an_error() -> None:
    with pytest.raises(ConfigurationError, match="configmaps are no pods and make none"):
        await gathered(ListedCluster(), WhyTarget("cm", "web"))


async def test_labels_leave_what_has_them_or_whose_pods_do() -> None:
    stray = pod("stray")
    server = ListedCluster(DEPLOYMENT, REPLICA_SET, POD, stray, SERVICE)

    state = await gathered(server, selector="app=web")

    assert [each.name for each in state.pods] == ["web-1-x"]
    assert [str(each) for each in state.targets or ()] == ["deploy/web"]


async def test_everywhere_the_objects_that_pods_name_are_listed_once() -> None:
    server = ListedCluster(
        pod("web", **READING), SERVICE, named("Secret", "db", data={"user": "eA=="})
    )

    state = await gathered(server, namespace=ALL_NAMESPACES)

    assert "secrets type!=helm.sh/release.v1" in server.asked
    assert "configmaps" not in server.lists
    (reason,) = diagnose(state).reasons
    assert reason.reason.message == "Secret shop/db has no key password; it has user"


async def test_events_of_pods_go_with_them_and_others_with_the_rest() -> None:
    events = [
        named(
            "Event",
            f"e-{kind}",
            involvedObject={"kind": kind, "name": name, "namespace": "shop"},
            type="Warning",
            reason="X",
        )
        for kind, name in (("Pod", "web-1-x"), ("ReplicaSet", "web-1"))
    ]
    server = ListedCluster(DEPLOYMENT, REPLICA_SET, POD, SERVICE, *events)

    state = await gathered(server)

    assert [event.involved_object.name for event in state.pods[0].events] == ["web-1-x"]
    assert [event.involved_object.name for event in state.events] == ["web-1"]


async def test_services_that_may_not_be_listed_are_a_reason_and_no_failure() -> None:
    server = ListedCluster(
        pod("web", phase="Pending", enableServiceLinks=True), SERVICE, forbidden=("services",)
    )

    state = await gathered(server, WhyTarget("pod", "web"))

    assert [each.reason.type for each in diagnose(state).reasons][:1] == ["ServicesUnreadable"]


async def test_the_api_servers_service_that_may_not_be_read_is_remarked_upon() -> None:
    state = await gathered(ListedCluster(pod("web")), WhyTarget("pod", "web"))

    assert len(state.remarks) == 1
    assert state.remarks[0].startswith("service default/kubernetes could not be read")


async def test_pages_are_told_of() -> None:
    told: list[int] = []
    server = ListedCluster(DEPLOYMENT, REPLICA_SET, POD, SERVICE)

    await gathered(server, on_pages=lambda: lambda number, _: told.append(number))

    assert sum(told) == 3
