"""One workload of the page: whose a pod is, which pods are one row, and where lines end."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

import pytest

from reflet.api.core.pods import Pod
from reflet.insight.page.page_document import PageContainer, PageWorkload
from reflet.insight.page.page_uses import UsesOfPods
from reflet.insight.page.workload_page import PageOwner, workload_of, workload_page
from reflet.insight.stale.object_history import KeyChange, ObjectHistory
from tests.page_scenes import BEFORE, NOON, NOW, OF_WEB, WHOLE, owned, pod

WEB = PageOwner("Deployment", "shop", "web")
EDITED = NOON + timedelta(hours=1)
FRESH = EDITED + timedelta(hours=1)


def settings(*keys: str) -> ObjectHistory:
    changes = (
        KeyChange(at=EDITED, since=EDITED, key="a", before="1", after="2", by="kubectl-edit"),
    )
    return ObjectHistory(
        kind="ConfigMap",
        namespace="shop",
        name="settings",
        keys=keys or ("a",),
        created=BEFORE,
        since=BEFORE,
        changes=changes,
    )


def page(pods: Iterable[Pod], *histories: ObjectHistory) -> PageWorkload | None:
    known: dict[Any, Any] = {(each.kind, each.namespace, each.name): each for each in histories}
    return workload_page(WEB, pods, UsesOfPods(known, now=NOW))


def shown(pods: Iterable[Pod], *histories: ObjectHistory) -> PageWorkload:
    found = page(pods, *histories)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("metadata", "name"),
    [
        (OF_WEB, ("Deployment", "shop", "web")),
        (owned("ReplicaSet", "web-7c9f"), ("ReplicaSet", "shop", "web-7c9f")),
        (owned("ReplicaSet", "other", "7c9f"), ("ReplicaSet", "shop", "other")),
        (owned("StatefulSet", "db"), ("StatefulSet", "shop", "db")),
        ({}, ("Pod", "shop", "web-7c9f-1")),
    ],
)
def test_whose_a_pod_is(metadata: dict[str, Any], name: tuple[str, str, str]) -> None:
    assert workload_of(pod(metadata=metadata)) == name


def test_pods_of_which_the_same_is_to_be_said_are_one_row() -> None:
    pods = [pod(WHOLE, f"web-{number}") for number in range(14)]

    [group] = shown(pods, settings()).pods

    assert (group.count, group.names, group.phase) == (14, ("web-0", "web-1"), "Running")


def test_a_pod_that_was_started_since_is_a_row_of_its_own() -> None:
    pods = [pod(WHOLE, "web-1"), pod(WHOLE, "web-2", started=FRESH), pod(WHOLE, "web-3")]

    found = shown(pods, settings())

    assert [group.names for group in found.pods] == [("web-1", "web-3"), ("web-2",)]
    assert [(link.pods, link.state) for link in found.arrivals[0].to] == [
        (0, "needs-restart"),
        (1, "current"),
    ]


def test_a_pod_that_waits_shows_the_reason() -> None:
    [group] = shown([pod(WHOLE, waiting="CreateContainerConfigError")]).pods

    assert (group.phase, group.since) == ("CreateContainerConfigError", BEFORE.timestamp())


def test_a_line_that_leads_to_two_containers_is_one() -> None:
    extra = {"containers": [{"name": "web", **WHOLE}, {"name": "side", **WHOLE}]}
    found = shown([pod(spec=extra)], settings())

    [arrival] = found.arrivals

    assert (arrival.way, arrival.name, arrival.source) == (
        "variable",
        "a",
        "ConfigMap/shop/settings",
    )
    assert {link.container for link in arrival.to} == {"web", "side"}


def test_init_containers_come_first_and_are_marked() -> None:
    found = shown([pod(WHOLE, spec={"initContainers": [{"name": "migrate"}]})], settings())

    assert found.pods[0].containers == (
        PageContainer(name="migrate", init=True),
        PageContainer(name="web"),
    )


@pytest.mark.parametrize(
    "pods",
    [
        [],
        [pod()],
        [pod(WHOLE, status={"phase": "Succeeded"})],
        [pod(WHOLE, metadata={"deletionTimestamp": NOW.isoformat()})],
    ],
    ids=["no pods", "no references", "ended", "being deleted"],
)
def test_who_uses_nothing_is_not_shown(pods: list[Pod]) -> None:
    assert page(pods, settings()) is None
