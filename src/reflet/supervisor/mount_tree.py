"""A container's files under a root, each at its mount path.

``plan_mounts`` decides, purely, which part of which volume a container sees at which path, and what
is said about mounts that cannot be had here; ``MountTree`` makes the folders, the copies that
mounts with a sub-path show, and the links::

    ROOT/etc/app                 -> ../.reflet/volumes/settings
    ROOT/etc/app.conf            -> ../.reflet/fixed/1/0          a mount with a sub-path
    ROOT/.reflet/volumes/NAME    a volume, kept by an atomic writer; or an empty folder
    ROOT/.reflet/fixed/START     copies made for one start, which nothing changes later
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from reflet.api.core.pods import Pod
from reflet.api.core.volumes import Volume
from reflet.errors import RefletError
from reflet.gotext.paths import clean
from reflet.resolution.places import container_named
from reflet.resolution.volumes.file_contents import VolumeContents
from reflet.resolution.volumes.sub_paths import clean_sub_path, fixed_files, sub_path_of
from reflet.resolution.volumes.volume_contents import kind_of
from reflet.supervisor.private_root import OWN, PrivateRoot
from reflet.volumes import folders
from reflet.volumes.atomic_writer import AtomicWriter
from reflet.volumes.parts import as_named, make_part, reason_of, write_fixed_copy
from reflet.volumes.tear_down import remove_tree
from reflet.volumes.volume_errors import VolumeError


@dataclass(frozen=True, slots=True)
class MountedPath:
    """What is to be seen at a mount path: a file or folder under the root."""

    source: Path
    path: str
    read_only: bool


class MountTree:
    """The files of one container under one root.

    ``write`` comes first, then ``arrange`` for every start, then ``write`` whenever contents are
    new.  Without *linked*, who starts the process mounts ``sources`` at their paths.  Blocks;
    belongs to one task.
    """

    def __init__(self, root: PrivateRoot, *, linked: bool = True) -> None:
        self._root = root
        self._linked = linked
        self._writers: dict[str, AtomicWriter] = {}
        self._start = 0
        self._links: dict[str, Path] = {}
        self.sources: tuple[MountedPath, ...] = ()

    def write(self, volumes: Mapping[str, VolumeContents]) -> None:
        """Make the volumes equal to their contents; one that has an error stays as it is."""
        for name, contents in volumes.items():
            if contents.error is None:
                self._writer(name).write(contents)
        self._keep_links()

    def arrange(self, plan: MountPlan, volumes: Mapping[str, VolumeContents]) -> None:
        """Lay everything out for a start: empty folders, copies, and links at the mount paths."""
        self._start += 1
        sources = [
            MountedPath(self._source(index, mount, volumes), mount.path, mount.read_only)
            for index, mount in enumerate(plan.mounts)
        ]
        for path in self._links.keys() - {source.path for source in sources}:
            self._place(path).unlink(missing_ok=True)
        self.sources = tuple(sources)
        if self._linked:
            self._links = {source.path: source.source for source in sources}
        self._keep_links()
        self._forget_start(self._start - 1)

    # Sources

    def _volume(self, name: str) -> Path:
        return self._root.own / "volumes" / name

    def _writer(self, name: str) -> AtomicWriter:
        if name not in self._writers:
            self._writers[name] = AtomicWriter(self._volume(name))
        return self._writers[name]

    def _source(
        self, index: int, mount: PlannedMount, volumes: Mapping[str, VolumeContents]
    ) -> Path:
        if mount.is_fixed:
            copy = self._root.own / "fixed" / str(self._start) / str(index)
            files = fixed_files(volumes[mount.volume], mount.sub_path)
            return copy / write_fixed_copy(copy, files, None)
        source = self._volume(mount.volume)
        try:
            folders.make_path(source)
            part = as_named(mount.sub_path)
            with folders.opened(source) as here:
                make_part(here, part)
        except OSError as error:
            # Not the path: a variable in a sub-path may hold a secret.
            raise VolumeError(
                f"the mount at {mount.path} cannot be made: {reason_of(error)}"
            ) from None
        return source / part

    def _forget_start(self, start: int) -> None:
        fixed = self._root.own / "fixed"
        if not fixed.exists():
            return
        with folders.opened(fixed) as folder:
            kept = remove_tree(folder, str(start))
        if kept:
            raise RefletError(f"{fixed}/{kept[0]}")

    # Links

    def _keep_links(self) -> None:
        """Make the links that are missing; inside a volume, a new version may have taken one."""
        for path, source in self._links.items():
            place = self._place(path)
            text = os.path.relpath(source, place.parent.resolve())
            if place.is_symlink() and os.readlink(place) == text:  # noqa: PTH115 - text, not a path
                continue
            self._link(place, text)

    def _link(self, place: Path, text: str) -> None:
        if place.is_dir() and not place.is_symlink():
            place.rmdir()  # a mount point, and empty: everything in a root is ours
        waiting = place.with_name(f"..{place.name}.reflet")
        waiting.unlink(missing_ok=True)
        waiting.symlink_to(text)
        waiting.replace(place)

    def _place(self, path: str) -> Path:
        place = self._root.path / path.lstrip("/")
        if place.is_relative_to(self._root.path / OWN):
            raise RefletError(f"{path} cannot be a mount path: reflet keeps its own files there")
        place.parent.mkdir(parents=True, exist_ok=True)
        return place


class MountRefused(RefletError):
    """The kubelet would not make a mount; the message is its own."""


@dataclass(frozen=True, slots=True)
class PlannedMount:
    """One mount: the absolute path in the container, and what is to be seen there.

    ``sub_path`` is the part of the volume, empty for all of it.  A ``scratch`` volume is an
    empty folder that the process may fill.
    """

    path: str
    volume: str
    sub_path: str = ""
    read_only: bool = True
    scratch: bool = False

    @property
    def is_fixed(self) -> bool:
        """Whether what it shows never changes while the process runs."""
        return bool(self.sub_path) and not self.scratch


@dataclass(frozen=True, slots=True)
class MountPlan:
    """The mounts, outer ones before those inside them, and what is left out, as sentences."""

    mounts: tuple[PlannedMount, ...] = ()
    left_out: tuple[str, ...] = ()


def plan_mounts(pod: Pod, container_name: str, variables: Mapping[str, str]) -> MountPlan:
    """Plan the mounts of a container, whose *variables* its sub-paths may name.

    Raises MountRefused in the kubelet's words.
    """
    volumes = {volume.name: volume for volume in pod.spec.volumes}
    mounts: dict[str, PlannedMount] = {}
    left_out: list[str] = []
    for mount in container_named(pod, container_name).container.volume_mounts:
        path = clean(f"/{mount.mount_path}")
        if path == "/":
            raise MountRefused(f"volume {mount.name} cannot be mounted at /")
        volume = volumes.get(mount.name)
        if volume is None:
            raise MountRefused(
                f'cannot find volume "{mount.name}" to mount into container "{container_name}"'
            )
        scratch = volume.empty_dir is not None
        if not scratch and not kind_of(volume):
            left_out.append(
                f"{path} is not there: volume {volume.name} is a {source_of(volume)}, and only "
                "configuration and empty folders can be had here"
            )
            continue
        sub_path = sub_path_of(mount, variables)
        if not isinstance(sub_path, str):
            raise MountRefused(sub_path.error)
        mounts[path] = PlannedMount(
            path=path,
            volume=volume.name,
            sub_path=clean_sub_path(sub_path),
            read_only=mount.read_only or not scratch,
            scratch=scratch,
        )
    ordered = sorted(mounts.values(), key=lambda mount: mount.path.split("/"))
    return MountPlan(tuple(ordered), tuple(left_out))


def source_of(volume: Volume) -> str:
    """The kind of a volume as people write it: ``persistentVolumeClaim``."""
    for name in volume.__struct_fields__:
        if name != "name" and getattr(volume, name) is not None:
            first, *others = name.split("_")
            return first + "".join(word.capitalize() for word in others)
    return "volume of an unknown kind"
