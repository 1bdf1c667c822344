from __future__ import annotations

import socket
from pathlib import Path

import pytest

from reflet.cri.endpoints import find_endpoint, socket_path
from reflet.errors import ConfigurationError, TransportError


@pytest.mark.parametrize("endpoint", ["unix:///run/crio/crio.sock", "/run/crio/crio.sock"])
def test_an_endpoint_names_a_socket(endpoint: str) -> None:
    assert socket_path(endpoint) == "/run/crio/crio.sock"


@pytest.mark.parametrize("endpoint", ["", "unix://", "tcp://127.0.0.1:1", "crio.sock"])
def test_anything_else_is_refused_in_one_line(endpoint: str) -> None:
    with pytest.raises(ConfigurationError, match=r"not a unix socket; write it as unix:///run/"):
        socket_path(endpoint)


def test_the_first_socket_that_is_there_is_taken(tmp_path: Path) -> None:
    (tmp_path / "file.sock").touch()
    path = tmp_path / "there.sock"
    candidates = [f"unix://{tmp_path}/{name}.sock" for name in ("missing", "file", "there")]
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(path))

        assert find_endpoint(candidates) == f"unix://{path}"


def test_where_there_is_none_what_was_tried_is_named(tmp_path: Path) -> None:
    with pytest.raises(TransportError) as raised:
        find_endpoint([f"unix://{tmp_path}/a.sock", f"unix://{tmp_path}/b.sock"])

    assert str(raised.value) == (
        f"no container runtime was found ({tmp_path}/a.sock, {tmp_path}/b.sock): "
        "name its socket with endpoint"
    )
