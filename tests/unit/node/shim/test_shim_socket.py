"""Where the shim listens, however long the way to the agent's folder is."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from reflet.node.shim.protocol import SOCKET, ShimUnavailable
from reflet.node.shim.shim_socket import socket_path


def test_it_is_in_the_agents_folder(tmp_path: Path) -> None:
    assert socket_path(tmp_path, longest=1000) == tmp_path / SOCKET


def test_a_long_way_is_made_short(tmp_path: Path) -> None:
    folder, short = tmp_path / ("x" * 120), Path("/tmp")
    folder.mkdir()
    found = socket_path(folder, short=short, longest=103)

    assert len(str(found)) <= 103
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(found))
    found.unlink()


def test_two_agents_do_not_meet(tmp_path: Path) -> None:
    places = [socket_path(tmp_path / name, short=tmp_path, longest=1) for name in "ab"]

    assert len(set(places)) == 2


def test_a_short_folder_is_private(tmp_path: Path) -> None:
    found = socket_path(tmp_path / "a", short=tmp_path, longest=1)

    assert found.parent.stat().st_mode & 0o777 == 0o700


def test_a_folder_that_others_may_write_to_is_refused(tmp_path: Path) -> None:
    made = socket_path(tmp_path / "a", short=tmp_path, longest=1).parent
    made.chmod(0o777)

    with pytest.raises(ShimUnavailable, match="is not a private folder"):
        socket_path(tmp_path / "a", short=tmp_path, longest=1)
