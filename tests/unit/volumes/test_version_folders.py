"""One version of a volume's files on disk."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from reflet.volumes import folders
from reflet.volumes.ownership import Ownership
from reflet.volumes.payload_paths import laid_out
from reflet.volumes.tear_down import remove_tree
from reflet.volumes.version_folders import (
    is_version_name,
    new_version,
    read_version,
    wanted_tree,
    write_version,
)
from tests.unit.volumes.scenes import file, mode_of

NOON = datetime(2026, 11, 15, 12, 0, 5, tzinfo=UTC)


def test_a_version_is_named_after_its_moment_and_chance(tmp_path: Path) -> None:
    numbers = iter([7, 7, 8])
    with folders.opened(tmp_path) as here:
        names = [new_version(here, NOON, chance=lambda most: next(numbers)) for _ in range(2)]

    assert names == ["..2026_11_15_12_00_05.7", "..2026_11_15_12_00_05.8"]
    assert mode_of(tmp_path / names[0]) == 0o700


@pytest.mark.parametrize(
    ("name", "is_one"),
    [
        ("..2026_11_15_19_21_55.123456789", True),
        ("..data", False),
        ("..2026_11_15_19_21_55", False),
        ("..2026_11_15_19_21_55.1/../../etc", False),
        ("2026_11_15_19_21_55.1", False),
    ],
)
def test_a_versions_name_is_recognized(name: str, is_one: bool) -> None:
    assert is_version_name(name) is is_one


def test_what_is_written_is_what_is_read(tmp_path: Path) -> None:
    layout = laid_out({"a/b/c": file("1"), "a/d": file(b"\0\xff", mode=0o400), "é\udc80": file("")})
    with folders.opened(tmp_path) as here:
        name = new_version(here, NOON)
        write_version(here, name, layout, Ownership(None), durable=True)
        found = read_version(here, name)

    wanted = wanted_tree(layout, group=None, user=os.geteuid())
    assert {path: (node.mode, node.user, node.data) for path, node in found.items()} == {
        path: (node.mode, node.user, node.data) for path, node in wanted.items()
    }


def test_modes_do_not_depend_on_the_umask(tmp_path: Path) -> None:
    layout = laid_out({"a/b": file("1", mode=0o666)})
    before = os.umask(0o077)
    try:
        with folders.opened(tmp_path) as here:
            name = new_version(here, NOON)
            write_version(here, name, layout, Ownership(None), durable=False)
    finally:
        os.umask(before)

    modes = [mode_of(tmp_path / name / path) for path in ("", "a", "a/b")]
    assert modes == [0o755, 0o755, 0o666]


def test_a_version_is_closed_to_others_until_its_last_file_is_finished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    modes: list[int] = []
    for step in ("write_file", "set_mode"):
        real = getattr(folders, step)

        def note(
            folder: int, name: str, *rest: Any, _real: Callable[..., None] = real, **options: Any
        ) -> None:
            modes.append(mode_of(tmp_path / version))
            _real(folder, name, *rest, **options)

        monkeypatch.setattr(folders, step, note)
    with folders.opened(tmp_path) as here:
        version = new_version(here, NOON)
        layout = laid_out({"a": file("1"), "d/b": file("2")})
        write_version(here, version, layout, Ownership(None), durable=False)

    assert (set(modes), mode_of(tmp_path / version)) == ({0o700}, 0o755)


def test_the_deepest_path_needs_no_more_than_a_few_open_files(tmp_path: Path) -> None:
    path = "/".join(["d"] * 1500)
    layout = laid_out({path: file("deep")})
    with folders.opened(tmp_path) as here:
        name = new_version(here, NOON)
        write_version(here, name, layout, Ownership(None), durable=False)

        found = read_version(here, name)
        remove_tree(here, name)  # nobody else can: the standard library gives up at such depths

    assert found[path].data == b"deep"


def test_a_link_in_a_version_is_read_as_one(tmp_path: Path) -> None:
    with folders.opened(tmp_path) as here:
        name = new_version(here, NOON)
        (tmp_path / name / "passwd").symlink_to("/etc/passwd")

        assert read_version(here, name)["passwd"].data is None
