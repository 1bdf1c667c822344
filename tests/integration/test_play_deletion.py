"""Garbage collection and the end of namespaces, over the sockets of a server with play."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from reflet.api import AnyObject, ConfigMap, DeleteOptions, PropagationPolicy
from reflet.cluster import Cluster
from reflet.devserver import Fault
from reflet.devserver.storage.stored import Key
from reflet.errors import NotFound
from reflet.play import Play
from tests.integration.play_scenes import owned, playing, until, until_gone

HOLD = "example.com/hold"
WIDGETS: dict[str, Any] = {
    "metadata": {"name": "widgets.example.com"},
    "spec": {
        "group": "example.com",
        "scope": "Namespaced",
        "names": {"plural": "widgets", "singular": "widget", "kind": "Widget"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {"openAPIV3Schema": {"type": "object"}},
            }
        ],
    },
}

JOB: dict[str, Any] = {
    "metadata": {"name": "hello"},
    "spec": {
        "template": {
            "metadata": {"annotations": {"reflet.dev/play": "run"}},
            "spec": {
                "restartPolicy": "Never",
                "containers": [{"name": "main", "image": "busybox"}],
            },
        }
    },
}


async def made(cluster: Cluster, kind: str, document: dict[str, Any]) -> AnyObject:
    return await cluster.resource(await cluster.find(kind), raw=True).create(document)


async def deleted(
    cluster: Cluster, name: str, policy: PropagationPolicy | None, *, kind: str = "configmaps"
) -> None:
    objects = cluster.resource(await cluster.find(kind), raw=True)
    await objects.delete(name, DeleteOptions(propagation_policy=policy))


async def until_pod_runs(cluster: Cluster) -> AnyObject:
    async with cluster.mirror("pods", raw=True) as pods:
        async for change in pods.changes():
            if change.object.status.get("phase") == "Running":
                return change.object
    raise AssertionError("no pod runs")


async def test_dependents_go_after_their_owner_all_the_way_down() -> None:
    async with playing(Play("garbage")) as (_, cluster):
        owner = await made(cluster, "configmaps", {"metadata": {"name": "owner"}})
        middle = await made(cluster, "configmaps", owned("middle", owner))
        await made(cluster, "configmaps", owned("leaf", middle))

        await deleted(cluster, "owner", None)

        await until_gone(cluster, "configmaps", "leaf")
        with pytest.raises(NotFound):
            await cluster.resource(ConfigMap).get("middle")


async def test_an_owner_waits_in_the_foreground_until_its_dependents_have_gone() -> None:
    async with playing(Play("garbage")) as (_, cluster):
        owner = await made(cluster, "configmaps", {"metadata": {"name": "owner"}})
        await made(cluster, "configmaps", owned("held", owner, finalizers=[HOLD]))

        await deleted(cluster, "owner", "Foreground")

        await until(
            cluster, "configmaps", "held", lambda it: it.metadata.deletion_timestamp is not None
        )
        waiting = await cluster.resource(ConfigMap).get("owner")
        assert waiting.metadata.finalizers == ("foregroundDeletion",)
        await cluster.resource(ConfigMap).patch("held", {"metadata": {"finalizers": None}})
        await until_gone(cluster, "configmaps", "owner")


async def test_orphans_stay_and_forget_their_owner() -> None:
    async with playing(Play("garbage")) as (_, cluster):
        owner = await made(cluster, "configmaps", {"metadata": {"name": "owner"}})
        await made(cluster, "configmaps", owned("orphan", owner))

        await deleted(cluster, "owner", "Orphan")

        await until_gone(cluster, "configmaps", "owner")
        assert not (await cluster.resource(ConfigMap).get("orphan")).metadata.owner_references


async def test_a_job_leaves_its_pods_unless_the_deletion_says_otherwise() -> None:
    async with playing(Play("pods", "jobs", "garbage")) as (_, cluster):
        await made(cluster, "jobs", JOB)
        pod = (await until_pod_runs(cluster)).metadata.name

        await deleted(cluster, "hello", None, kind="jobs")

        await until_gone(cluster, "jobs", "hello")
        left = await until(cluster, "pods", pod, lambda it: not it.metadata.owner_references)
        assert left.metadata.deletion_timestamp is None


async def test_dependents_of_an_owner_that_came_back_stay() -> None:
    async with playing(Play("garbage")) as (server, cluster):
        owner = await made(cluster, "configmaps", {"metadata": {"name": "owner"}})
        await deleted(cluster, "owner", None)
        await until_gone(cluster, "configmaps", "owner")

        # As a test does that puts a server back to an earlier state: the same uid again.
        key = Key("configmaps", "default", "owner")
        server.state.storage.create(key, owner.to_dict())
        await made(cluster, "configmaps", owned("kept", owner))
        lost = owned("lost", owner)
        lost["metadata"]["ownerReferences"][0] |= {"uid": "another"}
        await made(cluster, "configmaps", lost)

        await until_gone(cluster, "configmaps", "lost")
        assert (await cluster.resource(ConfigMap).get("kept")).metadata.owner_references


async def test_dependents_go_when_nobody_saw_that_their_owner_is_another() -> None:
    async with playing(Play("garbage")) as (server, cluster):
        owner = await made(cluster, "configmaps", {"metadata": {"name": "owner"}})
        await made(cluster, "configmaps", owned("leaf", owner))
        await until(cluster, "configmaps", "leaf", lambda _: True)

        # All while no watch is open, and what happened is forgotten when one is again: the owner
        # is not seen to go, it is seen to change.
        server.faults.add(Fault(action="reset", verb="watch", now=True))
        key, other = Key("configmaps", "default", "owner"), owner.to_dict()
        server.state.storage.delete(key)
        other["metadata"] = {**other["metadata"], "uid": "another"}
        server.state.storage.create(key, other)
        server.state.storage.expire_history()

        await until_gone(cluster, "configmaps", "leaf")


async def test_an_object_whose_owner_never_was_or_has_another_uid_goes() -> None:
    async with playing(Play("garbage")) as (_, cluster):
        owner = await made(cluster, "configmaps", {"metadata": {"name": "owner"}})
        lost = owned("lost", owner)
        lost["metadata"]["ownerReferences"][0] |= {"name": "nobody"}
        other = owned("other", owner)
        other["metadata"]["ownerReferences"][0] |= {"uid": "another"}

        for document in (lost, other):
            await made(cluster, "configmaps", document)

        for name in ("lost", "other"):
            await until_gone(cluster, "configmaps", name)
        await cluster.resource(ConfigMap).get("owner")


async def test_kinds_that_come_later_and_owners_without_a_namespace_count() -> None:
    async with playing(Play("garbage")) as (_, cluster):
        await made(cluster, "customresourcedefinitions", WIDGETS)
        role = await made(cluster, "clusterroles", {"metadata": {"name": "role"}, "rules": []})
        widgets = await cluster.find("widgets")
        widget = await cluster.resource(widgets, raw=True).create(
            {"apiVersion": "example.com/v1", "kind": "Widget", **owned("widget", role)}
        )
        await made(cluster, "configmaps", owned("of-widget", widget))

        await deleted(cluster, "role", "Background", kind="clusterroles")

        await until_gone(cluster, "configmaps", "of-widget")
        await until_gone(cluster, "widgets", "widget")


async def test_a_deployment_deleted_in_the_foreground_goes_after_its_pods() -> None:
    web = {
        "metadata": {"name": "web"},
        "spec": {
            "replicas": 2,
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{"name": "main", "image": "nginx"}]},
            },
        },
    }
    async with playing(Play("pods", "deployments", "garbage")) as (_, cluster):
        await made(cluster, "deployments", web)
        await until(cluster, "deployments", "web", lambda it: it.status.get("readyReplicas") == 2)

        await deleted(cluster, "web", "Foreground", kind="deployments")

        await until_gone(cluster, "deployments", "web")
        assert not (await cluster.resource("pods").list()).items
        assert not (await cluster.resource("replicasets").list()).items


async def test_a_namespace_is_terminating_until_the_last_finalizer_in_it_has_gone() -> None:
    async with playing(Play("namespaces")) as (_, cluster):
        await made(cluster, "namespaces", {"metadata": {"name": "shop"}})
        maps = cluster.resource(ConfigMap, namespace="shop")
        await maps.create({"metadata": {"name": "free"}})
        await maps.create({"metadata": {"name": "held", "finalizers": [HOLD]}})

        answered = await cluster.resource("namespaces", raw=True).delete("shop")

        assert isinstance(answered, AnyObject)
        assert answered.status["phase"] == "Terminating"
        going = await until(
            cluster,
            "namespaces",
            "shop",
            lambda it: (
                f"{HOLD} in 1 resource instances" in str(it.status)
                and "configmaps. has 1 resource instances" in str(it.status)
            ),
        )
        assert going.spec["finalizers"] == ("kubernetes",)
        await maps.patch("held", {"metadata": {"finalizers": None}})
        await until_gone(cluster, "namespaces", "shop")


async def test_a_namespace_with_jobs_that_hold_their_pods_goes_too() -> None:
    async with playing(Play("pods", "jobs", "garbage", "namespaces")) as (_, cluster):
        await made(cluster, "namespaces", {"metadata": {"name": "shop"}})
        jobs = cluster.resource("jobs", namespace="shop", raw=True)
        await jobs.create(JOB)
        await until(
            cluster, "jobs", "hello", lambda it: bool(it.status.get("ready")), namespace="shop"
        )

        await cluster.resource("namespaces").delete("shop")

        await until_gone(cluster, "namespaces", "shop")


async def test_controllers_take_the_end_of_a_namespace_calmly(
    caplog: pytest.LogCaptureFixture,
) -> None:
    template = {
        "metadata": {"labels": {"app": "web"}},
        "spec": {"containers": [{"name": "main", "image": "nginx"}]},
    }
    selector = {"matchLabels": {"app": "web"}}
    web = {"metadata": {"name": "web"}, "spec": {"selector": selector, "template": template}}
    async with playing(Play("all")) as (_, cluster):
        await made(cluster, "namespaces", {"metadata": {"name": "shop"}})
        deployments = cluster.resource("deployments", namespace="shop", raw=True)
        await deployments.create(web)
        await until(
            cluster,
            "deployments",
            "web",
            lambda it: it.status.get("readyReplicas") == 1,
            namespace="shop",
        )

        await cluster.resource("namespaces").delete("shop")

        await until_gone(cluster, "namespaces", "shop")
    assert [each.message for each in caplog.records if each.levelno >= logging.WARNING] == []
