from __future__ import annotations

import asyncio
import errno
from typing import Any

import pytest

from reflet.api.core.small_kinds import Event
from reflet.controllers.event_recorder import WARNING
from reflet.controllers.event_sender import MOST_WAITING
from reflet.errors import (
    ConnectionRefused,
    CredentialsError,
    DecodeError,
    Forbidden,
    TransportError,
)
from reflet.node.status.node_events import NodeEvents
from reflet.runtime.metrics import MemoryMetrics
from tests.unit.node.fake_cluster import FakeCluster
from tests.unit.node.pod_scenes import pod

pytestmark = pytest.mark.virtual_time

PASSING = [
    ConnectionRefused("away"),
    DecodeError("garbled"),
    CredentialsError("no token"),
    OSError(errno.EMFILE, "Too many open files"),
]


async def recorded(cluster: Any, *messages: str, metrics: MemoryMetrics | None = None) -> None:
    recorder = NodeEvents(cluster, "worker-1", metrics=metrics or MemoryMetrics())
    for message in messages:
        recorder.of_pod(pod(), WARNING, "Failed", message, container="main")
    sending = asyncio.create_task(recorder.run())
    await asyncio.sleep(3600)
    await recorder.sent()
    sending.cancel()
    await asyncio.wait((sending,))


async def test_an_event_names_the_container_and_who_noticed() -> None:
    cluster = FakeCluster()

    await recorded(cluster, "Error: boom")

    ((verb, name, event),) = cluster.writes
    assert isinstance(event, Event)
    assert (verb, name.startswith("web.")) == ("create", True)
    assert event.involved_object.field_path == "spec.containers{main}"
    assert (event.source.component, event.source.host, event.count) == ("reflet", "worker-1", 1)


async def test_the_same_event_again_only_counts() -> None:
    cluster = FakeCluster()

    await recorded(cluster, "boom", "boom", "boom")

    assert [verb for verb, _, _ in cluster.writes] == ["create", "patch", "patch"]
    assert cluster.writes[-1][2]["count"] == 3


@pytest.mark.parametrize("failure", PASSING)
async def test_an_event_waits_for_a_server_that_is_away(failure: Exception) -> None:
    cluster = FakeCluster()
    cluster.failures.extend([failure] * 3)

    await recorded(cluster, "boom")

    assert [verb for verb, _, _ in cluster.writes] == ["create"]


async def test_an_event_whose_answer_was_lost_is_told_once_and_goes_on_counting() -> None:
    cluster, metrics = FakeCluster(), MemoryMetrics()
    cluster.lost_answers.append(TransportError("the connection broke"))

    await recorded(cluster, "boom", "boom", metrics=metrics)

    (name,) = cluster.objects
    assert [(verb, whose) for verb, whose, _ in cluster.writes] == [
        ("create", name),
        ("create", name),  # is there already
        ("patch", name),
    ]
    assert metrics.counted("reflet_events_total", result="sent") == 2
    assert metrics.counted("reflet_events_total", result="failed") == 0


async def test_an_event_that_is_refused_is_dropped_and_counted() -> None:
    cluster, metrics = FakeCluster(), MemoryMetrics()
    cluster.failures.append(Forbidden("no", code=403))

    await recorded(cluster, "boom", metrics=metrics)

    assert cluster.writes == []
    assert metrics.counted("reflet_events_total", result="failed") == 1


async def test_recording_never_waits_and_never_grows() -> None:
    cluster, metrics = FakeCluster(), MemoryMetrics()
    recorder = NodeEvents(cluster, "worker-1", metrics=metrics)  # type: ignore[arg-type] # a fake

    for number in range(MOST_WAITING + 5):
        other = pod(metadata={"name": f"pod-{number}", "uid": f"u{number}"})
        recorder.of_pod(other, WARNING, "Failed", "boom")

    assert metrics.counted("reflet_events_total", result="dropped") == 5


async def test_at_the_end_there_is_one_more_try_and_no_more_waiting() -> None:
    cluster = FakeCluster()
    cluster.failures.extend([ConnectionRefused("away")] * 9)
    recorder = NodeEvents(cluster, "worker-1")  # type: ignore[arg-type] # a fake
    recorder.of_pod(pod(), WARNING, "Failed", "boom")
    sending = asyncio.create_task(recorder.run())
    await asyncio.sleep(1)
    loop = asyncio.get_running_loop()
    began = loop.time()
    await recorder.sent()
    sending.cancel()
    await asyncio.wait((sending,))

    assert loop.time() - began < 1
    assert cluster.writes == []


async def test_an_event_that_paused_is_sent_at_the_end_if_the_server_is_back() -> None:
    cluster, metrics = FakeCluster(), MemoryMetrics()
    cluster.failures.append(ConnectionRefused("away"))
    recorder = NodeEvents(cluster, "worker-1", metrics=metrics)  # type: ignore[arg-type] # a fake
    recorder.of_pod(pod(), WARNING, "Failed", "boom")
    sending = asyncio.create_task(recorder.run())
    await asyncio.sleep(1)
    loop = asyncio.get_running_loop()
    began = loop.time()
    await recorder.sent()
    took = loop.time() - began
    sending.cancel()
    await asyncio.wait((sending,))

    assert (took, [verb for verb, _, _ in cluster.writes]) == (0, ["create"])
    assert metrics.counted("reflet_events_total", result="sent") == 1
