"""Which containers do not see a changed volume before they start again.

Owns: that a mount with a sub-path shows, for the whole life of its container, what was there
when it started.  Only computes.  Must not know when containers start.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from reflet.api.core.pods import Pod
from reflet.resolution.places import containers_of


@dataclass(frozen=True, slots=True)
class FrozenMount:
    """A container's mount of a part of a volume."""

    container: str
    volume: str
    mount_path: str


def frozen_mounts(pod: Pod, volumes: Iterable[str]) -> tuple[FrozenMount, ...]:
    """The mounts through which changes of these volumes do not reach a running container."""
    changed = frozenset(volumes)
    return tuple(
        FrozenMount(placed.container.name, mount.name, mount.mount_path)
        for placed in containers_of(pod.spec)
        for mount in placed.container.volume_mounts
        if mount.name in changed and (mount.sub_path or mount.sub_path_expr)
    )
