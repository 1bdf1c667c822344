from __future__ import annotations

from typing import Any

import pytest

from reflet.api.core.config import ConfigMap, Secret
from reflet.api.meta import ObjectMeta
from reflet.api.options import WatchOptions
from reflet.api.watch_events import WatchEvent
from reflet.informer.reflector.delivery import Delivery, SinkFailed
from reflet.informer.reflector.reflector_metrics import ReflectorMetrics
from reflet.informer.reflector.requests import OpenWatch
from reflet.informer.reflector.versions import VersionCursor
from reflet.runtime.metrics import MemoryMetrics
from reflet.store.deltas import Changed, Delta, Replaced, Resynced
from reflet.testing.scripted_source import ScriptedSource, added, bookmark


def config_map(version: str) -> ConfigMap:
    return ConfigMap(metadata=ObjectMeta(name="a", resource_version=version))


class Scene:
    """A delivery into a sink that notes each delta and the version known before it."""

    def __init__(self, expected_kind: tuple[str, str] | None = None, *, fails: bool = False):
        self.cursor = VersionCursor()
        self.metrics = MemoryMetrics()
        self.taken: list[tuple[Delta[ConfigMap], str]] = []
        self._fails = fails
        self.delivery: Delivery[ConfigMap] = Delivery(
            self,
            self.cursor,
            ReflectorMetrics(self.metrics, "configmaps"),
            name="test",
            expected_kind=expected_kind,
        )

    def apply(self, delta: Delta[ConfigMap], /) -> None:
        self.taken.append((delta, self.cursor.last))
        if self._fails:
            raise ValueError("the sink's bug")

    def failures(self, delta: str) -> float:
        return self.metrics.counted(
            "reflet_reflector_sink_errors_total", resource="configmaps", delta=delta
        )


async def watch_from(version: str) -> OpenWatch[ConfigMap]:
    context = ScriptedSource[ConfigMap]().watch(WatchOptions(), silence=None)
    watch = await OpenWatch.open(context, opened_at=version, since=0.0)
    await watch.close()
    return watch


def test_the_sink_is_filled_before_the_version_counts() -> None:
    scene = Scene()

    scene.delivery.replace([config_map("5")], "7", "list")

    assert scene.taken == [(Replaced([config_map("5")], "7"), "")]
    assert scene.cursor.last == "7"
    assert scene.delivery.synced.is_set


def test_a_sink_that_does_not_take_the_collection_leaves_the_version() -> None:
    scene = Scene(fails=True)

    with pytest.raises(SinkFailed, match="unable to sync list result: the sink's bug"):
        scene.delivery.replace([], "7", "list")

    assert scene.cursor.last == ""
    assert not scene.delivery.synced.is_set
    assert scene.failures("replaced") == 1


async def test_a_batch_reaches_the_sink_whole_before_the_version_counts() -> None:
    scene = Scene()
    watch = await watch_from("5")
    events = [added(config_map("6")), bookmark("8")]

    scene.delivery.change(events, watch)

    assert scene.taken == [(Changed(events), "")]
    assert (scene.cursor.last, watch.events) == ("8", 2)


async def test_a_sink_that_does_not_take_events_is_reported_and_the_watch_goes_on(
    caplog: pytest.LogCaptureFixture,
) -> None:
    scene = Scene(fails=True)

    scene.delivery.change([added(config_map("6"))], await watch_from("5"))

    assert scene.cursor.last == "6"
    assert scene.failures("changed") == 1
    assert "the sink's bug" in caplog.text


async def test_an_event_without_a_version_leaves_the_version() -> None:
    scene = Scene()
    scene.cursor.synced("5")

    scene.delivery.change([added(config_map(""))], await watch_from("5"))

    assert scene.cursor.last == "5"


async def test_objects_of_another_kind_neither_count_nor_move_the_version() -> None:
    scene = Scene(("v1", "ConfigMap"))
    watch = await watch_from("5")
    stranger: WatchEvent[Any] = added(Secret(metadata=ObjectMeta(name="s", resource_version="99")))

    scene.delivery.change([stranger], watch)
    assert (scene.taken, watch.events, scene.cursor.last) == ([], 0, "")

    scene.delivery.change([added(config_map("6")), stranger], watch)
    assert scene.taken == [(Changed([added(config_map("6"))]), "")]
    assert (watch.events, scene.cursor.last) == (1, "6")


async def test_an_event_of_an_unknown_type_does_not_end_the_initial_objects() -> None:
    scene = Scene(("v1", "ConfigMap"))
    watch = await watch_from("0")
    strange: Any = WatchEvent(type="FOO", object=config_map("9"))  # type: ignore[arg-type]  # on purpose

    scene.delivery.change([strange], watch)

    assert scene.cursor.last == ""
    assert watch.events == 1


def test_a_resync_is_passed_on() -> None:
    scene = Scene()

    scene.delivery.resync()

    assert scene.taken == [(Resynced(), "")]


def test_a_sink_that_does_not_take_a_resync_is_an_error() -> None:
    scene = Scene(fails=True)

    with pytest.raises(SinkFailed):
        scene.delivery.resync()

    assert scene.failures("resynced") == 1
