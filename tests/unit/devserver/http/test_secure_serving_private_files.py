"""Files that only their owner may read."""

from __future__ import annotations

from pathlib import Path

import pytest

from reflet.devserver.http.secure_serving import write_private


def test_a_file_that_was_open_to_all_is_closed(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("old")
    file.chmod(0o644)

    write_private(file, b"new")

    assert (file.read_bytes(), file.stat().st_mode & 0o777) == (b"new", 0o600)


def test_nothing_is_left_where_nothing_can_be_written(tmp_path: Path) -> None:
    folder = tmp_path / "file"
    folder.mkdir()

    with pytest.raises(OSError, match="directory"):
        write_private(folder, b"new")

    assert list(tmp_path.iterdir()) == [folder]
