"""Parts of volumes that containers write to, held fast before a runtime mounts them.

A runtime takes a path and follows links on it, and a container may put one there meanwhile that
leads anywhere on the node.  So the part is opened without following any, and what was opened is
bound to a place that containers cannot reach: that place is what the runtime is given.

Upstream: pkg/volume/util/subpath/subpath_linux.go, doBindSubPath
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Final

from reflet.node.pods.container_mounts import MountSource
from reflet.processes.isolated_start import LIBC, MNT_DETACH, MS_BIND, MS_REC, mount
from reflet.volumes import folders
from reflet.volumes.mounts import mounted_below, read_mounts
from reflet.volumes.parts import opened_part, reason_of
from reflet.volumes.pod_directories import PodDirectories
from reflet.volumes.volume_errors import VolumeError

BOUND: Final = ".bound"  # no volume has such a name


class SubPathMounts:
    """The parts of pods in *directories*.  Blocks."""

    def __init__(self, directories: PodDirectories) -> None:
        self._directories = directories

    def held(self, uid: str, container: str, source: MountSource, index: int) -> MountSource:
        """The source as a runtime can be given it; *index* tells those of a container apart."""
        pod = self._directories.pod(uid)
        if not source.beneath or source.folder.is_relative_to(pod / "volume-subpaths"):
            return source  # nobody but the agent writes there
        place = self._directories.sub_path(uid, BOUND, container, index)
        _unmount(place)
        try:
            with (
                folders.opened(source.folder) as folder,
                opened_part(folder, source.beneath) as part,
            ):
                _make_place(place, is_folder=stat.S_ISDIR(os.fstat(part).st_mode))
                mount(f"/proc/self/fd/{part}", str(place), None, MS_BIND | MS_REC)
        except OSError as error:
            # Not which: a sub-path may be made from a secret.
            raise VolumeError(
                f"the mount at /{source.path} cannot be made: {reason_of(error)}"
            ) from None
        return MountSource(place, "", source.path, source.read_only)

    def remove(self, uid: str) -> None:
        """Let go of everything of a pod whose containers have ended."""
        place = (self._directories.pod(uid) / "volume-subpaths" / BOUND).resolve()
        for mounted in sorted(mounted_below(place, read_mounts()), reverse=True):
            _unmount(mounted)


def _make_place(place: Path, *, is_folder: bool) -> None:
    place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    if place.is_dir() and not is_folder:
        place.rmdir()
    elif place.is_file() and is_folder:
        place.unlink()
    if is_folder:
        place.mkdir(exist_ok=True)
    else:
        place.touch()


def _unmount(place: Path) -> None:
    """Unmount what is there; nothing is no error."""
    LIBC.umount2(os.fsencode(place), MNT_DETACH)
