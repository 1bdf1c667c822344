"""A pod's volumes on disk, and what a mount of a container shows of them.

Which folder a volume is, filling it, the part of it that a sub-path shows, and the links of a
container that has no root of its own.  How a folder is written and walked is ``reflet.volumes``,
what is written is computed by ``reflet.resolution``.

An error names the mount and never a sub-path: that may be made from a Secret.

Upstream: pkg/kubelet/kubelet_pods.go, makeMounts; pkg/volume/util/subpath, SafeMakeDir.
"""

from __future__ import annotations

import logging
import shutil
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from reflet.api.core.pods import Pod
from reflet.api.core.volumes import Volume
from reflet.node.pods.container_mounts import MountLayout, MountLink, MountSource
from reflet.node.pods.host_paths import TOP, HostPaths
from reflet.node.shim.container_records import write_private
from reflet.podconfig.resolved_pod import ResolvedPod
from reflet.podconfig.volume_delivery import VolumeDelivery, mounted_folder
from reflet.resolution.environment.env_files import MountedVolume
from reflet.resolution.environment.variables import Environment, exact_bytes
from reflet.resolution.places import container_named
from reflet.resolution.volumes.file_contents import VolumeContents, fs_group
from reflet.resolution.volumes.sub_paths import clean_sub_path, fixed_files
from reflet.resolution.volumes.volume_contents import kind_of
from reflet.volumes import folders
from reflet.volumes.parts import as_named, make_part, opened_part, reason_of, write_fixed_copy
from reflet.volumes.pod_directories import PodDirectories
from reflet.volumes.volume_errors import VolumeError, in_folder

ROOT: Final = "root"
ENVIRONMENT_FILE: Final = "environment"
FOLDER_MODE: Final = 0o755

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
        self._host_paths = HostPaths(host_paths)

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
            return TOP / self._host_paths.beneath_top(volume)
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

    def mount_sources(
        self,
        pod: Pod,
        container_name: str,
        layout: MountLayout,
        contents: Mapping[str, VolumeContents],
    ) -> tuple[MountSource, ...]:
        """Find what each mount of a container shows, and make what is to be made for it.

        Parts of configuration are copies of *contents* as they are now.  VolumeError names the
        mount and never the path, which may be made from a secret.
        """
        volumes = {volume.name: volume for volume in pod.spec.volumes}
        sources: list[MountSource] = []
        for link in layout.links:
            volume = volumes.get(link.volume)
            if volume is None:
                raise VolumeError(f"the pod has no volume {link.volume}")
            with _naming_the_mount(pod, container_name, link):
                if kind_of(volume):
                    part = self._written_part(pod, container_name, link, contents[link.volume])
                    sources.append(MountSource(*part, link.path, read_only=True))
                else:
                    part = self._open_part(pod, volume, link)
                    sources.append(MountSource(*part, link.path, link.read_only))
        return tuple(sources)

    def lay_out(
        self,
        pod: Pod,
        container: str,
        layout: MountLayout,
        contents: Mapping[str, VolumeContents],
        message_file: Path,
    ) -> Path:
        """Make a container's root folder anew, with links at its mount paths; give the root."""
        folder = self._directories.make_container(pod.metadata.uid, container)
        root = folder / ROOT
        with in_folder(folder):
            if root.exists():
                shutil.rmtree(root)
            root.mkdir(mode=0o755)
            root.chmod(0o755)
        for source in self.mount_sources(pod, container, layout, contents):
            _link(root, source.path, source.folder / source.beneath)
        if layout.message_path:
            _link(root, layout.message_path, message_file)
        return root

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

        # One agent has the root, and its worker the pod: a lock would only be one that a container
        # can hold.
        return VolumeDelivery(choose, only=names, mode=FOLDER_MODE, alone=True)

    def _make(self, pod: Pod, volume: Volume) -> None:
        if volume.host_path is not None:
            self._host_paths.check(volume)
            return
        kind = kind_of(volume) or "emptyDir"
        group = None if kind_of(volume) else fs_group(pod)
        if not self._directories.volume(pod.metadata.uid, kind, volume.name).is_dir():
            self._directories.make_volume(pod.metadata.uid, kind, volume.name, group=group)

    def _written_part(
        self, pod: Pod, container: str, link: MountLink, contents: VolumeContents
    ) -> tuple[Path, str]:
        """A volume of configuration, or a copy of a part of it that stays as it is now."""
        uid, part = pod.metadata.uid, clean_sub_path(link.sub_path)
        if not part:
            return self._directories.volume(uid, contents.kind, link.volume), ""
        if contents.error is not None:
            raise VolumeError(f"volume {link.volume}: {contents.error}")
        kept = self._directories.sub_path(
            uid, link.volume, container, link.index, kind=contents.kind
        )
        self._directories.make_pod(uid)  # the gate, before anything is made behind it
        return kept, write_fixed_copy(kept, fixed_files(contents, part), contents.fs_group)

    def _open_part(self, pod: Pod, volume: Volume, link: MountLink) -> tuple[Path, str]:
        """A volume that containers write to, or a part of it, which is made if it is missing."""
        folder, beneath = self.source(pod, volume), ""
        if volume.host_path is not None:
            folder, beneath = TOP, self._host_paths.beneath_top(volume)
        part = as_named(clean_sub_path(link.sub_path))
        with folders.opened(folder) as here, opened_part(here, beneath) as own:
            make_part(own, part)
        return folder, "/".join(each for each in (beneath, part) if each)


@contextmanager
def _naming_the_mount(pod: Pod, container: str, link: MountLink) -> Iterator[None]:
    """Say which mount the system refuses, by its place in the pod."""
    try:
        yield
    except OSError as error:
        placed = container_named(pod, container)
        expression = placed.container.volume_mounts[link.index].sub_path_expr
        field_name = "subPathExpr" if expression else "subPath" if link.sub_path else "name"
        what = "subPath" if link.sub_path else "mount"
        raise VolumeError(
            f'failed to prepare {what} for volumeMount "{link.volume}" of container '
            f'"{container}": {placed.path}.volumeMounts[{link.index}].{field_name}: '
            f"{reason_of(error)}"
        ) from None  # the system's own error has the path


def _link(root: Path, path: str, target: Path) -> None:
    place = root / path
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(target)
    except OSError as error:
        # Not where it leads: a sub-path may be made from a secret.
        raise VolumeError(f"the mount at /{path} cannot be shown: {reason_of(error)}") from None
