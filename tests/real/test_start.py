"""A server that cannot start says what is missing."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.real.binaries import BinariesMissing, find_binaries
from tests.real.kube_server import KubeServer, KubeServerFailed


def test_missing_binaries_can_be_built(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("KUBEBUILDER_ASSETS", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))

    with pytest.raises(BinariesMissing, match="`make kube` builds it"):
        find_binaries()


def test_kubebuilder_assets_come_first(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("etcd", "kube-apiserver"):
        (tmp_path / name).touch(mode=0o755)
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(tmp_path))

    assert find_binaries().kube_apiserver == tmp_path / "kube-apiserver"


def test_kubebuilder_assets_without_a_binary_are_a_mistake(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "kube-apiserver").touch(mode=0o755)
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(tmp_path))

    with pytest.raises(BinariesMissing, match=r"KUBEBUILDER_ASSETS is set, and .*/etcd is not"):
        find_binaries()


def test_a_failed_start_shows_the_log() -> None:
    server = KubeServer(api_server_flags=["--no-such-flag"])

    with pytest.raises(KubeServerFailed, match="unknown flag: --no-such-flag"):
        server.start()
