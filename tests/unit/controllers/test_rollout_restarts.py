"""Which workloads are rolled, how far a rollout has come, and that one follows the other."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import pytest

from reflet.api.core.workloads import Deployment
from reflet.api.unstructured import AnyObject
from reflet.cluster import Cluster
from reflet.controllers.rollout_restarts import (
    RESTARTED_AT,
    RolloutProgress,
    WorkloadName,
    progress,
    refusal,
    roll,
)
from reflet.devserver.server import DevServer
from reflet.errors import NotFound
from reflet.play import Play
from reflet.transport.config.settings import ConnectionSettings
from tests.patience import within

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def workload(kind: str, status: Any = None, *, metadata: Any = None, **spec: Any) -> AnyObject:
    return AnyObject.from_dict(
        {
            "apiVersion": "apps/v1",
            "kind": kind,
            "metadata": {"name": "web", "namespace": "shop", "generation": 2, **(metadata or {})},
            "spec": spec,
            "status": {"observedGeneration": 2, **(status or {})},
        }
    )


@pytest.mark.parametrize(
    ("item", "words"),
    [
        (workload("Deployment"), ""),
        (workload("StatefulSet", updateStrategy={"type": "RollingUpdate"}), ""),
        (workload("Job"), "a Job does not replace its pods by itself"),
        (
            workload("Deployment", paused=True),
            "it is paused: kubectl rollout resume deployment/web",
        ),
        (
            workload("DaemonSet", updateStrategy={"type": "OnDelete"}),
            "its updateStrategy is OnDelete: delete its pods yourself",
        ),
        (
            workload("StatefulSet", updateStrategy={"rollingUpdate": {"partition": 2}}),
            "its rolling update ends at partition 2",
        ),
        (
            workload("Deployment", metadata={"deletionTimestamp": NOON.isoformat()}),
            "it is being deleted",
        ),
        (
            workload(
                "Deployment", metadata={"annotations": {"argocd.argoproj.io/tracking-id": "x"}}
            ),
            "Argo CD manages it: restart it there (argocd app actions run APP restart)",
        ),
    ],
)
def test_a_workload_that_is_not_ours_to_restart_is_left_alone(item: AnyObject, words: str) -> None:
    assert refusal(item) == words


@pytest.mark.parametrize(
    ("item", "text", "done"),
    [
        (
            workload("Deployment", {"observedGeneration": 1}),
            "its controller has not seen the change yet",
            False,
        ),
        (workload("Deployment", {"updatedReplicas": 1}, replicas=3), "1 of 3 pods are new", False),
        (
            workload("Deployment", {"updatedReplicas": 1, "replicas": 2}),
            "1 old pods are still there",
            False,
        ),
        (
            workload("Deployment", {"updatedReplicas": 1, "replicas": 1}),
            "0 of 1 new pods are available",
            False,
        ),
        (
            workload("Deployment", {"updatedReplicas": 1, "replicas": 1, "availableReplicas": 1}),
            "rolled",
            True,
        ),
        (workload("Deployment", replicas=0), "rolled", True),
        (
            workload(
                "StatefulSet",
                {"updatedReplicas": 1, "readyReplicas": 1, "updateRevision": "b"},
            ),
            "the last pod is being replaced",
            False,
        ),
        (
            workload("DaemonSet", {"desiredNumberScheduled": 2, "updatedNumberScheduled": 2}),
            "0 of 2 new pods are available",
            False,
        ),
    ],
)
def test_how_far_a_rollout_has_come(item: AnyObject, text: str, done: bool) -> None:
    assert progress(item) == RolloutProgress(text, done=done)


def test_a_rollout_that_exceeds_its_deadline_is_stuck() -> None:
    item = workload("Deployment", {"conditions": [{"reason": "ProgressDeadlineExceeded"}]})

    assert progress(item).stuck


def deployment(name: str, script: str = "") -> dict[str, Any]:
    labels = {"app": name}
    annotations = {"reflet.dev/play": script} if script else {}
    container = {"name": "web", "image": "nginx"}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name},
        "spec": {
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels, "annotations": annotations},
                "spec": {"containers": [container]},
            },
        },
    }


@asynccontextmanager
async def cluster_with(*names: str) -> AsyncIterator[Cluster]:
    async with (
        DevServer(tls=False, play=Play("pods", "deployments")) as server,
        Cluster(ConnectionSettings(server=server.url, qps=0)) as cluster,
    ):
        for name in names:
            await cluster.resource(Deployment).create(deployment(name))
        yield cluster


def named(*names: str) -> list[WorkloadName]:
    return [WorkloadName("Deployment", "default", name) for name in names]


async def test_one_workload_is_rolled_to_the_end_before_the_next_begins() -> None:
    told: list[tuple[str, bool]] = []
    async with cluster_with("a", "b") as cluster, within(30):
        ended = await roll(
            cluster,
            named("a", "b"),
            at=NOON,
            field_manager="me",
            on_progress=lambda each, now: told.append((each.name, now.done)),
        )
        rolled = await cluster.resource(Deployment).get("a")

    assert ended == dict.fromkeys(named("a", "b"), "")
    assert rolled.spec.template.metadata.annotations[RESTARTED_AT] == "2026-01-01T12:00:00Z"
    assert told.index(("a", True)) < next(
        index for index, (name, _) in enumerate(told) if name == "b"
    )


async def test_nothing_is_rolled_when_one_change_is_refused() -> None:
    async with cluster_with("a") as cluster:
        with pytest.raises(NotFound, match="nope"):
            await roll(cluster, named("a", "nope"), at=NOON, field_manager="me")
        left = await cluster.resource(Deployment).get("a")

    assert RESTARTED_AT not in left.spec.template.metadata.annotations


async def test_after_a_rollout_that_fails_no_other_is_begun() -> None:
    async with (
        DevServer(tls=False) as server,  # where nobody makes pods
        Cluster(ConnectionSettings(server=server.url, qps=0)) as cluster,
    ):
        for name in ("a", "b"):
            await cluster.resource(Deployment).create(deployment(name))
        ended = await roll(cluster, named("a", "b"), at=NOON, field_manager="me", timeout=0.01)

    ((failed, words),) = ended.items()
    assert failed.name == "a"
    assert words.startswith("still not rolled after 0.01 s")
