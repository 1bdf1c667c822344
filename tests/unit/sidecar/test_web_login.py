"""User and password: from files before variables, read again each time."""

from __future__ import annotations

from pathlib import Path

import pytest

from reflet.sidecar.web_login import web_login
from tests.unit.sidecar.scenes import settings


def test_both_parts_are_needed() -> None:
    assert web_login(settings(REQ_USERNAME="u", REQ_PASSWORD="p")) == (b"u", b"p")
    assert web_login(settings(REQ_USERNAME="u")) is None
    assert web_login(settings(REQ_USERNAME="u", REQ_PASSWORD="")) is None
    assert web_login(settings()) is None


def test_they_are_written_in_their_encoding() -> None:
    plain = settings(REQ_USERNAME="u", REQ_PASSWORD="wörd")
    other = settings(REQ_USERNAME="u", REQ_PASSWORD="wörd", REQ_BASIC_AUTH_ENCODING="utf-8")

    assert web_login(plain) == (b"u", b"w\xf6rd")
    assert web_login(other) == (b"u", "wörd".encode())


def test_a_file_wins_and_is_read_again(tmp_path: Path) -> None:
    file = tmp_path / "password"
    asked = settings(REQ_USERNAME="u", REQ_PASSWORD="p", REQ_PASSWORD_FILE=str(file))
    file.write_text("  first\n")
    assert web_login(asked) == (b"u", b"first")
    file.write_text("second")
    assert web_login(asked) == (b"u", b"second")


def test_a_file_that_is_not_there_leaves_the_variable(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    missing = str(tmp_path / "nope")

    found = web_login(settings(REQ_USERNAME="u", REQ_PASSWORD="p", REQ_USERNAME_FILE=missing))

    assert found == (b"u", b"p")
    assert f"File not found at: {missing}" in caplog.text


@pytest.mark.parametrize("encoding", ["latin1", "klingon"])
def test_what_the_encoding_cannot_write_is_said_without_it(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, encoding: str
) -> None:
    (tmp_path / "password").write_text("☃")
    asked = settings(
        REQ_USERNAME="u",
        REQ_PASSWORD_FILE=str(tmp_path / "password"),
        REQ_BASIC_AUTH_ENCODING=encoding,
    )

    assert web_login(asked) is None
    assert f"{encoding} cannot write user and password" in caplog.text
    assert "☃" not in caplog.text
