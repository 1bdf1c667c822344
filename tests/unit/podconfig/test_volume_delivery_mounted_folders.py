"""Environment files that containers wrote, read without leaving the volume."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from reflet.podconfig.volume_delivery import LARGEST_FILE, FolderFiles, mounted_folder
from tests.unit.resolution.scenes import environment_of, pod_with


def test_files_are_read_when_they_are_asked_for(tmp_path: Path) -> None:
    files = FolderFiles(tmp_path)
    (tmp_path / "d").mkdir()
    (tmp_path / "d/env").write_bytes(b"A='1'")
    (tmp_path / "link").symlink_to("d/env")

    assert (files["d/env"], files["link"]) == (b"A='1'", b"A='1'")
    assert (sorted(files), len(files)) == (["d/env", "link"], 2)


@pytest.mark.parametrize(
    "path", ["missing", "outside", "../secret", "/etc/passwd", "pipe", "folder", "circle", "large"]
)
def test_what_leads_elsewhere_or_is_no_file_is_not_there(tmp_path: Path, path: str) -> None:
    folder = tmp_path / "v"
    (folder / "folder").mkdir(parents=True)
    (tmp_path / "secret").write_text("A='1'")
    (folder / "outside").symlink_to(tmp_path / "secret")
    (folder / "circle").symlink_to("circle")
    os.mkfifo(folder / "pipe")
    (folder / "large").write_bytes(b"#" * (LARGEST_FILE + 1))

    assert FolderFiles(folder).get(path) is None


def test_a_folder_that_becomes_a_link_meanwhile_is_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, outside = tmp_path / "v", tmp_path / "outside"
    for each in (folder / "d", outside):
        each.mkdir(parents=True)
        (each / "env").write_text("A='1'")
    resolve = Path.resolve

    def resolve_and_exchange(path: Path, *, strict: bool = False) -> Path:
        real = resolve(path, strict=strict)
        if path.name == "env":
            (folder / "d").rename(folder / "was")
            (folder / "d").symlink_to(outside)
        return real

    monkeypatch.setattr(Path, "resolve", resolve_and_exchange)

    assert FolderFiles(folder).get("d/env") is None


def test_a_variable_is_taken_from_a_mounted_folder(tmp_path: Path) -> None:
    (tmp_path / "env").write_text("KEY='from a file'\n")
    selector = {"volumeName": "work", "path": "env", "key": "KEY"}
    pod = pod_with(
        {"env": [{"name": "A", "valueFrom": {"fileKeyRef": selector}}]},
        volumes=[{"name": "work", "emptyDir": {}}],
    )

    environment = environment_of(pod, volumes={"work": mounted_folder(tmp_path)})

    assert environment.values == {"A": "from a file"}
