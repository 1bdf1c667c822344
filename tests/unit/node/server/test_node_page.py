"""The agent's page of itself: statuses pass through it on their way."""

from __future__ import annotations

from pathlib import Path

import pytest

from reflet.api.core.pods import Pod, PodStatus
from reflet.errors import ConfigurationError
from reflet.node.options import NodeOptions
from reflet.node.server.node_page import ShownStatuses, page_of, shown_statuses
from reflet.node.status.status_manager import LocalStatuses
from reflet.runtime.clock import SystemClock
from reflet.ui.agent_page import AgentPage
from tests.page_scenes import OF_WEB, WHOLE, pod

RUNNING = PodStatus(phase="Running")


def options(root: Path, **more: object) -> NodeOptions:
    return NodeOptions(name="worker-1", root=root, **more)  # type: ignore[arg-type]  # any option


def page(root: Path) -> AgentPage:
    made = page_of(options(root, ui=0), SystemClock())
    assert made is not None
    return made


def shown(of: AgentPage) -> list[str]:
    of._board.refresh(SystemClock().now())
    return [group.phase for each in of.document().workloads.values() for group in each.pods]


@pytest.fixture
def item() -> Pod:
    return pod(WHOLE, metadata=OF_WEB, status={"phase": "Pending"})


def test_without_the_option_there_is_no_page(tmp_path: Path) -> None:
    statuses = LocalStatuses()

    assert page_of(options(tmp_path), SystemClock()) is None
    assert shown_statuses(statuses, None) is statuses


def test_a_status_is_on_the_page_and_goes_on(tmp_path: Path, item: Pod) -> None:
    own, statuses = page(tmp_path), LocalStatuses()

    ShownStatuses(statuses, own).report(item, RUNNING)

    assert shown(own) == ["Running"]
    assert statuses.latest == {item.metadata.uid: RUNNING}


def test_a_pod_that_is_forgotten_leaves_the_page(tmp_path: Path, item: Pod) -> None:
    own, statuses = page(tmp_path), LocalStatuses()
    sink = ShownStatuses(statuses, own)
    sink.report(item, RUNNING)

    sink.forget(item.metadata.uid)

    assert shown(own) == []
    assert statuses.latest == {}


async def test_a_pod_that_has_ended_leaves_the_page(tmp_path: Path, item: Pod) -> None:
    own = page(tmp_path)
    sink = ShownStatuses(LocalStatuses(), own)
    sink.report(item, RUNNING)

    await sink.finish(item)

    assert shown(own) == []


@pytest.mark.parametrize("strategy", ["cache", "get"])
def test_a_strategy_that_does_not_notice_changes_is_refused(tmp_path: Path, strategy: str) -> None:
    with pytest.raises(ConfigurationError, match="--ui: the strategy"):
        options(tmp_path, ui=0, strategy=strategy).allowance()
