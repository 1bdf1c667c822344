"""Writes that every controller makes, on the development server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import pytest

from reflet.api.core.config import ConfigMap
from reflet.api.core.pods import Pod, PodStatus
from reflet.api.core.workloads import Deployment
from reflet.api.meta import Condition
from reflet.api.resources import DEPLOYMENTS, NODES
from reflet.api.unstructured import AnyObject
from reflet.client.resource_client import ResourceClient
from reflet.cluster import Cluster
from reflet.controllers.object_writes import (
    applied_object,
    condition,
    deleted,
    ensure_finalizer,
    owner_reference,
    remove_finalizer,
    retry_on_conflict,
    set_condition,
    wait_for,
)
from reflet.devserver.server import DevServer
from reflet.errors import ConfigurationError, Conflict, NotFound
from reflet.transport.config.settings import ConnectionSettings

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
HOLD = "example.com/hold"


@asynccontextmanager
async def config_maps() -> AsyncIterator[ResourceClient[ConfigMap]]:
    async with (
        DevServer(tls=False) as server,
        Cluster(ConnectionSettings(server=server.url)) as cluster,
    ):
        yield cluster.resource(ConfigMap)


def named(name: str, **fields: Any) -> dict[str, Any]:
    return {"metadata": {"name": name}, **fields}


async def test_a_conflict_is_tried_again_and_another_error_is_not() -> None:
    tries = 0

    async def write() -> str:
        nonlocal tries
        tries += 1
        if tries < 3:
            raise Conflict("modified", code=409, reason="Conflict")
        return "written"

    assert await retry_on_conflict(write, pause=0) == "written"

    async def refused() -> str:
        raise ValueError("no")

    with pytest.raises(ValueError, match=r"^no$"):
        await retry_on_conflict(refused)


async def test_conflicts_without_end_are_told_after_so_many_tries() -> None:
    tries = 0

    async def write() -> None:
        nonlocal tries
        tries += 1
        raise Conflict("modified", code=409, reason="Conflict")

    with pytest.raises(Conflict):
        await retry_on_conflict(write, tries=3, pause=0)
    assert tries == 3


async def test_a_finalizer_is_added_once_and_holds_the_object() -> None:
    async with config_maps() as client:
        made = await client.create(named("a"))
        held = await ensure_finalizer(client, made, HOLD)
        again = await ensure_finalizer(client, held, HOLD)
        assert held.metadata.finalizers == (HOLD,)
        assert again is held

        await client.delete("a")
        going = await client.get("a")
        assert await ensure_finalizer(client, going, "example.com/other") is going
        assert await remove_finalizer(client, going, HOLD) is None
        with pytest.raises(NotFound):
            await client.get("a")


async def test_finalizers_of_others_stay_and_an_old_version_conflicts() -> None:
    async with config_maps() as client:
        made = await client.create(named("a"))
        await ensure_finalizer(client, made, "example.com/other")

        with pytest.raises(Conflict):
            await ensure_finalizer(client, made, HOLD)

        fresh = await client.get("a")
        both = await ensure_finalizer(client, fresh, HOLD)
        left = await remove_finalizer(client, both, HOLD)
        assert left is not None
        assert left.metadata.finalizers == ("example.com/other",)
        assert await remove_finalizer(client, left, HOLD) is left


async def test_letting_go_of_what_is_gone_is_no_error() -> None:
    async with config_maps() as client:
        held = await ensure_finalizer(client, await client.create(named("a")), HOLD)
        await client.patch("a", {"metadata": {"finalizers": None}})
        await client.delete("a")

        assert await remove_finalizer(client, held, HOLD) is None


def test_a_new_condition_comes_last_with_its_time() -> None:
    before = [{"type": "Other", "status": "True"}]

    assert set_condition(before, "Ready", True, reason="Up", observed_generation=3, now=NOW) == [
        {"type": "Other", "status": "True"},
        {
            "type": "Ready",
            "status": "True",
            "reason": "Up",
            "message": "",
            "observedGeneration": 3,
            "lastTransitionTime": "2026-01-02T03:04:05Z",
        },
    ]


@pytest.mark.parametrize(
    ("status", "moment"), [(True, "2020-01-01T00:00:00Z"), ("Unknown", "2026-01-02T03:04:05Z")]
)
def test_the_time_of_a_condition_changes_with_its_status_only(
    status: bool | str, moment: str
) -> None:
    before = [
        {"type": "Ready", "status": "True", "lastTransitionTime": "2020-01-01T00:00:00Z"},
        {"type": "Other", "status": "True"},
    ]

    after = set_condition(before, "Ready", status, reason="New", message="text", now=NOW)

    assert [each["type"] for each in after] == ["Ready", "Other"]
    assert after[0]["lastTransitionTime"] == moment
    assert (after[0]["reason"], after[0]["message"]) == ("New", "text")
    assert before[0].get("reason") is None


def any_object(generation: int, observed: int | None, **condition_: Any) -> AnyObject:
    status: dict[str, Any] = {"conditions": [{"type": "Ready", "status": "True", **condition_}]}
    if observed is not None:
        status["observedGeneration"] = observed
    return AnyObject.from_dict(
        {
            "apiVersion": "example.com/v1",
            "kind": "Widget",
            "metadata": {"name": "a", "generation": generation},
            "status": status,
        }
    )


@pytest.mark.parametrize(
    ("item", "holds"),
    [
        (None, False),
        (any_object(1, None), True),
        (any_object(2, 1), False),
        (any_object(2, 2), True),
        (any_object(2, None, observedGeneration=1), False),
        (any_object(2, None, status="False"), False),
        (Pod(status=PodStatus(conditions=(Condition(type="Ready", status="True"),))), True),
        (Pod(status=PodStatus()), False),
    ],
)
def test_a_condition_holds_when_it_is_there_for_the_present_spec(item: Any, holds: bool) -> None:
    assert condition("Ready")(item) is holds


async def test_waiting_ends_when_the_object_is_as_wanted() -> None:
    async with config_maps() as client:
        async with asyncio.TaskGroup() as group:
            waiting = group.create_task(
                wait_for(client, "a", lambda item: item is not None and item.data == {"x": "2"})
            )
            await client.create(named("a", data={"x": "1"}))
            await client.create(named("b", data={"x": "2"}))
            await client.patch("a", {"data": {"x": "2"}})

        found = waiting.result()
        assert found is not None
        assert found.metadata.name == "a"

        async with asyncio.TaskGroup() as group:
            gone = group.create_task(wait_for(client, "a", deleted))
            await client.delete("a")
        assert gone.result() is None


async def test_waiting_has_an_end_and_a_kind_that_is_not_there_is_told_at_once() -> None:
    async with config_maps() as client:
        with pytest.raises(TimeoutError):
            await wait_for(client, "a", condition("Ready"), timeout=0.05)

        unknown = client.resource.__class__(
            group="example.com", version="v1", plural="widgets", kind="Widget"
        )
        nowhere = ResourceClient(client._transport, unknown, AnyObject, namespace="default")
        with pytest.raises(NotFound):
            await wait_for(nowhere, "a", condition("Ready"))


def owner(kind: str = "Deployment", **metadata: Any) -> AnyObject:
    return AnyObject.from_dict(
        {"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": "web", **metadata}}
    )


def test_an_owner_that_controls_also_blocks() -> None:
    made = owner_reference(owner(uid="u1"))
    assert (made.api_version, made.kind, made.name, made.uid) == (
        "apps/v1",
        "Deployment",
        "web",
        "u1",
    )
    assert (made.controller, made.block_owner_deletion) == (True, True)

    other = owner_reference(owner(uid="u1"), controller=False)
    assert (other.controller, other.block_owner_deletion) == (None, None)


def test_an_owner_that_no_server_knows_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="'web' was not read from a server"):
        owner_reference(owner())


def test_an_object_to_apply_has_what_is_wanted_and_nothing_else() -> None:
    for kind in (DEPLOYMENTS, Deployment):
        assert applied_object(kind, "web", spec={"replicas": 3}) == {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "web"},
            "spec": {"replicas": 3},
        }


def test_an_object_to_apply_is_where_its_owner_is() -> None:
    from_owner = applied_object(
        DEPLOYMENTS, "web", owner=owner(uid="u1", namespace="shop"), labels={"app": "web"}
    )
    assert from_owner["metadata"]["namespace"] == "shop"
    assert from_owner["metadata"]["labels"] == {"app": "web"}
    assert from_owner["metadata"]["ownerReferences"][0].uid == "u1"

    cluster_wide = applied_object(NODES, "n", owner=owner(uid="u1", namespace="shop"))
    assert "namespace" not in cluster_wide["metadata"]
