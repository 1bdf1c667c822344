"""What a life of the sidecar makes of files that are no longer there."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.sidecar.scenes import A, B, Disk


@pytest.mark.parametrize("layout", ["files", "links"])
def test_a_file_that_is_gone_is_not_an_empty_one_until_its_object_comes(
    tmp_path: Path, layout: str
) -> None:
    disk = Disk(tmp_path, LAYOUT=layout)
    disk.replace(A, f="1")
    disk.replace(B, g="2")
    (tmp_path / "folder/g").unlink()

    disk.born()
    disk.replace(A, f="3")

    assert disk.files == {"folder/f": "3"}
    disk.replace(B, g="2")
    assert disk.files == {"folder/f": "3", "folder/g": "2"}
