from __future__ import annotations

import asyncio
import errno
from datetime import UTC, datetime
from typing import Any, cast

import pytest

from reflet.api.core.nodes import Node
from reflet.api.core.small_kinds import Lease
from reflet.api.meta import ObjectMeta
from reflet.client.client import Client
from reflet.errors import ConnectionRefused, CredentialsError, DecodeError, NotFound
from reflet.node.identity.node_lease import NodeLease, new_lease
from tests.unit.node.fake_cluster import FakeCluster

pytestmark = pytest.mark.virtual_time

PASSING = [
    ConnectionRefused("away"),
    DecodeError("garbled"),
    CredentialsError("no token"),
    OSError(errno.EMFILE, "Too many open files"),
]
NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
NODE = Node(metadata=ObjectMeta(name="worker-1", uid="u"))


async def beating(cluster: Any, seconds: float) -> NodeLease:
    lease = NodeLease(cluster, lambda: NODE)
    running = asyncio.create_task(lease.run())
    await asyncio.sleep(seconds)
    running.cancel()
    await asyncio.wait((running,))
    return lease


async def test_a_lease_is_made_and_then_renewed_every_ten_seconds() -> None:
    cluster = FakeCluster()

    await beating(cluster, 35)

    assert [verb for verb, _, _ in cluster.writes] == ["create", "replace", "replace", "replace"]


async def test_a_lease_that_is_there_is_taken_over() -> None:
    cluster = FakeCluster()
    cluster.objects["worker-1"] = Lease(metadata=ObjectMeta(name="worker-1", resource_version="7"))

    await beating(cluster, 5)

    assert [verb for verb, _, _ in cluster.writes] == ["create", "get", "replace"]
    assert cluster.writes[-1][2].spec.holder_identity == "worker-1"


async def test_a_lease_that_somebody_removed_is_made_again() -> None:
    cluster = FakeCluster()
    lease = NodeLease(cluster, lambda: NODE)  # type: ignore[arg-type] # a fake
    await lease.renew()
    cluster.objects.clear()
    cluster.failures.append(NotFound("gone", code=404))
    with pytest.raises(NotFound):
        await lease.renew()

    await lease.renew()

    assert [verb for verb, _, _ in cluster.writes] == ["create", "create"]


@pytest.mark.parametrize("failure", PASSING)
async def test_a_server_that_is_away_is_asked_again_sooner(failure: Exception) -> None:
    cluster = FakeCluster()
    cluster.failures.extend([failure] * 3)

    lease = await beating(cluster, 9)

    assert lease.renewed_at is not None
    assert [verb for verb, _, _ in cluster.writes] == ["create"]


def test_a_lease_belongs_to_its_node() -> None:
    lease = new_lease(NODE, NOW)

    assert (lease.metadata.name, lease.spec.lease_duration_seconds) == ("worker-1", 40)
    assert lease.metadata.owner_references[0].uid == "u"


def test_a_lease_of_a_node_that_is_not_on_the_server_belongs_to_nobody() -> None:
    lease = new_lease(Node(metadata=ObjectMeta(name="worker-1")), NOW)

    assert lease.metadata.owner_references == ()


async def test_nothing_is_renewed_before_the_node_is_registered() -> None:
    cluster, registered = FakeCluster(), asyncio.Event()
    lease = NodeLease(cast("Client", cluster), lambda: NODE, registered=registered)
    running = asyncio.create_task(lease.run())
    await asyncio.sleep(100)
    before = lease.renewed_at
    registered.set()
    await asyncio.sleep(1)
    running.cancel()
    await asyncio.wait((running,))

    assert (before, lease.renewed_at) == (None, 100)
