from __future__ import annotations

import asyncio
import fcntl
import threading
from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from reflet.api.core.config import ConfigMap
from reflet.api.core.pods import Pod
from reflet.api.meta import ObjectMeta
from reflet.errors import TransportError
from reflet.node.pods.pod_volumes import PodVolumes, Written
from reflet.node.pods.volume_manager import VolumeManager
from reflet.podconfig.resolved_pod import ResolvedPod
from reflet.volumes.folders import opened
from reflet.volumes.pod_directories import PodDirectories
from tests.unit.node.paper_node import PaperNode, settings
from tests.unit.node.paper_node import stored_pod as pod
from tests.unit.node.pod_scenes import container


def volume(name: str) -> dict[str, Any]:
    return {"name": name, "configMap": {"name": name, "defaultMode": 0o644}}


def config(name: str, **data: str) -> ConfigMap:
    return ConfigMap(metadata=ObjectMeta(name=name, namespace="shop"), data=data)


def mounting(*names: str, **fields: Any) -> Pod:
    mounts = [{"name": name, "mountPath": f"/etc/{name}"} for name in names]
    return pod(container(volumeMounts=mounts), volumes=[volume(name) for name in names], **fields)


WEB = mounting("settings")
COLOR = {"name": "COLOR", "valueFrom": {"configMapKeyRef": {"name": "settings", "key": "color"}}}
RESTARTING_FOR_VARIABLES = pod(
    container(env=[COLOR]), metadata={"annotations": {"reflet.dev/on-change": "restart"}}
)
RESTARTING = mounting("settings", metadata={"annotations": {"reflet.dev/on-change": "restart"}})


async def files_of(node: PaperNode, of: Pod = WEB) -> VolumeManager:
    """The files of a pod that is registered and has its folder."""
    await node.objects.register(of, lambda: None)
    node.runtime.make_sandbox(of)
    return node.factory.volume_manager()


def text(node: PaperNode, name: str = "settings", key: str = "color") -> str:
    return (node.directories.volume("u1", "configMap", name) / key).read_text()


class WatchedVolumes(PodVolumes):
    """Volumes of which it is noted what was written again, and which threads wrote."""

    def __init__(self, root: Path) -> None:
        super().__init__(PodDirectories(root))
        self.rewritten: list[Collection[str]] = []
        self.threads: list[threading.Thread] = []

    def write(self, resolved: ResolvedPod) -> Written:
        self.threads.append(threading.current_thread())
        return super().write(resolved)

    def rewrite(self, resolved: ResolvedPod, names: Collection[str]) -> Written:
        self.threads.append(threading.current_thread())
        self.rewritten.append(names)
        return super().rewrite(resolved, names)


class SlowVolumes(PodVolumes):
    """Volumes on a disk that waits."""

    def __init__(self, root: Path) -> None:
        super().__init__(PodDirectories(root))
        self.has_begun = threading.Event()
        self.may_end = threading.Event()

    def write(self, resolved: ResolvedPod) -> Written:
        self.has_begun.set()
        self.may_end.wait()
        return super().write(resolved)


class FullVolumes(PodVolumes):
    """Volumes that cannot be written for want of memory, the first times."""

    def __init__(self, root: Path, *, times: int) -> None:
        super().__init__(PodDirectories(root))
        self._times = times

    def rewrite(self, resolved: ResolvedPod, names: Collection[str]) -> Written:
        if self._times:
            self._times -= 1
            raise MemoryError
        return super().rewrite(resolved, names)


async def test_what_was_resolved_is_written_and_remembered(tmp_path: Path) -> None:
    node = PaperNode(tmp_path, settings(color="red"))
    files = await files_of(node)
    before = (files.resolved, files.is_mounted)

    delivered = await files.write(WEB)

    assert before == (None, False)
    assert (text(node), delivered.written) == ("red", Written(frozenset({"settings"})))
    assert files.is_mounted
    assert files.resolved is not None
    assert files.resolved.volumes["settings"].files["color"].data == b"red"


async def test_writing_again_what_was_not_written_yet_writes_everything(tmp_path: Path) -> None:
    node = PaperNode(tmp_path, settings(color="red"))
    files = await files_of(node)

    delivered = await files.rewrite(WEB)

    assert text(node) == "red"
    assert delivered.written.changed == {"settings"}


async def test_only_volumes_with_other_contents_are_written_again(tmp_path: Path) -> None:
    volumes, both = WatchedVolumes(tmp_path), mounting("settings", "rest")
    objects = (settings(color="red"), config("rest", color="red"))
    node = PaperNode(tmp_path, *objects, volumes=volumes)
    files = await files_of(node, both)
    await files.write(both)
    node.objects.put(settings(color="blue"), config("rest", color="red"))

    delivered = await files.rewrite(both)

    assert volumes.rewritten == [["settings"]]
    assert delivered.written.changed == {"settings"}
    assert (text(node), text(node, "rest")) == ("blue", "red")


async def test_each_time_is_compared_with_the_last(tmp_path: Path) -> None:
    volumes = WatchedVolumes(tmp_path)
    node = PaperNode(tmp_path, settings(color="red"), volumes=volumes)
    files = await files_of(node)
    await files.write(WEB)
    for color in ("blue", "blue", "red"):
        node.objects.put(settings(color=color))
        await files.rewrite(WEB)

    assert volumes.rewritten == [["settings"], [], ["settings"]]


async def test_files_that_changed_are_counted(tmp_path: Path) -> None:
    node = PaperNode(tmp_path, settings(color="red"))
    files = await files_of(node)
    await files.write(WEB)
    await files.rewrite(WEB)
    node.objects.put(settings(color="blue"))
    await files.rewrite(WEB)

    assert node.metrics.counted("reflet_node_refreshes_total") == 2


async def test_a_pod_is_mounted_when_the_last_of_its_volumes_is(tmp_path: Path) -> None:
    both = mounting("settings", "rest")
    node = PaperNode(tmp_path, settings(color="red"))
    files = await files_of(node, both)

    failed = await files.write(both)
    was_mounted = files.is_mounted
    node.objects.put(settings(color="red"), config("rest", color="red"))
    await files.rewrite(both)

    assert failed.written.changed == {"settings"}
    assert set(failed.written.errors) == {"rest"}
    assert (was_mounted, files.is_mounted) == (False, True)


async def test_what_cannot_be_resolved_changes_nothing(tmp_path: Path) -> None:
    node = PaperNode(tmp_path, settings(color="red"))
    files = await files_of(node)
    await files.write(WEB)
    before = files.resolved

    def away(_: Pod) -> None:
        raise TransportError("away")

    node.objects.on_resolve = away
    with pytest.raises(TransportError):
        await files.rewrite(WEB)

    assert (files.resolved is before, files.is_mounted, text(node)) == (True, True, "red")


async def test_files_are_written_in_threads_of_their_own(tmp_path: Path) -> None:
    """A disk that hangs must stop neither the loop nor whoever else needs a thread."""
    volumes = WatchedVolumes(tmp_path)
    with ThreadPoolExecutor(thread_name_prefix="volumes") as disk:
        node = PaperNode(tmp_path, settings(color="red"), volumes=volumes, disk=disk)
        files = await files_of(node)

        await files.write(WEB)
        node.objects.put(settings(color="blue"))
        await files.rewrite(WEB)

    assert [thread.name.split("_")[0] for thread in volumes.threads] == ["volumes", "volumes"]


async def test_a_container_that_locks_its_volume_stops_nobody(tmp_path: Path) -> None:
    node = PaperNode(tmp_path, settings(color="red"))
    files = await files_of(node)
    await files.write(WEB)
    node.objects.put(settings(color="blue"))
    with opened(node.directories.volume("u1", "configMap", "settings")) as held:
        fcntl.flock(held, fcntl.LOCK_EX)

        delivered = await files.rewrite(WEB)

    assert (text(node), delivered.written.errors) == ("blue", {})


async def test_told_to_stop_it_ends_when_the_last_file_is_written(tmp_path: Path) -> None:
    """Whoever comes next may remove the files, and nothing must write them again."""
    volumes = SlowVolumes(tmp_path)
    with ThreadPoolExecutor() as disk:
        node = PaperNode(tmp_path, settings(color="red"), volumes=volumes, disk=disk)
        files = await files_of(node)
        writing = asyncio.create_task(files.write(WEB))
        await asyncio.to_thread(volumes.has_begun.wait)

        writing.cancel()
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        was_waiting = not writing.done()
        volumes.may_end.set()
        with pytest.raises(asyncio.CancelledError):
            await writing

    assert was_waiting
    assert text(node) == "red"


async def test_a_change_says_which_containers_start_anew(tmp_path: Path) -> None:
    node = PaperNode(tmp_path, settings(color="red"))
    files = await files_of(node, RESTARTING)
    await files.write(RESTARTING)
    node.objects.put(settings(color="blue"))

    assert (await files.rewrite(RESTARTING)).to_restart == {"main"}
    assert (await files.rewrite(RESTARTING)).to_restart == frozenset()


async def test_a_change_that_could_not_be_written_at_first_is_one_the_next_time(
    tmp_path: Path,
) -> None:
    short = FullVolumes(tmp_path, times=1)
    node = PaperNode(tmp_path, settings(color="red"), volumes=short)
    files = await files_of(node, RESTARTING_FOR_VARIABLES)
    await files.write(RESTARTING_FOR_VARIABLES)
    node.objects.put(settings(color="blue"))
    with pytest.raises(MemoryError):
        await files.rewrite(RESTARTING_FOR_VARIABLES)

    assert (await files.rewrite(RESTARTING_FOR_VARIABLES)).to_restart == {"main"}


async def test_nothing_starts_anew_where_nothing_is_run(tmp_path: Path) -> None:
    node = PaperNode(tmp_path, settings(color="red"), runs_commands=False)
    files = await files_of(node, RESTARTING)
    await files.write(RESTARTING)
    node.objects.put(settings(color="blue"))

    assert (await files.rewrite(RESTARTING)).to_restart == frozenset()
    assert text(node) == "blue"
