from __future__ import annotations

import asyncio
import errno
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

from reflet.api.core.nodes import Node
from reflet.api.meta import ObjectMeta
from reflet.client.client import Client
from reflet.errors import (
    ConnectionRefused,
    CredentialsError,
    DecodeError,
    Forbidden,
)
from reflet.node.identity import node_registration
from reflet.node.identity.machine import Pressure, read_machine, read_pressure
from reflet.node.identity.node_registration import (
    FAST_FOR,
    LOOK_EVERY,
    TELL_EVERY,
    NodeRegistration,
)
from reflet.node.identity.node_status import NodeFacts
from reflet.testing.virtual_time import VirtualClock
from tests.unit.node.fake_cluster import FakeCluster

pytestmark = pytest.mark.virtual_time

PASSING = [
    ConnectionRefused("away"),
    DecodeError("garbled"),
    CredentialsError("no token"),
    OSError(errno.EMFILE, "Too many open files"),
]


def registration_on(
    cluster: FakeCluster, folder: Path, why: Callable[[], str | None] = lambda: None
) -> NodeRegistration:
    facts = NodeFacts(name="worker-1", machine=read_machine(), addresses=("10.0.0.1",))
    return NodeRegistration(
        cast("Client", cluster), facts, folder=folder, not_ready=why, clock=VirtualClock()
    )


def verbs(cluster: FakeCluster) -> list[str]:
    return [verb for verb, _, _ in cluster.writes]


def readiness(cluster: FakeCluster) -> list[tuple[str, str]]:
    """What each report says about being ready."""
    reports: list[Any] = [body["status"] for verb, _, body in cluster.writes if verb == "patch"]
    return [
        (each["status"], each["message"])
        for report in reports
        for each in report["conditions"]
        if each["type"] == "Ready"
    ]


async def running(registration: NodeRegistration, seconds: float) -> None:
    task = asyncio.create_task(registration.run())
    await asyncio.sleep(seconds)
    task.cancel()
    await asyncio.wait((task,))


# Being a node


async def test_a_node_is_made_and_known(tmp_path: Path) -> None:
    cluster = FakeCluster()
    registration = registration_on(cluster, tmp_path)

    node = await registration.register()

    assert (node.metadata.name, registration.node) == ("worker-1", node)


async def test_a_node_that_is_there_is_taken_over_as_it_is(tmp_path: Path) -> None:
    cluster = FakeCluster()
    there = cluster.objects["worker-1"] = Node(metadata=ObjectMeta(name="worker-1", uid="old"))

    node = await registration_on(cluster, tmp_path).register()

    assert node is there
    assert verbs(cluster) == ["create", "get"]


@pytest.mark.parametrize("failure", PASSING)
async def test_a_server_that_is_away_is_asked_until_it_answers(
    tmp_path: Path, failure: Exception
) -> None:
    cluster = FakeCluster()
    cluster.failures.extend([failure] * 5)

    node = await registration_on(cluster, tmp_path).register()

    assert node.metadata.name == "worker-1"


async def test_a_server_that_is_away_is_asked_every_quarter_of_a_minute(tmp_path: Path) -> None:
    cluster = FakeCluster()
    cluster.failures.extend([ConnectionRefused("away")] * 1000)
    registering = asyncio.create_task(registration_on(cluster, tmp_path).register())
    for _ in range(40):
        left = len(cluster.failures)
        await asyncio.sleep(15)
        assert len(cluster.failures) < left
    cluster.failures.clear()

    await registering


async def test_who_may_not_be_a_node_says_so(tmp_path: Path) -> None:
    cluster = FakeCluster()
    cluster.failures.append(Forbidden("no nodes for you", code=403))

    with pytest.raises(Forbidden):
        await registration_on(cluster, tmp_path).register()


# Telling


async def test_a_look_at_the_machine_that_fails_is_made_again_and_complained_of_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    looks: list[str] = []

    def read(folder: Path) -> Pressure:
        looks.append("look")
        if len(looks) <= 3:
            raise OSError(errno.EMFILE, "Too many open files")
        return read_pressure(folder)

    monkeypatch.setattr(node_registration, "read_pressure", read)
    cluster = FakeCluster()
    node = registration_on(cluster, tmp_path)
    await node.register()

    await running(node, 3 * LOOK_EVERY + 1)

    assert verbs(cluster) == ["create", "patch"]
    assert [each.levelname for each in caplog.records if "not told" in each.message] == ["WARNING"]


async def test_a_status_that_stays_is_told_every_five_minutes_only(tmp_path: Path) -> None:
    cluster = FakeCluster()
    registration = registration_on(cluster, tmp_path)
    await registration.register()

    await running(registration, TELL_EVERY + 2 * LOOK_EVERY)

    assert verbs(cluster) == ["create", "patch", "patch"]


async def test_a_change_is_told_at_the_next_look(tmp_path: Path) -> None:
    cluster = FakeCluster()
    problems = iter([None, "the shim is away"])
    registration = registration_on(cluster, tmp_path, lambda: next(problems, "the shim is away"))
    await registration.register()

    await running(registration, 3 * LOOK_EVERY)

    assert readiness(cluster) == [("True", "reflet is ready"), ("False", "the shim is away")]


def ready_after(seconds: float) -> Callable[[], str | None]:
    began = asyncio.get_running_loop().time()
    return lambda: (
        None if asyncio.get_running_loop().time() - began >= seconds else "pleg has yet to be"
    )


async def test_a_node_that_is_ready_just_after_its_first_report_says_so_at_once(
    tmp_path: Path,
) -> None:
    cluster = FakeCluster()
    registration = registration_on(cluster, tmp_path, ready_after(0.5))
    await registration.register()

    await running(registration, 1)

    assert readiness(cluster) == [("False", "pleg has yet to be"), ("True", "reflet is ready")]


async def test_a_node_that_was_not_ready_for_two_minutes_waits_for_the_next_look(
    tmp_path: Path,
) -> None:
    cluster = FakeCluster()
    late = FAST_FOR + 1
    registration = registration_on(cluster, tmp_path, ready_after(late))
    await registration.register()

    await running(registration, late + 1)
    before = readiness(cluster)
    await running(registration, LOOK_EVERY)

    assert before == [("False", "pleg has yet to be")]
    assert readiness(cluster)[-1] == ("True", "reflet is ready")


async def test_a_server_that_is_away_while_a_node_gets_ready_is_asked_once_more_for_that(
    tmp_path: Path,
) -> None:
    cluster = FakeCluster()
    registration = registration_on(cluster, tmp_path, ready_after(0.5))
    await registration.register()
    cluster.failures.extend([ConnectionRefused("away")] * 100)

    await running(registration, 2 * LOOK_EVERY + 1)

    assert 100 - len(cluster.failures) == 4


async def test_the_agent_can_say_that_it_stops(tmp_path: Path) -> None:
    cluster = FakeCluster()
    registration = registration_on(cluster, tmp_path)
    await registration.register()
    await registration.report()

    await registration.report(not_ready="the agent was told to stop")

    assert readiness(cluster)[-1] == ("False", "the agent was told to stop")


async def test_a_node_that_was_deleted_is_registered_again_and_told_of_at_once(
    tmp_path: Path,
) -> None:
    cluster = FakeCluster()
    registration = registration_on(cluster, tmp_path)
    await registration.register()
    cluster.objects.clear()

    await running(registration, 1)

    assert verbs(cluster) == ["create", "patch", "create", "patch"]


async def test_a_status_that_could_not_be_told_is_told_at_the_next_look(tmp_path: Path) -> None:
    cluster = FakeCluster()
    registration = registration_on(cluster, tmp_path)
    await registration.register()
    cluster.failures.append(ConnectionRefused("away"))

    await running(registration, 2 * LOOK_EVERY)

    assert verbs(cluster) == ["create", "patch"]


# Serving


class Heard:
    """What is told of a registration."""

    def __init__(self) -> None:
        self.registered: list[Node] = []
        self.refused: list[Forbidden] = []

    async def serving(self, registration: NodeRegistration, seconds: float) -> None:
        work = registration.serve(self.registered.append, self.refused.append)
        task = asyncio.create_task(work)
        await asyncio.sleep(seconds)
        task.cancel()
        await asyncio.wait((task,))


async def test_a_node_is_told_of_once_however_often_serving_begins(tmp_path: Path) -> None:
    cluster, heard = FakeCluster(), Heard()
    registration = registration_on(cluster, tmp_path)

    await heard.serving(registration, 1)
    await heard.serving(registration, 1)

    assert (heard.registered, heard.refused) == ([registration.node], [])
    assert verbs(cluster) == ["create", "patch"]


async def test_an_agent_that_may_not_be_a_node_says_so_and_reports_nothing(tmp_path: Path) -> None:
    cluster, heard = FakeCluster(), Heard()
    cluster.failures.append(no := Forbidden("no", code=403))

    await heard.serving(registration_on(cluster, tmp_path), 1000)

    assert (heard.registered, heard.refused, verbs(cluster)) == ([], [no], [])
