"""Without a terminal there is nothing to hand over; with one, see the integration tests."""

from __future__ import annotations

import os
import pty
import sys

import pytest

from reflet.supervisor.terminal import Terminal


def test_a_pipe_is_no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    read, write = os.pipe()
    with os.fdopen(read) as stream, os.fdopen(write, "w"):
        monkeypatch.setattr(sys, "stdin", stream)

        assert Terminal.found() is None


def test_no_standard_input_is_no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)

    assert Terminal.found() is None


def test_a_terminal_of_another_session_is_not_ours_to_give(monkeypatch: pytest.MonkeyPatch) -> None:
    leader, follower = pty.openpty()
    with os.fdopen(follower) as stream, os.fdopen(leader):
        monkeypatch.setattr(sys, "stdin", stream)

        assert Terminal.found() is None
