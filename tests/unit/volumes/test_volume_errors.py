"""What cannot be written, and why."""

from __future__ import annotations

from pathlib import Path

import pytest

from reflet.volumes.volume_errors import VolumeError, in_folder


def test_a_refusal_of_the_system_names_the_file_and_the_reason() -> None:
    with (
        pytest.raises(VolumeError, match=r"^/v/a: no space left on device$"),
        in_folder(Path("/v")),
    ):
        raise OSError(28, "No space left on device", "a")


def test_a_refusal_without_a_file_names_the_folder() -> None:
    with pytest.raises(VolumeError, match=r"^/v: disk on fire$"), in_folder(Path("/v")):
        raise OSError("disk on fire")
