"""What a worker does when what its pod uses changes."""

from __future__ import annotations

from pathlib import Path

import pytest

from reflet.node.shim.protocol import ShimUnavailable
from reflet.pods.pod_sources import PodSeen
from tests.unit.node.paper_node import paper_node, passing, settings
from tests.unit.node.paper_node import stored_pod as pod
from tests.unit.node.pod_scenes import container
from tests.unit.node.pods.worker_scenes import CONF, MOUNT, conf, reloading, settled

pytestmark = pytest.mark.virtual_time


async def test_an_edit_reaches_the_files_and_restarts_nothing(tmp_path: Path) -> None:
    async with paper_node(tmp_path, settings(color="red")) as node:
        await settled(node, pod(container(volumeMounts=MOUNT), volumes=[CONF]))
        node.objects.put(settings(color="blue"))
        await passing(1.0)

        assert conf(node) == "blue"
    assert node.shim.asked == ["start main 0"]


@pytest.mark.parametrize(
    ("how", "asked"),
    [("signal:HUP", ["signal main 1"]), ("restart", ["end main 30", "start main 1"])],
)
async def test_a_pod_can_ask_for_more_than_fresh_files(
    tmp_path: Path, how: str, asked: list[str]
) -> None:
    async with paper_node(tmp_path, settings(color="red")) as node:
        await settled(node, reloading(how))
        node.objects.put(settings(color="blue"))
        await passing(5.0)

    assert node.shim.asked == ["start main 0", *asked]


async def test_a_signal_that_could_not_be_sent_is_sent_later(tmp_path: Path) -> None:
    async with paper_node(tmp_path, settings(color="red")) as node:
        await settled(node, reloading("signal:HUP"))
        node.shim.failures["signal"] = ShimUnavailable("away")
        node.objects.put(settings(color="blue"))
        await passing(5.0)
        node.shim.failures.clear()
        await passing(60.0)

    assert node.shim.asked == ["start main 0", "signal main 1"]


async def test_an_edit_of_nothing_that_the_pod_uses_signals_nobody(tmp_path: Path) -> None:
    async with paper_node(tmp_path, settings(color="red")) as node:
        await settled(node, reloading("signal:HUP"))
        node.objects.put(settings(color="red"))
        await passing(200.0)

    assert node.shim.asked == ["start main 0"]


async def test_an_annotation_that_cannot_be_read_is_told_once(tmp_path: Path) -> None:
    async with paper_node(tmp_path, settings(color="red")) as node:
        await settled(node, reloading("dance"), 200.0)

    assert node.events.reasons.count("InvalidAnnotation") == 1


async def test_another_command_ends_the_container_and_starts_it_anew(tmp_path: Path) -> None:
    async with paper_node(tmp_path) as node:
        await settled(node, pod())
        node.workers.take(PodSeen(pod(container(command=["other"]))))
        await passing(5.0)

    assert node.shim.asked == ["start main 0", "end main 30", "start main 1"]
    assert node.shim.orders[-1].arguments == ("other",)


async def test_a_token_is_refreshed_before_it_ends(tmp_path: Path) -> None:
    asked: list[float] = []
    async with paper_node(tmp_path) as node:
        node.objects.due = 20.0
        node.objects.on_resolve = lambda _: asked.append(node.clock.monotonic())
        await settled(node, pod(), 30.0)

    assert any(20.0 <= moment < 25.0 for moment in asked)
