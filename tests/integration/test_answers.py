"""``diff``, ``unused`` and ``used-by`` on the development server."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from reflet.testing.pytest_plugin import RunningServer
from tests import answer_scenes
from tests.insight_scenes import Commands, Create
from tests.integration.plain_client import Client


@pytest.fixture
def commands(server: RunningServer, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Commands:
    return Commands(server.kubeconfig, "default", capsys, tmp_path)


@pytest.fixture
def create(client: Client) -> Create:
    def create(collection: str, document: Mapping[str, Any]) -> Any:
        root, _, plural = collection.rpartition("/")
        path = f"{root or '/api/v1'}/namespaces/default/{plural}"
        answer = client.request("POST", path, document)
        assert answer.code in {201, 409}, answer.message  # the default account may be there
        return answer.body

    return create


def test_files_are_compared_with_what_they_would_change(commands: Commands, create: Create) -> None:
    answer_scenes.check_files_are_compared_with_what_they_would_change(commands, create)


def test_two_workloads_are_compared(commands: Commands, create: Create) -> None:
    answer_scenes.check_two_workloads_are_compared(commands, create)


def test_what_is_not_in_another_namespace_is_a_difference(
    commands: Commands, create: Create
) -> None:
    answer_scenes.check_what_is_not_in_another_namespace_is_a_difference(commands, create)


def test_a_namespace_that_does_not_exist_is_a_mistake(commands: Commands, create: Create) -> None:
    answer_scenes.check_a_namespace_that_does_not_exist_is_a_mistake(commands, create)


def test_what_nothing_uses(commands: Commands, create: Create) -> None:
    answer_scenes.check_what_nothing_uses(commands, create)


def test_users_of_what_does_not_exist(commands: Commands, create: Create) -> None:
    answer_scenes.check_users_of_what_does_not_exist(commands, create)


def test_what_admission_adds(commands: Commands, create: Create) -> None:
    answer_scenes.check_what_admission_adds(commands, create)
