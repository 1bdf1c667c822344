"""What ``why`` says of workloads that somebody plays beside the development server."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from reflet.api import ConfigMap
from reflet.cluster import Cluster
from reflet.insight.why.diagnosis import Diagnosis, diagnose
from reflet.play import Play
from reflet.podconfig.gather_why import cluster_state
from reflet.podconfig.gather_why_targets import WhyTarget
from tests.integration.play_scenes import Document, playing, state_of, until


async def diagnosed(cluster: Cluster, target: str) -> Diagnosis:
    kind, _, name = target.partition("/")
    asked = [WhyTarget(kind, name)] if target else []
    return diagnose(await cluster_state(cluster, asked, now=datetime.now(UTC)))


def made_of(kind: str, name: str, *, script: str = "", **more: Any) -> Document:
    labels = {"app": name}
    annotations = {"reflet.dev/play": script} if script else {}
    pods = {"containers": [{"name": "main", "image": "nginx"}], **more.pop("pods", {})}
    template = {"metadata": {"labels": labels, "annotations": annotations}, "spec": pods}
    selector = {} if kind == "Job" else {"selector": {"matchLabels": labels}}
    return {"metadata": {"name": name}, "spec": {**selector, "template": template, **more}}


def said(diagnosis: Diagnosis) -> list[str]:
    return [each.reason.message for each in diagnosis.reasons if each.wrong]


async def test_a_new_version_without_its_configuration_leaves_the_old_pods_serving() -> None:
    async with playing(Play("all")) as (_, cluster):
        await cluster.resource(ConfigMap).create({"metadata": {"name": "settings"}})
        deployments = cluster.resource("deployments")
        await deployments.create(made_of("Deployment", "web", replicas=2))
        await until(
            cluster, "deploy", "web", lambda found: found.status.get("availableReplicas") == 2
        )
        before = await diagnosed(cluster, "deploy/web")
        container = {"name": "main", "envFrom": [{"configMapRef": {"name": "setings"}}]}
        await deployments.patch(
            "web",
            {"spec": {"template": {"spec": {"containers": [{**container, "image": "nginx"}]}}}},
        )
        await until(
            cluster, "deploy", "web", lambda found: found.status.get("updatedReplicas") == 1
        )

        after = await diagnosed(cluster, "deploy/web")

    assert (before.wrong, before.roots[0].summary) == (False, "2 of 2 pods are ready")
    (root,) = after.roots
    assert root.summary == "the new version does not come up; 2 old pods still serve"
    assert [(each.role, each.ready) for each in root.members] == [("new", 0), ("old", 2)]
    assert said(after) == ["ConfigMap default/setings does not exist"]


async def test_a_crash_is_told_with_its_code() -> None:
    async with playing(Play("all")) as (_, cluster):
        await cluster.resource("pods").create(
            {
                "metadata": {"name": "web", "annotations": {"reflet.dev/play": "exit 7"}},
                "spec": {"containers": [{"name": "main", "image": "nginx"}]},
            }
        )
        await until(
            cluster, "pods", "web", lambda found: "CrashLoopBackOff" in str(state_of(found))
        )

        diagnosis = await diagnosed(cluster, "pod/web")

    assert said(diagnosis) == ["container main exits with code 7 again and again"]
    assert diagnosis.unexplained == ()


async def test_a_stateful_set_that_no_node_takes() -> None:
    async with playing(Play("all")) as (_, cluster):
        await cluster.resource("statefulsets").create(
            made_of(
                "StatefulSet",
                "db",
                replicas=2,
                serviceName="db",
                pods={"nodeSelector": {"disk": "ssd"}},
            )
        )
        await until(cluster, "pods", "db-0", lambda found: "Unschedulable" in str(found.status))

        diagnosis = await diagnosed(cluster, "sts/db")

    (root,) = diagnosis.roots
    assert root.summary == "0 of 2 pods are ready; it waits for pod/db-0 before it makes db-1"
    assert said(diagnosis) == [
        "no node takes the pod: none has the label disk=ssd of its nodeSelector"
    ]


async def test_a_job_that_gives_up() -> None:
    async with playing(Play("all")) as (_, cluster):
        await cluster.resource("jobs").create(
            made_of("Job", "load", script="exit 3", backoffLimit=0, pods={"restartPolicy": "Never"})
        )
        await until(cluster, "jobs", "load", lambda found: "Failed" in str(found.status))

        diagnosis = await diagnosed(cluster, "job/load")

    assert diagnosis.roots[0].summary == "failed: BackoffLimitExceeded"
    assert said(diagnosis) == ["container main exits with code 3"]


async def test_a_namespace_where_all_is_well() -> None:
    async with playing(Play("all")) as (_, cluster):
        await cluster.resource("deployments").create(made_of("Deployment", "web", replicas=3))
        await cluster.resource("jobs").create(
            made_of("Job", "load", pods={"restartPolicy": "Never"})
        )
        await until(
            cluster, "deploy", "web", lambda found: found.status.get("availableReplicas") == 3
        )
        await until(cluster, "jobs", "load", lambda found: "Complete" in str(found.status))

        diagnosis = await diagnosed(cluster, "")

    assert (diagnosis.wrong, diagnosis.reasons, diagnosis.pods()) == (False, (), 4)
