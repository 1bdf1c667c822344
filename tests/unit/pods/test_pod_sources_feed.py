"""A feed tells what its source says, and misses nothing from one life to the next."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from reflet.api.core.pods import Pod
from reflet.errors import ConnectionRefused
from reflet.pods.folder_pods import FolderPods
from reflet.pods.pod_sources import PodFeed, PodGone, PodNews, PodSeen, pods_of_node
from reflet.testing.scripted_source import (
    After,
    Quiet,
    ScriptedSource,
    added,
    deleted,
    listing,
    modified,
)
from reflet.testing.virtual_time import VirtualClock
from tests.unit.node.pod_scenes import pod

pytestmark = pytest.mark.virtual_time

MANIFEST = """
apiVersion: v1
kind: Pod
metadata: {name: web}
spec: {containers: [{name: main, image: none, command: [run]}]}
"""


class OneSource:
    """A server that has one source for everything."""

    def __init__(self, source: ScriptedSource[Pod]) -> None:
        self._source = source

    def resource(self, kind: type[Any], *, namespace: str) -> Any:
        return self._source


def feed_of(source: ScriptedSource[Pod]) -> PodFeed:
    pods = pods_of_node(OneSource(source), "worker-1", streaming=False, clock=VirtualClock())
    return PodFeed(pods)


def feed_of_folder(folder: Path) -> PodFeed:
    return PodFeed(FolderPods(folder, clock=VirtualClock()))


@asynccontextmanager
async def running(feed: PodFeed) -> AsyncIterator[list[tuple[str, str]]]:
    """The news of a feed, in words."""
    told: list[tuple[str, str]] = []

    def take(news: PodNews) -> None:
        told.append((type(news).__name__, news.pod.metadata.uid))

    task = asyncio.create_task(feed.run(take))
    try:
        yield told
    finally:
        task.cancel()
        await asyncio.wait((task,))


def other(version: str = "2", uid: str = "u2") -> Pod:
    return pod(metadata={"name": "web", "uid": uid, "resourceVersion": version})


def named(name: str) -> Pod:
    return pod(metadata={"name": name, "uid": name, "resourceVersion": "1"})


# The server's


async def test_every_pod_is_told_of_and_then_what_happens_to_it() -> None:
    source = ScriptedSource[Pod](
        lists=[listing("1", pod())],
        watches=[[modified(other("2", "u1")), deleted(other("3", "u1")), Quiet.HEALTHY]],
    )
    async with running(feed_of(source)) as told:
        await source.until_quiet()
        await asyncio.sleep(1.0)

    assert told == [("PodSeen", "u1"), ("PodSeen", "u1"), ("PodGone", "u1")]


async def test_a_pod_whose_end_was_missed_is_gone_before_the_other_is_seen() -> None:
    source = ScriptedSource[Pod](
        lists=[listing("1", pod())], watches=[[modified(other()), Quiet.HEALTHY]]
    )
    async with running(feed_of(source)) as told:
        await source.until_quiet()
        await asyncio.sleep(1.0)

    assert told == [("PodSeen", "u1"), ("PodGone", "u1"), ("PodSeen", "u2")]


async def test_it_is_complete_when_every_pod_that_is_there_was_told_of() -> None:
    source = ScriptedSource[Pod](
        lists=[ConnectionRefused("away"), listing("1", pod())], watches=[[Quiet.HEALTHY]]
    )
    feed = feed_of(source)
    async with running(feed) as told:
        before = feed.why_not_ready()
        await feed.complete()

        assert told == [("PodSeen", "u1")]
        assert (before, feed.why_not_ready()) == (
            "the pods have not been read yet",
            None,
        )


async def test_pods_that_are_gone_are_not_remembered() -> None:
    source = ScriptedSource[Pod](
        lists=[listing("1", pod())],
        watches=[
            [
                modified(other()),
                After(1.0),
                deleted(other("3")),
                added(other("4", "u3")),
                Quiet.HEALTHY,
            ]
        ],
    )
    feed = feed_of(source)
    async with running(feed):
        await source.until_quiet()
        await feed.complete()
        await asyncio.sleep(1.0)

    assert [told.metadata.uid for told in feed._told.values()] == ["u3"]


async def test_another_life_tells_of_the_pods_that_went_between_the_two() -> None:
    source = ScriptedSource[Pod](
        lists=[listing("1", pod(), named("b")), listing("5", named("b"))],
        watches=[[Quiet.HEALTHY], [Quiet.HEALTHY]],
    )
    feed = feed_of(source)
    async with running(feed) as first:
        await feed.complete()
    async with running(feed) as second:
        await asyncio.sleep(1.0)
        await feed.complete()

    assert first == [("PodSeen", "u1"), ("PodSeen", "b")]
    assert sorted(second) == [("PodGone", "u1"), ("PodSeen", "b")]


async def test_a_watch_that_ended_of_a_mistake_ends_the_feed() -> None:
    source = ScriptedSource[Pod](lists=[TypeError("a mistake")])

    with pytest.raises(ExceptionGroup) as caught:
        await feed_of(source).run(lambda _: None)

    assert caught.group_contains(TypeError, match="a mistake")


# A folder's


async def test_a_manifest_that_is_removed_ends_its_pod(tmp_path: Path) -> None:
    path = tmp_path / "web.yaml"
    path.write_text(MANIFEST)
    os.utime(path, (1, 1))
    feed = feed_of_folder(tmp_path)
    async with running(feed) as told:
        await feed.complete()
        path.unlink()
        await asyncio.sleep(3.0)

    assert [what for what, _ in told] == [PodSeen.__name__, PodGone.__name__]


async def test_another_life_tells_of_manifests_that_went_between_the_two(tmp_path: Path) -> None:
    (tmp_path / "web.yaml").write_text(MANIFEST)
    (tmp_path / "other.yaml").write_text(MANIFEST.replace("web", "other"))
    feed = feed_of_folder(tmp_path)
    async with running(feed) as first:
        await feed.complete()
    (tmp_path / "web.yaml").unlink()
    async with running(feed) as second:
        await asyncio.sleep(3.0)

    assert [what for what, _ in first] == ["PodSeen", "PodSeen"]
    assert sorted(what for what, _ in second) == ["PodGone", "PodSeen"]


async def test_an_empty_folder_is_complete_and_a_missing_one_is_told(tmp_path: Path) -> None:
    feed = feed_of_folder(tmp_path)
    missing = feed_of_folder(tmp_path / "none")
    async with running(feed) as told:
        await feed.complete()

    assert (told, feed.why_not_ready()) == ([], None)
    assert missing.why_not_ready() == f"there is no folder {tmp_path / 'none'}"
