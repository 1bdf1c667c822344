"""Paths of this machine that pods may name: ``hostPath``.

A path that is allowed is the administrator's word, and may lead through links; where it leads is
found out once.  Below it pods may write, so that no link is followed there.

Upstream: pkg/volume/hostpath/host_path.go, checkType.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import Final

from reflet.api.core.volumes import Volume
from reflet.volumes import folders
from reflet.volumes.parts import make_file, opened_part, reason_of
from reflet.volumes.volume_errors import VolumeError

TOP: Final = Path("/")
FOLDER_MODE: Final = 0o755
FILE_MODE: Final = 0o644

# What each type is to be, in the kubelet's words, and how it calls what it finds.
_EXPECTED: Final = MappingProxyType(
    {
        "DirectoryOrCreate": ("directory", "Directory"),
        "Directory": ("directory", "Directory"),
        "FileOrCreate": ("file", "File"),
        "File": ("file", "File"),
        "Socket": ("socket file", "Socket"),
        "CharDevice": ("character device", "CharDevice"),
        "BlockDevice": ("block device", "BlockDevice"),
    }
)
_FOUND: Final = MappingProxyType(
    {
        stat.S_IFDIR: "Directory",
        stat.S_IFREG: "File",
        stat.S_IFSOCK: "Socket",
        stat.S_IFCHR: "CharDevice",
        stat.S_IFBLK: "BlockDevice",
    }
)


class HostPaths:
    """The paths below *allowed*, which are looked up when this is made.  Blocks."""

    def __init__(self, allowed: tuple[str, ...] = ()) -> None:
        self._allowed = {PurePosixPath(each): Path(each).resolve() for each in allowed}

    def beneath_top(self, volume: Volume) -> str:
        """The real path of a volume, relative to ``/``; VolumeError when it is not allowed."""
        path = _path_of(volume)
        above = [each for each in self._allowed if path.is_relative_to(each)]
        if ".." in path.parts or not above:
            raise VolumeError(f"hostPath {path} is not below a path that is allowed here")
        nearest = max(above, key=lambda each: len(each.parts))
        return str((self._allowed[nearest] / path.relative_to(nearest)).relative_to(TOP))

    def check(self, volume: Volume) -> None:
        """Make what is to be made, and compare what is there with the volume's type."""
        beneath = self.beneath_top(volume)
        path = _path_of(volume)
        kind = "" if volume.host_path is None else volume.host_path.type
        if not kind:
            return
        if kind not in _EXPECTED:
            raise VolumeError(f"{kind} is an invalid volume type")
        try:
            with folders.opened(TOP) as top:
                if kind == "FileOrCreate":
                    make_file(top, beneath, FILE_MODE)
                make = FOLDER_MODE if kind == "DirectoryOrCreate" else None
                with opened_part(top, beneath, make=make) as found:
                    mode = os.fstat(found).st_mode
        except FileNotFoundError as error:
            said = f"{path} is not a {_EXPECTED[kind][0]}, unable to determine its type"
            raise VolumeError(
                f'hostPath type check failed, {said}: path "{path}" does not exist'
            ) from error
        except OSError as error:
            raise VolumeError(f"hostPath {path}: {reason_of(error)}") from error
        _compare(path, kind, mode)


def _path_of(volume: Volume) -> PurePosixPath:
    if volume.host_path is None:
        raise VolumeError(f"volume {volume.name} is no hostPath")
    return PurePosixPath(volume.host_path.path)


def _compare(path: PurePosixPath, kind: str, mode: int) -> None:
    words, wanted = _EXPECTED[kind]
    found = _FOUND.get(stat.S_IFMT(mode))
    if found is None:
        raise VolumeError(
            f"hostPath type check failed, {path} is not a {words}, unable to determine its type: "
            "only recognise file, directory, socket, block device and character device"
        )
    if found != wanted:
        raise VolumeError(f"hostPath type check failed: {path} is not a {words}, it's a {found}")
