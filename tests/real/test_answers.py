"""``diff``, ``unused`` and ``used-by`` against a real API server."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests import answer_scenes
from tests.insight_scenes import Commands, Create
from tests.real.kube_server import KubeServer


@pytest.fixture
def commands(
    kube: KubeServer, namespace: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Commands:
    config = kube.write_kubeconfig(tmp_path / "config", namespace=namespace)
    return Commands(config, namespace, capsys, tmp_path)


@pytest.fixture
def create(kube: KubeServer, namespace: str) -> Create:
    def create(collection: str, document: Mapping[str, Any]) -> Any:
        root, _, plural = collection.rpartition("/")
        with kube.connect() as connection:
            path = f"{root or '/api/v1'}/namespaces/{namespace}/{plural}"
            return connection.create(path, document)

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
