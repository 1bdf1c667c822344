"""Paths of files inside a volume: which can be written, and which folders they need."""

from __future__ import annotations

import pytest

from reflet.volumes.payload_paths import laid_out, problem_with, valid_path
from reflet.volumes.volume_errors import InvalidPath


def test_files_lie_in_folders_and_below_names() -> None:
    layout = laid_out({"b/c/d": 1, "a": 2, "b//e/": 3})

    assert layout.files == {"b/c/d": 1, "a": 2, "b/e": 3}
    assert layout.folders == ("b", "b/c")
    assert layout.names == ("b", "a")


def test_of_two_paths_that_are_one_the_later_counts() -> None:
    assert laid_out({"a/b": 1, "x": 2, "a//b": 3}).files == {"x": 2, "a/b": 3}


def test_a_path_cannot_be_a_file_and_a_folder() -> None:
    with pytest.raises(InvalidPath, match=r"^invalid path: a/b is a file and a folder"):
        laid_out({"a/b": 1, "a/b/c": 2})


@pytest.mark.parametrize(
    ("path", "problem"),
    [
        ("/etc/passwd", "invalid path: must be relative path: /etc/passwd"),
        ("./..data", "invalid path: must not start with '..': ./..data"),
        ("./", "invalid path: names the volume itself: ./"),
        ("a\0b", "invalid path: must not contain a zero byte: 'a\\x00b'"),
        ("x/../../y", "invalid path: must not contain '..': x/../../y"),
    ],
)
def test_what_leads_elsewhere_is_refused(path: str, problem: str) -> None:
    assert problem_with(path) == problem


def test_names_are_the_bytes_of_the_object() -> None:
    assert valid_path("caf\u00e9/\udc80") == "café/\udc80"
    assert valid_path("\ud83d") == "\ufffd"
