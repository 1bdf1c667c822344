"""What is mounted where, as the kernel tells it.

Owns: reading the table of mounts.  Must not know what is done about them.

The folders that other mounts need inside a volume.

Owns: making them, before the volume is written.  Which ones are needed is
``resolution.nested_mount_points``.  Must not know who mounts what.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from reflet.volumes import folders
from reflet.volumes.folder_locks import locked
from reflet.volumes.ownership import FOLDER_MODE
from reflet.volumes.payload_paths import valid_path
from reflet.volumes.volume_errors import VolumeError, in_folder

TABLE: Final = Path("/proc/self/mountinfo")

_ESCAPED: Final = re.compile(r"\\([0-7]{3})")
_MOUNT_POINT: Final = 4  # fields before it
_FEWEST_FIELDS: Final = 7


@dataclass(frozen=True, slots=True)
class Mount:
    """A mount point, and the kind of file system that is mounted there."""

    path: Path
    file_system: str


def read_mounts(table: Path = TABLE) -> tuple[Mount, ...]:
    """Every mount that this process sees, later ones on top; none where there is no table."""
    try:
        text = table.read_text(errors="surrogateescape")
    except OSError:
        return ()  # a system that does not tell
    return parse_mounts(text)


def parse_mounts(text: str) -> tuple[Mount, ...]:
    """Read a table; lines that are not understood are passed over."""
    mounts: list[Mount] = []
    for line in text.splitlines():
        before, separator, after = line.partition(" - ")
        fields = before.split(" ")
        if not separator or len(fields) < _FEWEST_FIELDS - 1:
            continue
        path = _ESCAPED.sub(lambda match: chr(int(match[1], 8)), fields[_MOUNT_POINT])
        mounts.append(Mount(Path(path), after.split(" ")[0]))
    return tuple(mounts)


def mount_of(path: Path, mounts: Iterable[Mount]) -> Mount | None:
    """The mount that a path, without links, lies on."""
    best: Mount | None = None
    for mount in mounts:
        if path.is_relative_to(mount.path) and (
            best is None or len(mount.path.parts) >= len(best.path.parts)
        ):
            best = mount
    return best


def mounted_below(path: Path, mounts: Iterable[Mount]) -> frozenset[Path]:
    """The mount points at or below a path without links."""
    return frozenset(mount.path for mount in mounts if mount.path.is_relative_to(path))


def make_mount_points(target: Path, points: Iterable[str], *, mode: int = folders.PRIVATE) -> None:
    """Make the folders, 0755, in the volume *target*, which is made with *mode* when missing.

    Those that are there stay as they are.  VolumeError when a file or a link is in the way, and
    InvalidPath for a point outside of the volume.
    """
    paths = [valid_path(point) for point in points]
    if not paths:
        return
    with in_folder(target), locked(target, create_mode=mode) as folder:
        for path in paths:
            _make(folder, target, path)


def _make(folder: int, target: Path, path: str) -> None:
    above = ""
    for name in path.split("/"):
        with folders.opened_below(folder, above) as here:
            if folders.facts(here, name) is None:
                folders.make_folder(here, name)
                folders.set_mode(here, name, FOLDER_MODE)
            elif not folders.is_folder(here, name):
                raise VolumeError(
                    f"{target / path}: cannot be mounted on, because {name} is not a folder"
                )
        above = f"{above}/{name}" if above else name
