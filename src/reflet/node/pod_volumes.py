"""A pod's volumes on disk, and what a container sees of them.

Owns: which folder a volume is, filling it, and the links of a container's root.  How a folder is
written is ``volumes``; what is written is computed elsewhere.  Must not know when.
"""

from __future__ import annotations

import logging
import os
import shutil
import stat
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from reflet.api.pods import Pod
from reflet.api.volumes import Volume
from reflet.delivery.mounted_folders import mounted_folder
from reflet.delivery.resolved_pod import ResolvedPod
from reflet.delivery.volume_delivery import VolumeDelivery
from reflet.node.container_records import write_private
from reflet.node.mount_layout import MountLayout
from reflet.processes.container_plan import VolumeMount
from reflet.resolution.env_files import MountedVolume
from reflet.resolution.file_contents import VolumeContents
from reflet.resolution.places import container_named
from reflet.resolution.pod_users import fs_group
from reflet.resolution.variables import Environment, exact_bytes
from reflet.resolution.volume_contents import kind_of
from reflet.volumes.pod_directories import PodDirectories
from reflet.volumes.volume_errors import VolumeError, in_folder

ROOT: Final = "root"
ENVIRONMENT_FILE: Final = "environment"
FOLDER_MODE: Final = 0o755
_DIRECTORY_TYPES: Final = frozenset({"", "Directory", "DirectoryOrCreate"})
_FILE_TYPES: Final = frozenset({"", "File", "FileOrCreate"})

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Written:
    """Which volumes have new contents, and which could not be written, by name."""

    changed: frozenset[str] = frozenset()
    errors: Mapping[str, str] = field(default_factory=dict)


class PodVolumes:
    """The volumes of pods in *directories*; *host_paths* are those that pods may name.

    Blocks; for one pod, used by one thread at a time.
    """

    def __init__(self, directories: PodDirectories, *, host_paths: tuple[str, ...] = ()) -> None:
        self._directories = directories
        self._host_paths = host_paths

    def write(self, resolved: ResolvedPod) -> Written:
        """Make every volume what it is to be; one that cannot be written stays as it was."""
        pod = resolved.pod
        errors: dict[str, str] = {}
        for volume in pod.spec.volumes:
            try:
                self._make(pod, volume)
            except VolumeError as error:
                errors[volume.name] = str(error)
        return self._deliver(resolved, None, errors)

    def rewrite(self, resolved: ResolvedPod, names: Collection[str]) -> Written:
        """Write these volumes again, which were written before."""
        return self._deliver(resolved, names, {})

    def _deliver(
        self, resolved: ResolvedPod, names: Collection[str] | None, errors: dict[str, str]
    ) -> Written:
        pod = resolved.pod
        delivered = self._delivery(pod, names).write(resolved)
        for name, notes in delivered.notes.items():
            for note in notes:
                logger.warning("volume %s of %s: %s", name, pod.metadata.name, note)
        errors.update(delivered.failures)
        return Written(frozenset(delivered.changed), errors)

    def source(self, pod: Pod, volume: Volume) -> Path:
        """Where a volume is."""
        if volume.host_path is not None:
            return self._host_path(volume)
        kind = kind_of(volume) or "emptyDir"
        return self._directories.volume(pod.metadata.uid, kind, volume.name)

    def container_folder(self, pod: Pod, container: str) -> Path:
        """The folder of a container's own files."""
        return self._directories.make_container(pod.metadata.uid, container)

    def working_folder(self, root: Path, wanted: str) -> str:
        """Where a container begins: what it wants, in its own root if that is there."""
        if not wanted:
            return str(root)
        own = root / wanted.lstrip("/")
        return str(own) if own.is_dir() else wanted

    def mounted(self, pod: Pod) -> Mapping[str, MountedVolume | None]:
        """The volumes of a pod from which variables can be read: its empty folders."""
        return {
            volume.name: mounted_folder(self.source(pod, volume))
            for volume in pod.spec.volumes
            if volume.empty_dir is not None
        }

    def lay_out(self, pod: Pod, container: str, layout: MountLayout, message_file: Path) -> Path:
        """Make a container's root folder anew, with links at its mount paths; give the root."""
        folder = self._directories.make_container(pod.metadata.uid, container)
        root = folder / ROOT
        volumes = {volume.name: volume for volume in pod.spec.volumes}
        with in_folder(folder):
            if root.exists():
                shutil.rmtree(root)
            root.mkdir(mode=0o755)
            root.chmod(0o755)
            for link in layout.links:
                if link.volume not in volumes:
                    raise VolumeError(f"the pod has no volume {link.volume}")
                volume = volumes[link.volume]
                source = self.source(pod, volume)
                if link.sub_path:
                    kind = kind_of(volume)
                    kept = self._directories.sub_path(
                        pod.metadata.uid, volume.name, container, link.index, kind=kind
                    )
                    source = _sub_path(source, link.sub_path, kept if kind else None)
                _link(root / link.path, source)
            if layout.message_path:
                _link(root / layout.message_path, message_file)
        return root

    def mounts(
        self, pod: Pod, container: str, layout: MountLayout, message_file: Path
    ) -> tuple[VolumeMount, ...]:
        """What is to be mounted where in a container's own root."""
        volumes = {volume.name: volume for volume in pod.spec.volumes}
        specs = container_named(pod, container).container.volume_mounts
        found: list[VolumeMount] = []
        for link in layout.links:
            if link.volume not in volumes:
                raise VolumeError(f"the pod has no volume {link.volume}")
            volume = volumes[link.volume]
            source, beneath, kind = self.source(pod, volume), link.sub_path, kind_of(volume)
            if beneath:
                kept = self._directories.sub_path(
                    pod.metadata.uid, volume.name, container, link.index, kind=kind
                )
                made = _sub_path(source, beneath, kept if kind else None)
                source, beneath = (made, "") if kind else (source, beneath)
            read_only = bool(kind) or specs[link.index].read_only
            found.append(
                VolumeMount(
                    folder=str(source), beneath=beneath, path=f"/{link.path}", read_only=read_only
                )
            )
        if layout.message_path:
            message = VolumeMount(
                folder=str(message_file), path=f"/{layout.message_path}", read_only=False
            )
            found.append(message)
        return tuple(found)

    def write_environment(self, pod: Pod, container: str, environment: Environment) -> Path:
        """Write a container's variables into a private file that a shell can read."""
        folder = self._directories.make_container(pod.metadata.uid, container)
        path = folder / ENVIRONMENT_FILE
        lines = [
            exact_bytes(name) + b"='" + exact_bytes(value).replace(b"'", b"'\\''") + b"'\n"
            for name, value in environment.values.items()
        ]
        with in_folder(folder):
            write_private(path, b"".join(lines))
        return path

    def clear(self, uid: str) -> None:
        """Remove what a pod's folder holds of its configuration, and leave all else.

        For a pod of which nothing runs.  ``write`` and ``lay_out`` write it again.
        """
        for kept in self._directories.clear(uid):
            logger.warning("left behind of pod %s: %s", uid, kept)
        containers = self._directories.pod(uid) / "containers"
        with in_folder(containers):
            for path in containers.glob(f"*/{ENVIRONMENT_FILE}"):
                path.unlink()

    # inside

    def _delivery(self, pod: Pod, names: Collection[str] | None) -> VolumeDelivery:
        def choose(contents: VolumeContents) -> Path:
            return self._directories.volume(pod.metadata.uid, contents.kind, contents.volume)

        # Mounts inside mounts are refused before, so nobody needs points for them.
        return VolumeDelivery(choose, only=names, mount_points=False, mode=FOLDER_MODE)

    def _make(self, pod: Pod, volume: Volume) -> None:
        if volume.host_path is not None:
            self._check_host_path(volume)
            return
        kind = kind_of(volume) or "emptyDir"
        group = None if kind_of(volume) else fs_group(pod)
        if not self._directories.volume(pod.metadata.uid, kind, volume.name).is_dir():
            self._directories.make_volume(pod.metadata.uid, kind, volume.name, group=group)

    def _host_path(self, volume: Volume) -> Path:
        """The real place of a host path, which links must not lead out of what is allowed."""
        if volume.host_path is None:
            raise VolumeError(f"volume {volume.name} is no hostPath")
        path = Path(volume.host_path.path).resolve()
        if not any(path.is_relative_to(Path(each).resolve()) for each in self._host_paths):
            raise VolumeError(f"hostPath {path} is not below a path that is allowed here")
        return path

    def _check_host_path(self, volume: Volume) -> None:
        path = self._host_path(volume)
        kind = "" if volume.host_path is None else volume.host_path.type
        with in_folder(path):
            if kind == "DirectoryOrCreate":
                path.mkdir(mode=0o755, exist_ok=True)
            elif kind == "FileOrCreate":
                path.touch(mode=0o644)
        if kind and not path.exists():
            raise VolumeError(f"hostPath type check failed: {path} is not there")
        if (path.is_dir() and kind not in _DIRECTORY_TYPES) or (
            path.is_file() and kind not in _FILE_TYPES
        ):
            raise VolumeError(f"hostPath type check failed: {path} is not a {kind}")


def _link(place: Path, target: Path) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(target)


def _sub_path(source: Path, sub_path: str, kept: Path | None) -> Path:
    """The part of a volume that a mount shows; with *kept*, a copy as it is at this moment."""
    wanted = source / sub_path
    real = wanted.resolve()
    if not real.is_relative_to(source.resolve()):
        raise VolumeError(f"subPath {sub_path} leads out of its volume")
    if kept is None:
        _make_as_open(real, source)
        return real
    _remove(kept)
    kept.parent.mkdir(parents=True, exist_ok=True)
    if real.is_dir():
        shutil.copytree(real, kept, symlinks=False, copy_function=_copy)
    elif real.exists():
        _copy(real, kept)
    else:
        kept.mkdir()
    return kept


def _make_as_open(folder: Path, source: Path) -> None:
    """Make a folder in a volume, if nothing is there, as open to others as the volume is."""
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    for each in reversed(missing):
        each.mkdir(exist_ok=True)
        each.chmod(stat.S_IMODE(source.stat().st_mode))


def _copy(source: str | Path, target: str | Path) -> None:
    """Copy a file with its mode, its times and its owner."""
    shutil.copy2(source, target)
    facts = os.stat(source)  # noqa: PTH116 - given as text by those who copy whole folders
    os.chown(target, facts.st_uid, facts.st_gid)


def _remove(kept: Path) -> None:
    """Remove a file or a folder; harmless when nothing is there."""
    if kept.is_dir() and not kept.is_symlink():
        shutil.rmtree(kept)
    else:
        kept.unlink(missing_ok=True)
