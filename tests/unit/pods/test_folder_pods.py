"""Pods from a folder of manifests, read again when a file changes."""

from __future__ import annotations

import errno
import os
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from reflet.api.codec import encode
from reflet.api.core.pods import Pod
from reflet.pods.folder_pods import FolderPods
from reflet.pods.pod_manager import HASH_ANNOTATION, is_static
from reflet.pods.pod_sources import AllPodsSeen, PodGone, PodNews, PodSeen
from reflet.testing.virtual_time import VirtualClock
from tests.unit.managers.pods import pod

pytestmark = pytest.mark.virtual_time

SIMPLE = """
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  containers: [{name: app, image: "app:1"}]
"""


def write(path: Path, content: str | Pod, *, moment: int) -> None:
    """Write a file as if it were written at *moment*: real clocks may stand still."""
    path.write_bytes(encode(content) if isinstance(content, Pod) else content.encode())
    os.utime(path, (moment, moment))


@asynccontextmanager
async def news_of(folder: Path, **options: Any) -> AsyncIterator[Any]:
    """What happens to single pods; that all were seen is left out."""
    pods = FolderPods(folder, clock=VirtualClock(), **options)

    async def of_pods() -> AsyncGenerator[PodNews, None]:
        async with aclosing(pods.news()) as news:
            async for item in news:
                if not isinstance(item, AllPodsSeen):
                    yield item

    async with aclosing(of_pods()) as news:
        yield news


async def test_every_manifest_gives_its_pods(tmp_path: Path) -> None:
    write(tmp_path / "a.yaml", f"{SIMPLE}---{SIMPLE.replace('web', 'job')}", moment=1)
    write(tmp_path / "b.json", pod("cron", uid="c"), moment=1)
    write(tmp_path / ".hidden.yaml", SIMPLE, moment=1)
    write(tmp_path / "notes.txt", "no manifest", moment=1)
    write(tmp_path / "c.yml", "apiVersion: v1\nkind: Namespace\nmetadata: {name: x}\n", moment=1)
    async with news_of(tmp_path) as news:
        found = [(await anext(news)).pod for _ in range(3)]

    assert [(it.metadata.namespace, it.metadata.name) for it in found] == [
        ("default", "web"),
        ("default", "job"),
        ("shop", "cron"),
    ]
    assert len({it.metadata.uid for it in found}) == 3
    assert found[2].metadata.uid == "c"


async def test_a_changed_file_is_read_again_and_is_the_same_pod(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    write(path, SIMPLE, moment=1)
    async with news_of(tmp_path) as news:
        first: PodNews = await anext(news)
        write(path, SIMPLE.replace("app:1", "app:2"), moment=2)
        second: PodNews = await anext(news)
        path.unlink()
        third: PodNews = await anext(news)

    assert [type(item) for item in (first, second, third)] == [PodSeen, PodSeen, PodGone]
    assert first.pod.metadata.uid == second.pod.metadata.uid
    assert second.pod.spec.containers[0].image == "app:2"
    assert third.pod == second.pod


async def test_a_broken_file_keeps_the_pods_that_it_had(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    write(path, SIMPLE, moment=1)
    async with news_of(tmp_path) as news:
        await anext(news)
        write(path, "kind: [", moment=2)
        write(tmp_path / "b.yaml", SIMPLE.replace("web", "job"), moment=2)
        second: PodNews = await anext(news)

    assert (type(second), second.pod.metadata.name) == (PodSeen, "job")


async def test_a_folder_that_is_not_there_is_empty(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "later"
    pods = FolderPods(folder)
    first = pods._read({})
    again = pods._read(first)
    folder.mkdir()
    write(folder / "a.yaml", SIMPLE, moment=1)

    assert (first, again, len(pods._read(again))) == ({}, {}, 1)
    assert [record.levelname for record in caplog.records] == ["WARNING"]


class Refusing:
    """Refuses a call of the system as often as it is told to."""

    def __init__(self, call: Callable[[Path], Any], refusal: OSError) -> None:
        self._call = call
        self._refusal = refusal
        self.times = 0

    def __call__(self, path: Path) -> Any:
        if self.times:
            self.times -= 1
            raise self._refusal
        return self._call(path)


def refusing(patch: pytest.MonkeyPatch, call: str, number: int) -> Refusing:
    made = Refusing(getattr(Path, call), OSError(number, os.strerror(number)))

    def called(path: Path) -> Any:
        return made(path)

    patch.setattr(Path, call, called)
    return made


async def test_a_file_that_could_not_be_read_is_read_once_it_can(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    write(tmp_path / "a.yaml", SIMPLE, moment=1)
    reading = refusing(monkeypatch, "read_bytes", errno.EACCES)
    reading.times = 3
    async with news_of(tmp_path) as news:
        seen = await anext(news)

    assert seen.pod.metadata.name == "web"
    assert [record.levelname for record in caplog.records] == ["WARNING"]


@pytest.mark.parametrize("call", ["iterdir", "stat", "read_bytes"])
async def test_pods_go_on_while_their_folder_cannot_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    path = tmp_path / "a.yaml"
    write(path, SIMPLE, moment=1)
    refused = refusing(monkeypatch, call, errno.EMFILE)
    async with news_of(tmp_path) as news:
        await anext(news)
        refused.times = 3
        write(path, SIMPLE.replace("app:1", "app:2"), moment=2)
        changed = await anext(news)

    assert isinstance(changed, PodSeen)
    assert changed.pod.spec.containers[0].image == "app:2"


async def test_not_all_pods_were_seen_while_descriptors_are_short(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "a.yaml", SIMPLE, moment=1)
    refusing(monkeypatch, "read_bytes", errno.EMFILE).times = 1
    async with aclosing(FolderPods(tmp_path, clock=VirtualClock()).news()) as news:
        first = await anext(news)

    assert isinstance(first, PodSeen)


async def test_static_pods_are_those_of_their_node(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    write(path, SIMPLE, moment=1)
    async with news_of(tmp_path, static=True, node_name="worker") as news:
        first: PodNews = await anext(news)
        write(path, SIMPLE.replace("app:1", "app:2"), moment=2)
        gone: PodNews = await anext(news)
        second: PodNews = await anext(news)

    assert (first.pod.metadata.name, first.pod.spec.node_name) == ("web-worker", "worker")
    assert is_static(first.pod)
    assert first.pod.metadata.annotations[HASH_ANNOTATION] == first.pod.metadata.uid
    assert (type(gone), gone.pod) == (PodGone, first.pod)
    assert second.pod.metadata.uid != first.pod.metadata.uid


async def test_a_static_pod_that_refers_to_the_server_is_left_out(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write(tmp_path / "a.json", pod("web", "settings"), moment=1)
    write(tmp_path / "b.yaml", SIMPLE, moment=1)
    async with news_of(tmp_path, static=True) as news:
        first: PodNews = await anext(news)

    assert first.pod.metadata.name == "web"
    assert "static pods may not reference configmaps" in caplog.text


async def test_after_the_first_look_all_pods_were_seen(tmp_path: Path) -> None:
    write(tmp_path / "a.yaml", SIMPLE, moment=1)
    async with aclosing(FolderPods(tmp_path, clock=VirtualClock()).news()) as news:
        heard = [type(await anext(news)) for _ in range(2)]

    assert heard == [PodSeen, AllPodsSeen]


async def test_pods_are_completed_by_whoever_knows_what_they_lack(tmp_path: Path) -> None:
    write(tmp_path / "a.yaml", SIMPLE, moment=1)

    def bound(item: Pod) -> Pod:
        return replace(item, spec=replace(item.spec, node_name="worker-1"))

    async with news_of(tmp_path, complete=bound) as news:
        found = (await anext(news)).pod

    assert found.spec.node_name == "worker-1"
