"""Environment files that containers wrote into a volume, read without leaving it.

A file is read below its folder, through links as far as they stay inside: a container may put
there what it likes, and the agent sees more of the machine than the container does.  What is in
the file is ``resolution.env_files``.

Upstream: pkg/kubelet/kubelet_pods.go, makeEnvironmentVariables, for fileKeyRef
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from reflet.resolution.env_files import MountedVolume
from reflet.volumes import folders
from reflet.volumes.parts import opened_part

LARGEST_FILE: Final = 1 << 20  # bytes: more than all variables of a process together


class FolderFiles(Mapping[str, bytes]):
    """The files below a folder, read when they are asked for.

    A path that leads out of the folder, through links as well, is not there; neither is what is
    no plain file, cannot be read, or is larger than any environment.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __repr__(self) -> str:
        return f"<FolderFiles {self._folder}>"

    def __getitem__(self, path: str) -> bytes:
        try:
            folder = self._folder.resolve(strict=True)
            real = (folder / path).resolve(strict=True)
            if not real.is_relative_to(folder):
                raise KeyError(path)
            return _read(folder, real.relative_to(folder))
        except (OSError, RuntimeError) as error:  # RuntimeError: links that go in circles
            raise KeyError(path) from error

    def __iter__(self) -> Iterator[str]:
        for path in sorted(self._folder.rglob("*")):
            name = str(path.relative_to(self._folder))
            if name in self:
                yield name

    def __len__(self) -> int:
        return sum(1 for _ in self)


def mounted_folder(folder: Path) -> MountedVolume:
    """A volume whose files lie in a folder."""
    return MountedVolume(directory=str(folder), files=FolderFiles(folder))


def _read(folder: Path, path: Path) -> bytes:
    """Read a file below a folder by a path that had no link in it, and must still have none."""
    with folders.opened(folder) as here, opened_part(here, str(path.parent)) as above:
        # A pipe that somebody put there must not make us wait for its other end.
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        descriptor = os.open(path.name, flags, dir_fd=above)
    with open(descriptor, "rb") as file:  # noqa: PTH123 - a descriptor, not a path
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(f"{path} is not a plain file")
        data = file.read(LARGEST_FILE + 1)
    if len(data) > LARGEST_FILE:
        raise OSError(f"{path} is too large for an environment")
    return data
