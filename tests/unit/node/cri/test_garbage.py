from __future__ import annotations

from pathlib import Path
from typing import cast

import pytest

from reflet.cri.cri_client import CriClient
from reflet.cri.messages.containers import Container, ContainerState
from reflet.cri.messages.images import Image
from reflet.cri.messages.sandboxes import PodSandbox, PodSandboxMetadata, PodSandboxState
from reflet.node.cri.agents_pods import OwnedPods
from reflet.node.cri.garbage import (
    ContainerGarbage,
    ImageGarbage,
    dead_containers,
    dead_sandboxes,
    too_much,
    unused_images,
)
from reflet.node.cri.runtime_labels import CONTAINER_NAME, NODE, POD_UID
from reflet.testing.virtual_time import VirtualClock
from tests.unit.node.cri.paper_cri import PaperCri
from tests.unit.node.paper_node import passing

GIBI = 2**30


def life(at: int, *, runs: bool = False, name: str = "main", sandbox: str = "s1") -> Container:
    return Container(
        id=f"{name}{at}",
        pod_sandbox_id=sandbox,
        state=ContainerState.RUNNING if runs else ContainerState.EXITED,
        created_at=at,
        labels={POD_UID: "u1", CONTAINER_NAME: name, NODE: "worker-1"},
    )


def sandbox(at: int, *, ready: bool = False) -> PodSandbox:
    return PodSandbox(
        id=f"s{at}",
        metadata=PodSandboxMetadata(uid="u1"),
        state=PodSandboxState.READY if ready else PodSandboxState.NOTREADY,
        created_at=at,
        labels={POD_UID: "u1", NODE: "worker-1"},
    )


def test_of_each_container_the_last_life_that_ended_is_kept() -> None:
    lives = [life(1), life(2), life(3), life(4, runs=True), life(1, name="side")]

    assert [each.id for each in dead_containers(lives)] == ["main2", "main1"]


def test_of_each_pod_the_newest_sandbox_is_kept_and_those_that_hold_something() -> None:
    sandboxes = [sandbox(1), sandbox(2), sandbox(3), sandbox(4)]

    gone = dead_sandboxes(sandboxes, [life(9, sandbox="s2")])

    assert [each.id for each in gone] == ["s3", "s1"]
    assert dead_sandboxes([sandbox(1, ready=True), sandbox(2)], []) == []


async def test_what_is_removed_takes_its_logs_along(tmp_path: Path) -> None:
    cri = PaperCri()
    cri.containers = {each.id: each for each in (life(1), life(2))}
    cri.sandboxes = {each.id: each for each in (sandbox(0), sandbox(1, ready=True))}
    old, new = tmp_path / "0.log", tmp_path / "1.log"
    for path in (old, new, tmp_path / "0.log.1"):
        path.touch()
    cri.log_paths = {"main1": str(old), "main2": str(new)}

    await ContainerGarbage(OwnedPods(cri.runtime, "worker-1"), clock=VirtualClock()).collect()

    assert [*cri.containers] == ["main2"]
    assert [*cri.sandboxes] == ["s1"]
    assert [*tmp_path.iterdir()] == [new]


@pytest.mark.parametrize(
    ("disk", "wanted"),
    [((100, 16), 0), ((100, 15), 5), ((100, 0), 20), ((0, 0), 0)],
)
def test_room_is_made_once_a_disk_is_nearly_full(disk: tuple[int, int], wanted: int) -> None:
    assert too_much([disk]) == pytest.approx(wanted, abs=1)


def test_images_go_that_were_not_used_for_longest_and_none_of_others() -> None:
    images = [Image(id=name, pinned=name == "pinned") for name in ("a", "b", "new", "pinned")]
    images += [Image(id="used"), Image(id="foreign")]
    last_used = {"a": 200.0, "b": 100.0, "new": 900.0, "pinned": 1.0, "used": 1.0}

    gone = unused_images(images, {"used"}, last_used, now=1000.0)

    assert [each.id for each in gone] == ["b", "a"]


@pytest.mark.virtual_time
async def test_images_are_removed_until_there_is_room_and_are_remembered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cri, clock = PaperCri(), VirtualClock()
    cri.images = {name: Image(id=name, size=3 * GIBI) for name in ("old", "older", "foreign")}

    class Client:
        runtime, images = cri.runtime, cri.image_service

    def garbage() -> ImageGarbage:
        return ImageGarbage(cast("CriClient", Client()), tmp_path / "images.json", clock=clock)

    first = garbage()
    first.pulled("older")
    await passing(10)
    first.pulled("old")
    await passing(500)
    monkeypatch.setattr("reflet.node.cri.garbage.too_much", lambda _: GIBI)
    await garbage().collect()  # another agent, which has read the file

    assert [*cri.images] == ["old", "foreign"]


async def test_a_disk_with_room_keeps_its_images(tmp_path: Path) -> None:
    cri = PaperCri()
    cri.images, cri.disk = {"a": Image(id="a")}, str(tmp_path)

    class Client:
        runtime, images = cri.runtime, cri.image_service

    collector = ImageGarbage(
        cast("CriClient", Client()), tmp_path / "images.json", clock=VirtualClock()
    )
    collector.pulled("a")
    await collector.collect()

    assert [*cri.images] == ["a"]
