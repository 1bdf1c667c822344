from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from reflet.node.pods.workers import STUCK_AFTER
from reflet.pods.pod_manager import MIRROR_ANNOTATION
from reflet.pods.pod_sources import PodGone, PodNews, PodSeen
from tests.unit.node.paper_node import PaperNode, paper_node, passing
from tests.unit.node.paper_node import stored_pod as pod

pytestmark = pytest.mark.virtual_time

OTHER = {"name": "other", "uid": "u2"}


class Script:
    """News as a list says."""

    def __init__(self, *news: PodNews) -> None:
        self._news = news

    async def news(self) -> AsyncGenerator[PodNews, None]:
        for item in self._news:
            yield item


async def test_every_pod_has_one_worker_however_often_it_is_seen(tmp_path: Path) -> None:
    async with paper_node(tmp_path) as node:
        for seen in (pod(), pod(metadata=OTHER), pod()):
            node.workers.take(PodSeen(seen))

        assert [worker.uid for worker in node.workers.workers] == ["u1", "u2"]
        assert node.metrics.level("reflet_node_pods") == 2


async def test_a_worker_that_is_done_is_forgotten(tmp_path: Path) -> None:
    async with paper_node(tmp_path) as node:
        node.workers.take(PodSeen(pod()))
        await passing(2.0)
        node.workers.take(PodGone(pod()))
        await passing(5.0)

        assert (len(node.workers), node.metrics.level("reflet_node_pods")) == (0, 0)


async def test_a_worker_that_fails_between_two_steps_looks_after_its_pod_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async with paper_node(tmp_path) as node:
        node.workers.take(PodSeen(pod()))
        await passing(2.0)
        (worker,) = node.workers.workers
        with monkeypatch.context() as mistaken:
            mistaken.setattr(worker._queue, "next", _mistake)
            worker.look()
            await passing(2.0)
        node.shim.exits("main", 1)
        await passing(30.0)

        assert len(node.workers) == 1
    assert [each for each in node.shim.asked if each.startswith("start")] == [
        "start main 0",
        "start main 1",
    ]
    assert "the worker of shop/web failed" in caplog.messages


async def _mistake() -> None:
    raise TypeError("a mistake")


async def test_the_end_of_a_pod_that_nobody_knows_is_no_news(tmp_path: Path) -> None:
    async with paper_node(tmp_path) as node:
        node.workers.take(PodGone(pod()))

        assert len(node.workers) == 0


async def test_the_mirror_of_a_static_pod_is_not_run_a_second_time(tmp_path: Path) -> None:
    async with paper_node(tmp_path) as node:
        node.workers.take(PodSeen(pod(metadata={"annotations": {MIRROR_ANNOTATION: "x"}})))

        assert len(node.workers) == 0


async def test_a_pod_whose_name_another_one_has_now_is_ended(tmp_path: Path) -> None:
    async with paper_node(tmp_path) as node:
        node.workers.take(PodSeen(pod()))
        await passing(2.0)
        node.workers.take(PodSeen(pod(metadata={"uid": "u2"})))
        await passing(5.0)
        worker = node.workers.find("shop", "web")

        assert [each.uid for each in node.workers.workers] == ["u2"]
        assert worker is not None
        assert worker.uid == "u2"
    assert node.statuses.forgotten == ["u1"]


async def test_a_pod_that_comes_back_while_it_ends_is_run_again(tmp_path: Path) -> None:
    async with paper_node(tmp_path) as node:
        node.workers.take(PodSeen(pod()))
        await passing(2.0)
        node.shim.takes = 10.0
        node.workers.take(PodGone(pod()))
        await passing(2.0)
        node.workers.take(PodSeen(pod()))
        await passing(20.0)

        assert len(node.workers) == 1
    assert node.shim.asked == ["start main 0", "end main 30", "start main 0"]


async def test_a_pod_that_comes_back_and_goes_again_while_it_ends_is_not_run(
    tmp_path: Path,
) -> None:
    async with paper_node(tmp_path) as node:
        node.workers.take(PodSeen(pod()))
        await passing(2.0)
        node.shim.takes = 10.0
        for news in (PodGone(pod()), PodSeen(pod()), PodGone(pod())):
            node.workers.take(news)
            await passing(2.0)
        await passing(20.0)

        assert len(node.workers) == 0
    assert node.shim.asked == ["start main 0", "end main 30"]


async def left_by_an_earlier_life(node: PaperNode) -> None:
    of = pod(terminationGracePeriodSeconds=7)
    node.workers.take(PodSeen(of))
    await passing(2.0)
    await node.workers.stop()


async def test_what_an_earlier_life_left_of_a_pod_that_is_gone_is_ended(tmp_path: Path) -> None:
    async with paper_node(tmp_path) as before:
        await left_by_an_earlier_life(before)
    async with paper_node(tmp_path) as node:
        node.shim.kept = before.shim.kept
        node.workers.end_orphans(node.runtime.load())
        await passing(5.0)

        assert (len(node.workers), node.directories.uids()) == (0, ())
    assert node.shim.asked == ["end main 7"]


async def test_what_an_earlier_life_left_of_a_pod_that_is_there_goes_on(tmp_path: Path) -> None:
    async with paper_node(tmp_path) as before:
        await left_by_an_earlier_life(before)
    async with paper_node(tmp_path) as node:
        node.shim.kept = before.shim.kept
        left = node.runtime.load()
        node.workers.take(PodSeen(pod(terminationGracePeriodSeconds=7)))
        node.workers.end_orphans(left)
        await passing(5.0)

    assert node.shim.asked == []
    assert node.statuses.latest.phase == "Running"


async def test_nothing_is_started_any_more_once_they_are_stopped(tmp_path: Path) -> None:
    async with paper_node(tmp_path) as node:
        node.workers.take(PodSeen(pod()))
        await passing(2.0)
        await node.workers.stop()
        node.shim.exits("main", 1)
        node.workers.take(PodSeen(pod(metadata=OTHER)))
        await passing(100.0)

        assert [worker.uid for worker in node.workers.workers] == ["u1"]
    assert node.shim.asked == ["start main 0"]


async def test_what_was_missed_is_found_by_looking_at_all(tmp_path: Path) -> None:
    async with paper_node(tmp_path) as node:
        node.workers.take(PodSeen(pod()))
        await passing(2.0)
        told = len(node.statuses.reported)
        node.workers.look_at_all()
        await passing(2.0)

    assert len(node.statuses.reported) > told


async def test_a_worker_that_never_ends_its_step_is_complained_about(tmp_path: Path) -> None:
    async with paper_node(tmp_path) as node:
        node.shim.never_ends = True
        node.workers.take(PodSeen(pod(terminationGracePeriodSeconds=10)))
        await passing(2.0)
        node.workers.take(PodGone(pod()))
        await passing(10 + STUCK_AFTER / 2)
        before = node.workers.complaints()
        await passing(STUCK_AFTER)

        assert (before, node.workers.complaints()) == ({}, {"shop/web": "stuck"})
        await node.workers.stop()
        await asyncio.sleep(0)


async def test_a_worker_that_waits_as_long_as_its_pod_says_is_not_stuck(tmp_path: Path) -> None:
    """Else whoever may write a long grace period could have the agent restarted."""
    async with paper_node(tmp_path) as node:
        node.shim.takes = 10 * STUCK_AFTER
        node.workers.take(PodSeen(pod(terminationGracePeriodSeconds=int(5 * STUCK_AFTER))))
        await passing(2.0)
        node.workers.take(PodGone(pod()))
        await passing(4 * STUCK_AFTER)

        assert node.workers.complaints() == {}
        await node.workers.stop()
        await asyncio.sleep(0)
