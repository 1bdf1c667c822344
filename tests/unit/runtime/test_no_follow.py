from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from reflet.runtime.no_follow import open_beneath


@pytest.fixture
def here(tmp_path: Path) -> Iterator[int]:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "file").write_text("hello")
    (tmp_path / "folder-link").symlink_to("a")
    (tmp_path / "a" / "link").symlink_to("b/file")
    os.mkfifo(tmp_path / "a" / "pipe")
    descriptor = os.open(tmp_path, os.O_RDONLY | os.O_DIRECTORY)
    yield descriptor
    os.close(descriptor)


def opened(here: int, path: str) -> os.stat_result:
    descriptor = open_beneath(here, path)
    try:
        return os.fstat(descriptor)
    finally:
        os.close(descriptor)


@pytest.mark.parametrize("path", ["", "a", "a/b", "a/b/file", "a/pipe"])
def test_what_is_beneath_is_found(here: int, tmp_path: Path, path: str) -> None:
    assert os.path.samestat(opened(here, path), (tmp_path / path).stat())


@pytest.mark.parametrize("path", ["folder-link", "folder-link/b", "a/link", "..", "a/..", "a/../a"])
def test_a_link_and_the_way_up_are_errors_and_no_descriptor_is_lost(here: int, path: str) -> None:
    before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208 - names only

    with pytest.raises(OSError) as caught:  # noqa: PT011 - the number is what counts
        open_beneath(here, path)

    assert caught.value.errno == errno.ELOOP
    assert len(os.listdir("/proc/self/fd")) == before  # noqa: PTH208 - as above


def test_what_is_missing_is_told(here: int) -> None:
    with pytest.raises(FileNotFoundError):
        open_beneath(here, "a/c/d")
