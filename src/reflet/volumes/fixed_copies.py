"""Files of a volume that never change again: what a mount with a sub-path shows of them.

Owns: writing such a copy in the place of the one before.  Made from contents in memory, never
from what is on disk.  Must not know whose copy it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from reflet.resolution.file_contents import FileContent
from reflet.volumes import folders
from reflet.volumes.ownership import FOLDER_MODE, Ownership
from reflet.volumes.payload_paths import laid_out
from reflet.volumes.tear_down import remove_tree
from reflet.volumes.version_folder import write_version
from reflet.volumes.volume_errors import VolumeError, in_folder

SINGLE: Final = "file"


def write_fixed_copy(target: Path, files: Mapping[str, FileContent], group: int | None) -> str:
    """Make the folder *target* anew, with these files; the answer is the path in it to be shown.

    A single file has the empty path; no files at all are an empty folder.  The files belong to
    *group*, where the system allows it.  Folders above *target* that are missing are made, 0755.
    """
    is_single = "" in files
    layout = laid_out({SINGLE: files[""]} if is_single else files)
    with in_folder(target):
        folders.make_path(target.parent, mode=FOLDER_MODE)
        with folders.opened(target.parent) as here:
            _remove(here, target.name)
            folders.make_folder(here, target.name)
            write_version(here, target.name, layout, Ownership(group), durable=False)
    return SINGLE if is_single else ""


def _remove(folder: int, name: str) -> None:
    if folders.facts(folder, name) is not None and not folders.is_folder(folder, name):
        folders.unlink(folder, name)
    kept = remove_tree(folder, name)
    if kept:
        raise VolumeError(f"a copy of earlier cannot be replaced: {kept[0]}")
