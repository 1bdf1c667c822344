"""What happens again and again is one event with a series.

Upstream: client-go/tools/events/eventseries_test.go
"""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest

from reflet.api.core.config import ConfigMap
from reflet.api.meta import ObjectMeta
from reflet.client.client import Client
from reflet.cluster import Cluster
from reflet.controllers.event_series import SeriesRecorder
from reflet.devserver.server import DevServer
from reflet.errors import AlreadyExists, NotFound
from reflet.testing.virtual_time import VirtualClock
from reflet.transport.config.settings import ConnectionSettings

pytestmark = pytest.mark.virtual_time


def settings(version: str = "1", name: str = "settings") -> ConfigMap:
    return ConfigMap(
        metadata=ObjectMeta(name=name, namespace="shop", uid="u1", resource_version=version)
    )


class Events:
    """A server of events: what was written, when, and what is there."""

    def __init__(self) -> None:
        self.writes: list[tuple[float, str, int]] = []
        self.there: set[str] = set()

    def resource(self, *_: object, **__: object) -> Events:
        return self

    async def create(self, event: Any) -> None:
        if event.metadata.name in self.there:
            raise AlreadyExists("there", code=409, reason="AlreadyExists")
        self.there.add(event.metadata.name)
        self._note("create", event.series)

    async def patch(self, name: str, patch: dict[str, Any], _: object) -> None:
        if name not in self.there:
            raise NotFound("gone", code=404, reason="NotFound")
        self._note("patch", patch["series"])

    def _note(self, verb: str, series: Any) -> None:
        now = asyncio.get_running_loop().time()
        self.writes.append((now, verb, 1 if series is None else series.count))


def recorder(events: Events) -> SeriesRecorder:
    return SeriesRecorder(cast("Client", events), "operator", clock=VirtualClock())


async def test_the_first_is_told_the_second_begins_a_series_and_the_others_are_counted() -> None:
    events = Events()
    async with recorder(events) as told:
        for version in range(10):
            told.warning(settings(str(version)), "Broken", "Syncing", "no colour")
            await asyncio.sleep(1)
        assert events.writes == [(0, "create", 1), (1, "patch", 2)]

        await asyncio.sleep(400)

    assert events.writes[2:] == [(369, "patch", 10)]  # six minutes after the last


async def test_a_series_that_goes_on_is_refreshed_every_half_an_hour() -> None:
    events = Events()
    async with recorder(events) as told:
        for _ in range(62):
            told.normal(settings(), "Seen", "Looking", "again")
            await asyncio.sleep(60)
        refreshed = events.writes[2:]

    assert [(at, verb) for at, verb, _ in refreshed] == [(1860, "patch"), (3660, "patch")]
    assert [count for *_, count in refreshed] == [32, 62]


async def test_what_came_once_is_forgotten_and_told_anew() -> None:
    events = Events()
    async with recorder(events) as told:
        for _ in range(2):
            told.normal(settings(), "Seen", "Looking", "once")
            await asyncio.sleep(361)

    assert [verb for _, verb, _ in events.writes] == ["create", "create"]


async def test_another_object_reason_action_or_related_object_is_another_event() -> None:
    events = Events()
    async with recorder(events) as told:
        told.normal(settings(), "Seen", "Looking", "x")
        told.normal(settings(name="other"), "Seen", "Looking", "x")
        told.normal(settings(), "Heard", "Looking", "x")
        told.normal(settings(), "Seen", "Listening", "x")
        told.warning(settings(), "Seen", "Looking", "x")
        told.normal(settings(), "Seen", "Looking", "x", related=settings(name="other"))

    assert [verb for _, verb, _ in events.writes] == ["create"] * 6


async def test_the_end_writes_the_counts() -> None:
    events = Events()
    async with recorder(events) as told:
        for _ in range(5):
            told.normal(settings(), "Seen", "Looking", "x")

    assert [(verb, count) for _, verb, count in events.writes] == [
        ("create", 1),
        ("patch", 2),
        ("patch", 5),
    ]


async def test_an_event_that_the_server_has_forgotten_is_written_again() -> None:
    events = Events()
    async with recorder(events) as told:
        told.normal(settings(), "Seen", "Looking", "x")
        await asyncio.sleep(1)
        events.there.clear()
        told.normal(settings(), "Seen", "Looking", "x")
        await asyncio.sleep(1)

    assert events.writes[1][1:] == ("create", 2)


async def test_the_server_takes_such_events_and_shows_their_series() -> None:
    async with (
        DevServer(tls=False) as server,
        Cluster(ConnectionSettings(server=server.url, namespace="default")) as cluster,
    ):
        made = await cluster.resource(ConfigMap).create({"metadata": {"name": "settings"}})
        async with SeriesRecorder(cluster, "example.com/operator", instance="a") as told:
            for _ in range(3):
                told.warning(made, "Broken", "Syncing", "no colour")

        (event,) = (await cluster.resource("events.events.k8s.io").list()).items
        content = event.content if hasattr(event, "content") else None
        assert content is not None
        assert content["series"]["count"] == 3
        assert content["regarding"]["name"] == "settings"
        assert content["note"] == "no colour"
