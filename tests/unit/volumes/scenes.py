"""Volumes to write, and what is then to be seen of them."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from reflet.resolution.origins import ValueOrigin
from reflet.resolution.volumes.file_contents import FileContent, VolumeContents
from reflet.volumes.version_folders import is_version_name

NOBODY: Final = 65534


def _may_give_files_away() -> bool:
    with tempfile.NamedTemporaryFile() as probe:
        try:
            os.chown(probe.name, NOBODY, NOBODY)
        except PermissionError:
            return False
    return True


MAY_GIVE: Final = _may_give_files_away()


def file(data: bytes | str, *, mode: int = 0o644, user: int | None = None) -> FileContent:
    """A file with these bytes."""
    raw = data.encode() if isinstance(data, str) else data
    return FileContent(data=raw, mode=mode, origin=ValueOrigin(), user=user)


def volume(
    files: Mapping[str, FileContent | str] | None = None,
    *,
    group: int | None = None,
    error: str | None = None,
) -> VolumeContents:
    """The contents of a volume; a text is a file with mode 0644."""
    made = {
        path: file(each) if isinstance(each, str) else each for path, each in (files or {}).items()
    }
    return VolumeContents(volume="v", kind="configMap", files=made, fs_group=group, error=error)


def seen(target: Path) -> dict[str, str]:
    """Every file that can be reached by a visible name, with its text."""
    return dict(_visible(target))


def _visible(target: Path) -> Iterator[tuple[str, str]]:
    for top in sorted(target.iterdir()):
        if top.name.startswith(".."):
            continue
        for path in [top, *sorted(top.rglob("*"))] if top.is_dir() else [top]:
            if path.is_file():
                yield str(path.relative_to(target)), path.read_text()


def versions(target: Path) -> list[str]:
    """The version folders that are there."""
    return sorted(path.name for path in target.iterdir() if is_version_name(path.name))


def version(target: Path) -> str:
    """The version that counts."""
    return str((target / "..data").readlink())


def mode_of(path: Path) -> int:
    """The permission bits of what is there, a link's target for a link."""
    return stat.S_IMODE(path.stat().st_mode)


def top(target: Path) -> set[str]:
    """The names at the top, but for the version folders."""
    return {path.name for path in target.iterdir() if not is_version_name(path.name)}
