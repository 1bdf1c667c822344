from __future__ import annotations

import os
from pathlib import Path
from typing import cast

import pytest

from reflet.node.process_runtime import Launch, ProcessRuntime, prepare_message_file
from reflet.node.shim.shim_client import ShimClient
from reflet.pleg.runtime_status import RuntimeState
from reflet.testing.virtual_time import VirtualClock
from reflet.volumes.pod_directories import PodDirectories
from tests.unit.node.paper_node import PaperShim, passing
from tests.unit.node.pod_scenes import pod

pytestmark = pytest.mark.virtual_time


class Node:
    """A runtime over a shim on paper; *again* is the next life of the agent."""

    def __init__(self, directories: PodDirectories, shim: PaperShim | None = None) -> None:
        self.directories = directories
        self.shim = shim or PaperShim(VirtualClock())
        self.runtime = ProcessRuntime(
            directories,
            cast("ShimClient", self.shim),
            addresses=lambda: ("10.0.0.1",),
            clock=VirtualClock(),
        )

    def again(self) -> Node:
        return Node(self.directories, self.shim)


@pytest.fixture
def node(tmp_path: Path) -> Node:
    return Node(PodDirectories(tmp_path / "disk", memory_root=tmp_path / "memory"))


def launch(container: str = "main", command: str = "run") -> Launch:
    return Launch(container=container, arguments=(command, "s3cret"), environment={"KEY": "s3cret"})


# Rest


async def test_pods_are_made_anew_only_when_something_has_changed(node: Node) -> None:
    node.runtime.make_sandbox(pod())
    await node.runtime.start("u1", launch())
    first, again = await node.runtime.list_pods(), await node.runtime.list_pods()
    node.runtime.make_sandbox(pod(metadata={"name": "other", "uid": "u2"}))
    with_another = await node.runtime.list_pods()
    node.shim.exits("main", 1)
    ended = await node.runtime.list_pods()
    await node.runtime.remove_pod("u1")
    without = await node.runtime.list_pods()

    assert again is first
    assert [each.uid for each in with_another] == ["u1", "u2"]
    assert [each.state for each in ended[0].containers] == [RuntimeState.EXITED]
    assert [each.uid for each in without] == ["u2"]


# Sandboxes


async def test_a_pod_is_there_as_soon_as_it_has_a_folder(node: Node) -> None:
    node.runtime.make_sandbox(pod())

    (listed,) = await node.runtime.list_pods()
    status = await node.runtime.pod_status(listed)

    assert (listed.uid, listed.name, listed.containers) == ("u1", "web", ())
    assert [each.ready for each in status.sandboxes] == [True]
    assert status.ips == ("10.0.0.1",)


async def test_the_next_life_knows_the_pods_and_how_long_they_may_take_to_end(node: Node) -> None:
    node.runtime.make_sandbox(pod(terminationGracePeriodSeconds=7))

    (left,) = node.again().runtime.load()

    assert (left.uid, left.name, left.namespace, left.grace) == ("u1", "web", "shop", 7)


async def test_a_folder_whose_file_cannot_be_read_is_still_a_pod(node: Node) -> None:
    node.directories.make_pod("u9")
    node.runtime.make_sandbox(pod())
    (node.directories.pod("u1") / "plugins/reflet/pod.json").write_text("{")

    left = node.again().runtime.load()

    assert [(each.uid, each.name) for each in left] == [("u1", ""), ("u9", "")]


async def test_a_sandbox_keeps_the_moment_it_was_made(node: Node) -> None:
    node.runtime.make_sandbox(pod())
    await passing(100.0)
    node.runtime.make_sandbox(pod(terminationGracePeriodSeconds=5))

    (sandbox,) = node.runtime.sandboxes
    assert (sandbox.grace, sandbox.created_at) == (5, VirtualClock().now().timestamp() - 100)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give a folder to a group")
async def test_who_was_let_in_is_let_in_after_the_memory_was_lost(node: Node) -> None:
    node.runtime.make_sandbox(pod(), group=77)
    memory = node.directories.memory_root
    assert memory is not None
    (memory / "pods/u1").rmdir()  # as it is after the machine was started again
    after = node.again().runtime
    after.load()

    after.make_sandbox(pod(), group=77)

    facts = (memory / "pods/u1").stat()
    assert (facts.st_gid, facts.st_mode & 0o777) == (77, 0o750)


async def test_nothing_is_left_of_a_pod_that_is_removed(node: Node) -> None:
    node.runtime.make_sandbox(pod())
    await node.runtime.start("u1", launch())
    node.shim.exits("main", 0)

    kept = await node.runtime.remove_pod("u1")

    assert (kept, node.directories.uids(), node.shim.kept) == ((), (), {})
    assert await node.runtime.find_pod("u1") is None


async def test_what_is_not_ours_is_kept_and_named(node: Node) -> None:
    node.runtime.make_sandbox(pod())
    (node.directories.pod("u1") / "mine").touch()

    (kept,) = await node.runtime.remove_pod("u1")

    assert kept.endswith("u1/mine: not a part of a pod's folder")


# Containers


async def test_a_container_shows_in_the_list_and_in_the_status(node: Node) -> None:
    node.runtime.make_sandbox(pod())
    await node.runtime.start("u1", launch())
    node.shim.exits("main", 3)

    found = await node.runtime.find_pod("u1")
    assert found is not None
    status = await node.runtime.pod_status(found)

    assert [each.state for each in found.containers] == [RuntimeState.EXITED]
    assert [(each.name, each.exit_code) for each in status.containers] == [("main", 3)]


async def test_a_container_of_no_known_pod_is_listed_all_the_same(node: Node) -> None:
    await node.runtime.start("u1", launch())
    lost = Node(PodDirectories(node.directories.root / "elsewhere"), node.shim).runtime

    (listed,) = await lost.list_pods()

    assert (listed.uid, len(listed.containers), listed.sandboxes) == ("u1", 1, ())


async def test_lives_are_counted_and_two_of_them_are_kept(node: Node) -> None:
    for _ in range(4):
        await node.runtime.start("u1", launch())
        node.shim.exits("main", 1)

    assert [each.attempt for each in await node.runtime.records("u1")] == [3, 2]
    assert [each.attempt for each in node.shim.kept.values()] == [2, 3]


async def test_each_container_of_a_pod_has_lives_of_its_own(node: Node) -> None:
    await node.runtime.start("u1", launch("main"))

    other = await node.runtime.start("u1", launch("other"))

    assert other.attempt == 0


async def test_a_record_holds_neither_arguments_nor_variables(node: Node) -> None:
    record = await node.runtime.start("u1", launch())

    assert "s3cret" not in str(record)
    assert "s3cret" not in repr(launch())


async def test_the_newest_life_tells_what_a_container_is_made_from(node: Node) -> None:
    for fingerprint in ("old", "new"):
        start = Launch(container="main", arguments=("x",), environment={}, fingerprint=fingerprint)
        await node.runtime.start("u1", start)

    assert await node.runtime.fingerprints("u1") == {"main": "new"}


def test_the_file_for_the_last_word_is_new_and_private(tmp_path: Path) -> None:
    (tmp_path / "0.message").write_text("of an earlier container")

    path = prepare_message_file(tmp_path, None, None)

    assert (path.read_text(), path.stat().st_mode & 0o777) == ("", 0o600)
