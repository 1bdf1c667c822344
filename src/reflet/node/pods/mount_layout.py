"""Where a container finds its volumes.

Owns: which part of which volume is at which path, as a mount or, without a file system of its
own, as a link; and which mounts links cannot show.  Only computes.  Must not know the disk.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Final

from reflet.api.core.containers import Container
from reflet.resolution.sub_paths import clean, sub_path_of

ROOT_VARIABLE: Final = "REFLET_ROOT"
"""Where a container's mount paths begin: ``$REFLET_ROOT/etc/app`` is its ``/etc/app``."""

USUAL_MESSAGE_PATH: Final = "/dev/termination-log"


@dataclass(frozen=True, slots=True)
class MountLink:
    """A link at *path*, relative to the container's root, to a volume or a part of it."""

    path: str
    volume: str
    sub_path: str = field(default="", repr=False)  # a variable in it may hold a secret
    index: int = 0
    read_only: bool = False


@dataclass(frozen=True, slots=True)
class MountLayout:
    """The links of a container, where it leaves its last word, or why there can be none."""

    links: tuple[MountLink, ...] = ()
    message_path: str = ""
    error: str | None = None


def mount_layout(
    container: Container, variables: Mapping[str, str], *, has_root: bool = False
) -> MountLayout:
    """Lay out a container's mounts; *variables* is its finished environment.

    With a root file system of its own, one mount may lie in another.
    """
    links: list[MountLink] = []
    for index, mount in enumerate(container.volume_mounts):
        path = _relative(mount.mount_path)
        if not path:
            return MountLayout(error=f"volume {mount.name} cannot be mounted at {mount.mount_path}")
        sub_path = sub_path_of(mount, variables)
        if not isinstance(sub_path, str):
            return MountLayout(error=sub_path.error)
        links.append(MountLink(path, mount.name, sub_path, index, mount.read_only))
    message = _relative(container.termination_message_path or USUAL_MESSAGE_PATH)
    places = [link.path for link in links]
    for path in places:
        if places.count(path) > 1:
            return MountLayout(error=f"two volumes are mounted at /{path}")
        inside = next((other for other in places if _lies_in(path, other)), None)
        if inside is not None and not has_root:
            return MountLayout(
                error=f"the mount at /{path} lies in the one at /{inside}: without a file system "
                "of its own a container cannot have one mount inside another"
            )
    if any(_lies_in(message, place) or message == place for place in places):
        message = ""  # what is mounted there is what the container sees
    return MountLayout(tuple(links), message)


def _relative(path: str) -> str:
    cleaned = clean(path).lstrip("/")
    return "" if cleaned in {"", "."} or cleaned.startswith("..") else cleaned


def _lies_in(path: str, other: str) -> bool:
    return path != other and PurePosixPath(path).is_relative_to(other)
