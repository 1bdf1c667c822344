from __future__ import annotations

import asyncio
import errno
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, cast

import pytest

from reflet.api.core.pods import ContainerStatus, PodIP, PodStatus
from reflet.api.meta import Condition
from reflet.client.client import Client
from reflet.errors import (
    Conflict,
    ConnectionRefused,
    CredentialsError,
    DecodeError,
    Forbidden,
    Invalid,
    NotFound,
)
from reflet.node.status.status_manager import StatusManager, status_patch
from tests.unit.node.fake_cluster import FakeCluster
from tests.unit.node.pod_scenes import pod

RUNNING = PodStatus(phase="Running")
PASSING = [
    ConnectionRefused("away"),
    DecodeError("garbled"),
    CredentialsError("no token"),
    OSError(errno.EMFILE, "Too many open files"),
]


@asynccontextmanager
async def reporting(cluster: Any) -> AsyncIterator[StatusManager]:
    reporter = StatusManager(cluster)
    running = asyncio.create_task(reporter.run())
    try:
        yield reporter
    finally:
        running.cancel()
        await asyncio.wait((running,))


def test_a_status_that_is_there_already_is_not_written() -> None:
    assert status_patch("u1", RUNNING, RUNNING) is None


def test_a_patch_names_the_pod_and_only_what_changed() -> None:
    before = PodStatus(phase="Pending", pod_ip="10.0.0.1")

    patch = status_patch("u1", before, PodStatus(phase="Running", pod_ip="10.0.0.1"))

    assert patch == {"metadata": {"uid": "u1"}, "status": {"phase": "Running"}}


def test_what_went_away_is_taken_away() -> None:
    patch = status_patch("u1", PodStatus(phase="Pending", reason="Why"), PodStatus(phase="Pending"))

    assert patch == {"metadata": {"uid": "u1"}, "status": {"reason": None}}


def test_addresses_are_replaced_and_not_merged() -> None:
    patch = status_patch(
        "u1", PodStatus(pod_ips=(PodIP(ip="a"),)), PodStatus(pod_ips=(PodIP(ip="b"),))
    )

    assert patch is not None
    assert patch["status"]["podIPs"] == [{"$patch": "replace"}, {"ip": "b"}]


def test_conditions_of_others_are_left_to_them() -> None:
    gate = Condition(type="lb/attached", status="False")
    ready = Condition(type="Ready", status="True")

    same = status_patch(
        "u1",
        PodStatus(conditions=(ready,)),
        PodStatus(conditions=(ready, gate)),
    )
    patch = status_patch("u1", PodStatus(), PodStatus(conditions=(ready, gate)))

    assert same is None
    assert patch is not None
    assert [each["type"] for each in patch["status"]["conditions"]] == ["Ready"]


def test_a_condition_that_holds_again_no_longer_says_why_it_did_not() -> None:
    patch = status_patch(
        "u1",
        PodStatus(
            conditions=(Condition(type="Ready", status="False", reason="Why", message="so"),)
        ),
        PodStatus(conditions=(Condition(type="Ready", status="True"),)),
    )

    assert patch is not None
    (ready,) = patch["status"]["conditions"]
    assert (ready["status"], ready["reason"], ready["message"]) == ("True", None, None)


def test_required_fields_are_there_though_they_have_their_default() -> None:
    wanted = PodStatus(container_statuses=(ContainerStatus(name="main"),))

    patch = status_patch("u1", PodStatus(), wanted)

    assert patch is not None
    (container,) = patch["status"]["containerStatuses"]
    assert (container["ready"], container["restartCount"], container["imageID"]) == (False, 0, "")


@pytest.mark.virtual_time
async def test_the_latest_status_is_written_and_older_ones_are_not() -> None:
    cluster = FakeCluster()
    cluster.objects["web"] = pod()
    async with reporting(cluster) as reporter:
        reporter.report(pod(), PodStatus(phase="Pending"))
        reporter.report(pod(), RUNNING)
        await reporter.written("u1")

    assert [body["status"] for _, _, body in cluster.writes] == [{"phase": "Running"}]


@pytest.mark.virtual_time
@pytest.mark.parametrize("failure", PASSING)
async def test_a_status_waits_for_a_server_that_is_away(failure: Exception) -> None:
    cluster = FakeCluster()
    cluster.objects["web"] = pod()
    cluster.failures.extend([failure] * 5)
    async with reporting(cluster) as reporter:
        reporter.report(pod(), RUNNING)
        await reporter.written("u1")

    assert len(cluster.writes) == 1


@pytest.mark.virtual_time
async def test_a_writer_that_fails_of_a_mistake_leaves_its_pod_to_the_next() -> None:
    cluster = FakeCluster()
    cluster.objects["web"] = pod()
    cluster.failures.append(TypeError("a mistake"))
    reporter = StatusManager(cast("Client", cluster))
    reporter.report(pod(), RUNNING)
    with pytest.raises(ExceptionGroup) as caught:
        await reporter.run()
    running = asyncio.create_task(reporter.run())
    await reporter.written("u1")
    running.cancel()
    await asyncio.wait((running,))

    assert caught.group_contains(TypeError)
    assert len(cluster.writes) == 1


@pytest.mark.virtual_time
@pytest.mark.parametrize("failure", PASSING)
async def test_a_pod_goes_when_the_server_is_back(failure: Exception) -> None:
    cluster = FakeCluster()
    cluster.failures.extend([failure] * 5)
    async with reporting(cluster) as reporter:
        await reporter.finish(pod())

    assert [verb for verb, _, _ in cluster.writes] == ["delete"]


@pytest.mark.virtual_time
async def test_a_server_that_is_away_is_asked_every_quarter_of_a_minute_to_let_a_pod_go() -> None:
    cluster = FakeCluster()
    cluster.failures.extend([ConnectionRefused("away")] * 1000)
    async with reporting(cluster) as reporter:
        finishing = asyncio.create_task(reporter.finish(pod()))
        for _ in range(40):
            left = len(cluster.failures)
            await asyncio.sleep(15)
            assert len(cluster.failures) < left
        cluster.failures.clear()

        await finishing


@pytest.mark.virtual_time
@pytest.mark.parametrize("refusal", [NotFound("gone", code=404), Conflict("uid", code=409)])
async def test_what_can_never_be_written_is_not_tried_again(refusal: Any) -> None:
    cluster = FakeCluster()
    cluster.failures.append(refusal)
    async with reporting(cluster) as reporter:
        reporter.report(pod(), RUNNING)
        await reporter.written("u1")
        await asyncio.sleep(3600)

        assert reporter.waiting == 0
    assert cluster.writes == []


@pytest.mark.virtual_time
@pytest.mark.parametrize("refusal", [Forbidden("no", code=403), Invalid("no", code=422)])
async def test_what_was_refused_is_tried_again_later_and_holds_up_nobody(refusal: Any) -> None:
    cluster = FakeCluster()
    cluster.objects["web"] = pod()
    cluster.failures.extend([refusal] * 3)
    async with reporting(cluster) as reporter:
        reporter.report(pod(), RUNNING)
        await reporter.written("u1")
        at_first = (reporter.waiting, list(cluster.writes))
        await asyncio.sleep(3600)

    assert at_first == (0, [])
    assert [body["status"] for _, _, body in cluster.writes] == [{"phase": "Running"}]


@pytest.mark.virtual_time
async def test_what_was_refused_is_not_tried_again_for_a_pod_that_is_forgotten() -> None:
    cluster = FakeCluster()
    cluster.objects["web"] = pod()
    cluster.failures.append(Forbidden("no", code=403))
    async with reporting(cluster) as reporter:
        reporter.report(pod(), RUNNING)
        await reporter.written("u1")
        reporter.forget("u1")
        await asyncio.sleep(3600)

    assert cluster.writes == []


@pytest.mark.virtual_time
async def test_whoever_may_not_delete_a_pod_is_told_so_and_can_try_again() -> None:
    cluster = FakeCluster()
    cluster.objects["web"] = pod()
    async with reporting(cluster) as reporter:
        cluster.failures.append(Forbidden("no", code=403))
        with pytest.raises(Forbidden):
            await reporter.finish(pod())
        await reporter.finish(pod())

    assert [verb for verb, _, _ in cluster.writes] == ["delete"]


@pytest.mark.virtual_time
async def test_a_pod_goes_after_its_last_status_and_no_other_pod_goes_with_it() -> None:
    cluster = FakeCluster()
    cluster.objects["web"] = pod()
    async with reporting(cluster) as reporter:
        reporter.report(pod(), RUNNING)
        await reporter.finish(pod())

    assert [verb for verb, _, _ in cluster.writes] == ["patch", "delete"]
    options = cluster.writes[-1][2]
    assert (options.grace_period_seconds, options.uid) == (0, "u1")


@pytest.mark.virtual_time
async def test_the_status_after_one_that_was_refused_is_told_as_a_whole() -> None:
    cluster = FakeCluster()
    cluster.objects["web"] = pod()
    cluster.failures.append(Forbidden("no", code=403))
    async with reporting(cluster) as reporter:
        reporter.report(pod(), PodStatus(phase="Running", pod_ip="10.0.0.1"))
        await reporter.written("u1")
        reporter.report(pod(), PodStatus(phase="Succeeded", pod_ip="10.0.0.1"))
        await reporter.written("u1")

    assert [body["status"] for _, _, body in cluster.writes] == [
        {"phase": "Succeeded", "podIP": "10.0.0.1"}
    ]
