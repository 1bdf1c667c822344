"""The folders that other mounts need inside a volume.

Owns: making them, before the volume is written.  Which ones are needed is
``resolution.nested_mount_points``.  Must not know who mounts what.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from reflet.volumes import folders
from reflet.volumes.folder_locks import locked
from reflet.volumes.ownership import FOLDER_MODE
from reflet.volumes.payload_paths import valid_path
from reflet.volumes.volume_errors import VolumeError, in_folder


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
