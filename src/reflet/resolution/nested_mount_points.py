"""Directories that other mounts need inside a volume.

Owns: which paths below a volume's mounts are mounted over.  Must not know how directories are
made.
"""

from reflet.resolution.clean_paths import clean
from reflet.resolution.places import Place, PlacedContainer, PodLike, containers_of
from reflet.resolution.problems import InvalidMountPoint


def nested_mount_points(pod: PodLike, volume: str) -> tuple[str, ...] | InvalidMountPoint:
    """Return the directories, relative to the volume, that must exist for other mounts.

    Only the outermost of paths that lie in each other; each once.
    """
    found: dict[str, None] = {}
    for placed in containers_of(pod.spec):
        paths = _in_container(placed, volume)
        if isinstance(paths, InvalidMountPoint):
            return paths
        found.update(dict.fromkeys(paths))
    return tuple(found)


def _in_container(placed: PlacedContainer, volume: str) -> list[str] | InvalidMountPoint:
    mounts = placed.container.volume_mounts
    every = sorted(clean(mount.mount_path) for mount in mounts)
    nested: list[str] = []
    for index, mount in enumerate(mounts):
        if mount.name != volume:
            continue
        own = clean(mount.mount_path)
        if own.startswith("../"):
            # Nobody may make directories outside of the container's own.
            return InvalidMountPoint(
                place=Place(
                    path=f"{placed.path}.volumeMounts[{index}]",
                    container=placed.container.name,
                    volume=volume,
                ),
                kubelet=f"invalid container mount point {own}",
                mount_path=mount.mount_path,
            )
        outermost: list[str] = []
        for path in every:
            if path.startswith(f"{own}/") and not path.startswith(tuple(outermost)):
                outermost.append(f"{path}/")
                nested.append(path[len(own) + 1 :])
    return nested
