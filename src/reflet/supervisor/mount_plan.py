"""Which part of which volume a container sees at which path.

Owns: the mounts of a container that can be had here, and what is said about the others.  Only
computes.  Must not know where the files are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from reflet.api.pods import Pod
from reflet.api.volumes import Volume
from reflet.errors import RefletError
from reflet.resolution.clean_paths import clean
from reflet.resolution.places import container_named
from reflet.resolution.sub_paths import clean_sub_path, sub_path_of
from reflet.resolution.volume_contents import kind_of


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
