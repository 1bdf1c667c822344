"""A watch knows when something changed, and when it cannot know that."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from reflet.api.core.config import ConfigMap, Secret
from reflet.cluster import Cluster
from reflet.devserver.faults import Fault
from reflet.devserver.server import DevServer
from reflet.errors import Forbidden
from reflet.insight.stale.object_history import PROMPT, ObjectHistory
from reflet.insight.stale.stale_workloads import RunningPods
from reflet.podconfig.many_pods.staleness_watch import StalenessWatch
from reflet.resolution.objects import ObjectKey
from reflet.transport.config.settings import ConnectionSettings
from tests.patience import within

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
SETTINGS: ObjectKey = ("ConfigMap", "default", "settings")


class StandingClock:
    """Time passes when a test says so."""

    def __init__(self) -> None:
        self.moment = NOON

    def now(self) -> datetime:
        return self.moment

    def monotonic(self) -> float:
        return asyncio.get_running_loop().time()

    async def sleep(self, _: float, /) -> None:
        await asyncio.sleep(0)


@asynccontextmanager
async def served() -> AsyncIterator[tuple[DevServer, Cluster, StandingClock]]:
    clock = StandingClock()
    async with (
        DevServer(tls=False) as server,
        Cluster(ConnectionSettings(server=server.url, qps=0)) as cluster,
        within(30),
    ):
        server.state.now = clock.now
        settings = {"metadata": {"name": "settings"}, "data": {"a": "geheim"}}
        await cluster.resource(ConfigMap).create(settings)
        yield server, cluster, clock


async def until(
    watch: StalenessWatch, is_so: Callable[[ObjectHistory], bool]
) -> tuple[RunningPods, ObjectHistory]:
    async for running in watch.changes():
        history = running.histories[SETTINGS]
        if isinstance(history, ObjectHistory) and is_so(history):
            return running, history
    raise AssertionError("the watch has ended")


async def change(cluster: Cluster, value: str | None) -> None:
    await cluster.resource(ConfigMap).patch("settings", {"data": {"a": value}})


async def test_what_is_there_is_known_before_anything_changes() -> None:
    async with served() as (_, cluster, clock), StalenessWatch(cluster, clock=clock) as watch:
        history = watch.running().histories[SETTINGS]

    assert isinstance(history, ObjectHistory)
    assert (history.since, history.keys, history.changes) == (NOON, ("a",), ())


async def test_a_change_is_known_to_the_second() -> None:
    async with served() as (_, cluster, clock), StalenessWatch(cluster, clock=clock) as watch:
        clock.moment += MINUTE
        await change(cluster, "another")
        _, history = await until(watch, lambda each: bool(each.changes))

    (seen,) = history.changes
    assert (seen.since, seen.at - seen.since) == (NOON + MINUTE, timedelta(seconds=1))


async def test_a_change_after_an_interruption_may_have_been_at_any_time() -> None:
    async with served() as (server, cluster, clock), StalenessWatch(cluster, clock=clock) as watch:
        await server.restart(0.0)
        clock.moment += PROMPT / 2
        await change(cluster, "another")
        _, history = await until(watch, lambda each: bool(each.changes))

    assert history.changes[0].since == NOON


async def test_what_is_deleted_is_remembered_as_gone_and_what_comes_was_not_there() -> None:
    async with served() as (_, cluster, clock), StalenessWatch(cluster, clock=clock) as watch:
        await cluster.resource(ConfigMap).delete("settings")
        _, gone = await until(watch, lambda each: not each.exists)
        await cluster.resource(Secret).create({"metadata": {"name": "new"}, "data": {}})
        async for running in watch.changes():
            if ("Secret", "default", "new") in running.histories:
                break

    assert gone.lost_keys == ("a",)
    new: Any = running.histories["Secret", "default", "new"]
    assert new.since == NOON


async def test_no_value_is_kept() -> None:
    async with served() as (_, cluster, clock), StalenessWatch(cluster, clock=clock) as watch:
        kept = [each.to_json() for mirror in watch._objects for each in mirror.values()]

    assert kept
    assert not any(b"geheim" in each for each in kept)


async def test_who_may_not_list_is_refused_at_once() -> None:
    async with served() as (server, cluster, clock):
        server.faults.add(
            Fault("status", resource="secrets", status=403, reason="Forbidden", times=9)
        )
        with pytest.raises(Forbidden):
            async with StalenessWatch(cluster, clock=clock):
                pass
