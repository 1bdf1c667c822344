"""Texts come from files, folders and standard input, and errors name the file."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from reflet.errors import ConfigurationError
from reflet.manifests.files import read_texts


def test_files_come_in_the_order_in_which_they_are_named(tmp_path: Path) -> None:
    paths = [tmp_path / "b.yaml", tmp_path / "a.txt"]
    for path in paths:
        path.write_text(path.name)

    read = list(read_texts(map(str, paths)))

    assert read == [(str(path), path.name.encode()) for path in paths]


def test_a_folder_gives_its_manifests_all_the_way_down_in_order(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    for name in (
        "z.json",
        "a.yml",
        "deep/m.yaml",
        "README.md",
        ".reflet.yaml",
        ".reflet-baseline.json",
    ):
        (tmp_path / name).write_text("x")

    read = [Path(name).relative_to(tmp_path) for name, _ in read_texts([str(tmp_path)])]

    assert read == [Path("a.yml"), Path("deep/m.yaml"), Path("z.json")]


def test_a_dash_is_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"text")))

    assert list(read_texts(["-"])) == [("standard input", b"text")]


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError) as caught:
        list(read_texts([str(tmp_path / "no.yaml")]))

    assert str(caught.value) == f"cannot read {tmp_path}/no.yaml: No such file or directory"


def test_a_folder_without_manifests_is_a_mistake(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"has no file that ends in \.json, \.yaml, \.yml"):
        list(read_texts([str(tmp_path)]))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_folder_without_permission_is_named(tmp_path: Path) -> None:
    tmp_path.chmod(0)
    try:
        with pytest.raises(ConfigurationError, match="Permission denied"):
            list(read_texts([str(tmp_path)]))
    finally:
        tmp_path.chmod(0o700)
