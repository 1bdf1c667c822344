"""``reflet why`` about workloads and namespaces, on the development server."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from reflet.testing.pytest_plugin import RunningServer
from tests import why_scenes
from tests.insight_scenes import Commands
from tests.integration.plain_client import Client
from tests.why_scenes import Stage


@pytest.fixture
def commands(server: RunningServer, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Commands:
    return Commands(server.kubeconfig, "default", capsys, tmp_path)


@pytest.fixture
def stage(client: Client) -> Stage:
    def path(collection: str) -> str:
        root, _, plural = collection.rpartition("/")
        return f"{root or '/api/v1'}/namespaces/default/{plural}"

    def create(collection: str, document: Mapping[str, Any]) -> Any:
        answer = client.request("POST", path(collection), document)
        assert answer.code == 201, answer.message
        return answer.body

    def set_status(collection: str, item: Mapping[str, Any], status: Mapping[str, Any]) -> None:
        where = f"{path(collection)}/{item['metadata']['name']}/status"
        current = client.request("GET", f"{path(collection)}/{item['metadata']['name']}").body
        answer = client.request("PUT", where, {**current, "status": status})
        assert answer.code == 200, answer.message

    node = client.request("POST", "/api/v1/nodes", {"metadata": {"name": "node-1"}}).body
    answer = client.request(
        "PUT", "/api/v1/nodes/node-1/status", {**node, "status": why_scenes.READY_NODE}
    )
    assert answer.code == 200, answer.message
    return Stage(create, set_status, "node-1")


@pytest.mark.parametrize(
    "check",
    [each for name, each in vars(why_scenes).items() if name.startswith("check_")],
    ids=lambda check: check.__name__.removeprefix("check_"),
)
def test_scene(check: Callable[[Commands, Stage], None], commands: Commands, stage: Stage) -> None:
    check(commands, stage)
