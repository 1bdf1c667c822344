"""Environment files: which line sets a variable, and what is wrong before it."""

from __future__ import annotations

import pytest

from reflet.resolution.environment.env_files import MountedVolume, find_variable
from reflet.resolution.problems import Refused


@pytest.mark.parametrize(
    ("content", "value"),
    [
        (b"A='1'\nA='2'\n", "1"),
        (b"A='1'\nbroken", "1"),
        (b"A= '1'\nA='2'", ""),
        (b"B='A='\nA='1'\r\n", "1"),
        (b"A='one\r\ntwo'", "one\ntwo"),
        (b"A=''", ""),
        (b"", ""),
        (b"B= whatever\nA='1' # why", "1"),
    ],
)
def test_the_first_line_with_the_name_decides(content: bytes, value: str) -> None:
    assert find_variable(content, "A") == value


def test_bytes_that_are_not_text_come_through_unharmed() -> None:
    value = find_variable(b"A='\xff\xc3\xa9'", "A")

    assert isinstance(value, str)
    assert value.encode(errors="surrogateescape") == b"\xff\xc3\xa9"


def test_a_quote_that_never_closes_is_told_where_it_opens() -> None:
    assert find_variable(b"\nB='x\ny\n", "A") == Refused(
        text="invalid environment variable format starting at line 2: unclosed single quote"
    )


@pytest.mark.parametrize(("length", "accepted"), [(65_535, True), (65_536, False)])
def test_a_line_may_be_as_long_as_the_kubelets_buffer(length: int, accepted: bool) -> None:
    line = b"B='" + b"x" * (length - 4) + b"'"

    value = find_variable(line + b"\nA='1'", "A", path="/v/f")

    assert value == (
        "1"
        if accepted
        else Refused(
            text='error reading environment variable file "/v/f": bufio.Scanner: token too long'
        )
    )


def test_the_files_of_a_volume_are_not_shown() -> None:
    mounted = MountedVolume(directory="/v", files={"f": b"A='hunter2'"})

    assert "hunter2" not in repr(mounted)
