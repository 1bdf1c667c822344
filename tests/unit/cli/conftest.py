"""The command line of a person who has configured nothing yet."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.cli.shop_files import OnFiles


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("KUBECONFIG", "KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def on_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> OnFiles:
    return OnFiles(tmp_path, capsys)
