import errno
import os
from pathlib import Path

import pytest

from reflet.errors import ConfigurationError
from reflet.transport.setting_files import file_identity, read_setting_file, why_unreadable


def test_a_file_is_read_whole(tmp_path: Path) -> None:
    (tmp_path / "ca.crt").write_bytes(b"\x00all\n")

    assert read_setting_file(tmp_path / "ca.crt", "the file") == b"\x00all\n"


def test_a_missing_file_is_an_error_that_begins_with_the_setting(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"^--certificate-authority nope: no such file$"):
        read_setting_file(tmp_path / "nope", "--certificate-authority nope")


def test_a_file_that_is_swapped_for_one_of_the_same_size_and_moment_is_another(
    tmp_path: Path,
) -> None:
    for name in ("one", "two"):
        (tmp_path / name).write_bytes(name.encode())
        os.utime(tmp_path / name, (1, 1))
    link = tmp_path / "link"
    link.symlink_to("one")
    before = (file_identity(link), file_identity(link))
    link.unlink()
    link.symlink_to("two")

    assert before[0] == before[1] != file_identity(link)


def test_a_pipe_is_the_same_whatever_goes_through_it() -> None:
    reading, writing = os.pipe()
    try:
        path = Path(f"/dev/fd/{reading}")
        before = file_identity(path)
        os.write(writing, b"text")
        os.utime(path)

        assert file_identity(path) == before
    finally:
        os.close(reading)
        os.close(writing)


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (errno.EACCES, "permission denied: this user may not read it"),
        (errno.EISDIR, "is a directory, not a file"),
        (errno.ENOTDIR, "no such file: a part of its path is not a directory"),
        (errno.EIO, "input/output error"),
    ],
)
def test_each_failure_has_its_words(code: int, words: str) -> None:
    error = OSError(code, "Input/output error" if code == errno.EIO else "whatever")

    assert why_unreadable(error) == words
