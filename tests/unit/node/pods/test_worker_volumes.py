"""A pod whose volumes cannot be written: when they are tried again."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from reflet.node.pods.pod_volumes import PodVolumes
from reflet.pods.pod_sources import PodSeen
from reflet.volumes.pod_directories import PodDirectories
from tests.unit.node.paper_node import (
    NOBODY,
    PaperNode,
    paper_node,
    passing,
    settings,
    stored_pod,
)
from tests.unit.node.pods.worker_scenes import CONF

pytestmark = pytest.mark.virtual_time


async def test_a_volume_that_can_be_filled_at_last_starts_the_pod_at_once(tmp_path: Path) -> None:
    async with paper_node(tmp_path, retry=600.0) as node:
        node.workers.take(PodSeen(stored_pod(volumes=[CONF])))
        await passing(1000.0)  # by now it is looked at seldom
        before = (list(node.shim.asked), set(node.events.reasons))
        node.objects.put(settings(color="red"))
        await passing(2.0)

    assert before == ([], {"FailedMount"})
    assert node.shim.asked == ["start main 0"]


@asynccontextmanager
async def waiting_for(folder: Path, root: Path) -> AsyncIterator[PaperNode]:
    """A node with a pod whose volume is a folder that is not there."""
    allowed = (str(folder.parent),)
    volumes = PodVolumes(PodDirectories(root), host_paths=allowed)
    allowance = replace(NOBODY, host_paths=allowed)
    host = {"name": "host", "hostPath": {"path": str(folder), "type": "Directory"}}
    async with paper_node(root, volumes=volumes, allowance=allowance) as node:
        node.workers.take(PodSeen(stored_pod(volumes=[host])))
        yield node


async def test_a_folder_of_the_host_that_comes_late_is_found_soon(tmp_path: Path) -> None:
    late = tmp_path / "late"
    async with waiting_for(late, tmp_path / "root") as node:
        await passing(5.0)
        before = (list(node.shim.asked), set(node.events.reasons))
        late.mkdir()
        await passing(4.0)

    assert before == ([], {"FailedMount"})
    assert node.shim.asked == ["start main 0"]


async def test_a_folder_of_the_host_that_never_comes_is_looked_for_at_rest(tmp_path: Path) -> None:
    async with waiting_for(tmp_path / "never", tmp_path / "root") as node:
        await passing(100.0)

    assert 10 <= node.events.reasons.count("FailedMount") < 20
