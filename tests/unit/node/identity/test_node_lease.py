from __future__ import annotations

import asyncio
import errno
from typing import Any

import pytest

from reflet.api.core.nodes import Node
from reflet.api.core.small_kinds import Lease
from reflet.api.meta import ObjectMeta
from reflet.errors import ConnectionRefused, CredentialsError, DecodeError, NotFound
from reflet.node.identity.node_lease import NodeLease
from tests.unit.node.fake_cluster import FakeCluster

pytestmark = pytest.mark.virtual_time

PASSING = [
    ConnectionRefused("away"),
    DecodeError("garbled"),
    CredentialsError("no token"),
    OSError(errno.EMFILE, "Too many open files"),
]
NODE = Node(metadata=ObjectMeta(name="worker-1", uid="u"))


async def beating(cluster: Any, seconds: float) -> NodeLease:
    heartbeat = NodeLease(cluster, lambda: NODE)
    running = asyncio.create_task(heartbeat.run())
    await asyncio.sleep(seconds)
    running.cancel()
    await asyncio.wait((running,))
    return heartbeat


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
    heartbeat = NodeLease(cluster, lambda: NODE)  # type: ignore[arg-type] # a fake
    await heartbeat.renew()
    cluster.objects.clear()
    cluster.failures.append(NotFound("gone", code=404))
    with pytest.raises(NotFound):
        await heartbeat.renew()

    await heartbeat.renew()

    assert [verb for verb, _, _ in cluster.writes] == ["create", "create"]


@pytest.mark.parametrize("failure", PASSING)
async def test_a_server_that_is_away_is_asked_again_sooner(failure: Exception) -> None:
    cluster = FakeCluster()
    cluster.failures.extend([failure] * 3)

    heartbeat = await beating(cluster, 9)

    assert heartbeat.renewed_at is not None
    assert [verb for verb, _, _ in cluster.writes] == ["create"]
