"""The volumes of a result as files: which are written, and what became of each.

How a folder is written is ``volumes``; where folders are, whoever uses this says.

The other way round, ``FolderFiles`` reads the environment files that containers wrote into a
volume: below its folder, through links as far as they stay inside, since a container may put there
what it likes and the agent sees more of the machine than the container does.

Upstream: pkg/volume/configmap/configmap.go, configMapVolumeMounter.SetUpAt, and its like in
pkg/volume/secret, pkg/volume/projected and pkg/volume/downwardapi; pkg/kubelet/kubelet_pods.go,
makeEnvironmentVariables, for fileKeyRef
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Final

from reflet.api.core.pods import Pod
from reflet.api.frozen import EMPTY
from reflet.errors import ConfigurationError
from reflet.podconfig.resolved_pod import ResolvedPod
from reflet.resolution.environment.env_files import MountedVolume
from reflet.resolution.problems import InvalidMountPoint
from reflet.resolution.volumes.file_contents import VolumeContents
from reflet.resolution.volumes.sub_paths import nested_mount_points
from reflet.volumes import folders
from reflet.volumes.atomic_writer import AtomicWriter
from reflet.volumes.parts import make_mount_points, opened_part
from reflet.volumes.tear_down import Kept
from reflet.volumes.volume_errors import VolumeError, VolumeRefused

ChooseFolder = Callable[[VolumeContents], Path]
"""Tells which folder a volume is to be."""

LARGEST_FILE: Final = 1 << 20  # bytes: more than all variables of a process together


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveredVolumes:
    """What became of the volumes, by name.

    ``changed`` have a new version, ``unchanged`` had these contents already.  ``failures`` are
    why the others were left as they were, in the kubelet's words where it has some.  ``notes``
    are what could not be done though the volume was written: owners that may not be given, files
    of others in the way.
    """

    changed: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    failures: Mapping[str, str] = field(default_factory=lambda: EMPTY)
    notes: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: EMPTY)


class VolumeDelivery:
    """Writes the volumes of results into the folders that *choose* names.

    A volume that has an error is not touched: what was delivered before stays, as it does for
    running pods.  Folders that are missing are made with *mode*.  *only* names the volumes to
    write, None all of them.  With *mount_points*, the folders that other mounts need are made
    first.  *durable* and *alone* are those of ``AtomicWriter``.

    Blocks; may be used from any thread, by one at a time.
    """

    def __init__(
        self,
        choose: ChooseFolder,
        *,
        only: Collection[str] | None = None,
        mount_points: bool = True,
        mode: int = folders.PRIVATE,
        durable: bool = False,
        alone: bool = False,
    ) -> None:
        self._choose = choose
        self._only = only
        self._mount_points = mount_points
        self._mode = mode
        self._durable = durable
        self._alone = alone

    def write(self, resolved: ResolvedPod) -> DeliveredVolumes:
        """Make the folders equal to the volumes; ConfigurationError for a name there is not."""
        changed: list[str] = []
        unchanged: list[str] = []
        failures: dict[str, str] = {}
        notes: dict[str, tuple[str, ...]] = {}
        for name, contents in self._chosen(resolved).items():
            try:
                writer = self._writer(contents)
                if contents.error is None and self._mount_points:
                    self._make_mount_points(resolved.pod, name, writer.target)
                (changed if writer.write(contents) else unchanged).append(name)
            except VolumeError as error:
                failures[name] = str(error)
            else:
                if writer.notes:
                    notes[name] = writer.notes
        return DeliveredVolumes(
            changed=tuple(changed),
            unchanged=tuple(unchanged),
            failures=MappingProxyType(failures),
            notes=MappingProxyType(notes),
        )

    def remove(self, resolved: ResolvedPod) -> tuple[Kept, ...]:
        """Remove what was written; the answer is what is kept, because somebody else made it."""
        kept: list[Kept] = []
        for contents in self._chosen(resolved).values():
            writer = self._writer(contents)
            kept += (Kept(str(writer.target / each.path), each.reason) for each in writer.remove())
        return tuple(kept)

    def _writer(self, contents: VolumeContents) -> AtomicWriter:
        return AtomicWriter(
            self._choose(contents), mode=self._mode, durable=self._durable, alone=self._alone
        )

    def _chosen(self, resolved: ResolvedPod) -> Mapping[str, VolumeContents]:
        if self._only is None:
            return resolved.volumes
        missing = [name for name in self._only if name not in resolved.volumes]
        if missing:
            there = ", ".join(resolved.volumes) or "none"
            raise ConfigurationError(
                f"pod {resolved.pod.metadata.name or '(unnamed)'} has no volume "
                f"{', '.join(missing)} that holds configuration; it has {there}"
            )
        return {name: resolved.volumes[name] for name in resolved.volumes if name in self._only}

    def _make_mount_points(self, pod: Pod, name: str, target: Path) -> None:
        points = nested_mount_points(pod, name)
        if isinstance(points, InvalidMountPoint):
            raise VolumeRefused(points.error)
        make_mount_points(target, points, mode=self._mode)


class FolderFiles(Mapping[str, bytes]):
    """The files below a folder, read when they are asked for.

    A path that leads out of the folder, through links as well, is not there; neither is what is
    no plain file, cannot be read, or is larger than any environment.

    - *folder*: the folder
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
