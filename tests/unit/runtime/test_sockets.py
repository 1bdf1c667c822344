"""Socket options by whichever name this system has for them."""

from __future__ import annotations

import asyncio
import importlib
import socket
from collections.abc import Iterator

import pytest

from reflet.runtime import sockets


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    """Both ends of a TCP connection."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        ours = socket.create_connection(server.getsockname())
        theirs, _ = server.accept()
    with ours, theirs:
        yield ours, theirs


def test_keepalive_is_taken_by_a_socket(pair: tuple[socket.socket, socket.socket]) -> None:
    ours, _ = pair
    options = sockets.keepalive(idle=20, interval=10, count=3)
    for level, option, value in options:
        ours.setsockopt(level, option, value)

    assert [ours.getsockopt(level, option) for level, option, _ in options] == [1, 20, 10, 3]


def test_macos_has_another_name_for_the_quiet_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(socket, "TCP_KEEPIDLE", raising=False)
    monkeypatch.setattr(socket, "TCP_KEEPALIVE", 0x10, raising=False)

    assert (socket.IPPROTO_TCP, 0x10, 20) in sockets.keepalive(idle=20, interval=10, count=3)


def test_a_peer_that_left_is_noticed_without_reading(
    pair: tuple[socket.socket, socket.socket],
) -> None:
    ours, theirs = pair
    before = sockets.is_established(ours)
    theirs.shutdown(socket.SHUT_WR)
    ours.recv(1)  # the end has arrived

    assert (before, sockets.is_established(ours)) == (True, False)


def test_where_the_system_does_not_say_a_peer_is_there(
    monkeypatch: pytest.MonkeyPatch, pair: tuple[socket.socket, socket.socket]
) -> None:
    monkeypatch.delattr(socket, "TCP_INFO")
    again = importlib.reload(sockets)
    try:
        assert again.is_established(pair[0])
    finally:
        monkeypatch.undo()
        importlib.reload(sockets)


class EndedTwice(asyncio.Transport):
    """What is left of a TLS transport that was closed twice, in Python 3.11.2."""

    def abort(self) -> None:
        raise AttributeError("'NoneType' object has no attribute '_abort'")


def test_a_connection_that_has_ended_is_aborted_in_peace() -> None:
    sockets.abort(EndedTwice())
