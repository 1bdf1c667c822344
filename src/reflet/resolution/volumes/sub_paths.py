"""Sub-paths of mounts: the part of a volume that a container sees.

A sub-path is looked up once, when the container starts.  What it shows never changes during the
life of the container, whatever happens to the volume.  No file system is looked at.
``nested_mount_points`` are the directories that other mounts need inside a volume.

Upstream: pkg/kubelet/kubelet_pods.go, makeMounts; pkg/volume/util/nested_volumes.go,
GetNestedMountpoints
"""

import posixpath
from collections.abc import Mapping

from reflet.api.core.containers import VolumeMount
from reflet.gotext.paths import clean
from reflet.resolution.environment.expansion import OversizedExpansion, expand
from reflet.resolution.places import Place, PlacedContainer, PodLike, containers_of
from reflet.resolution.problems import InvalidMountPoint, InvalidSubPath, MissingSubPathVariables
from reflet.resolution.volumes.file_contents import FileContent, VolumeContents


def sub_path_of(
    mount: VolumeMount, variables: Mapping[str, str], *, place: Place | None = None
) -> str | MissingSubPathVariables | InvalidSubPath:
    """Return the part of the volume that is mounted; empty for all of it.

    ``variables`` is the finished environment; one that is missing or empty is an error.
    """
    where = place or Place(volume=mount.name)
    path = mount.sub_path
    if mount.sub_path_expr:
        try:
            expanded = expand_sub_path(mount.sub_path_expr, variables, place=where)
        except OversizedExpansion as error:
            text = f"unable to provision SubPath `{mount.sub_path_expr}`: {error}"
            return InvalidSubPath(place=where, kubelet=text, sub_path=mount.sub_path_expr)
        if not isinstance(expanded, str):
            return expanded
        path = expanded
    # As it was written: what a variable holds may be a secret, which the kubelet would tell.
    written = mount.sub_path_expr or path
    if path.startswith("/"):
        text = f"error SubPath `{written}` must not be an absolute path"
    elif ".." in path.split("/"):
        text = f"unable to provision SubPath `{written}`: must not contain '..'"
    else:
        return path
    return InvalidSubPath(place=where, kubelet=text, sub_path=written)


def expand_sub_path(
    expression: str, variables: Mapping[str, str], *, place: Place | None = None
) -> str | MissingSubPathVariables:
    """Return the expression with its variables replaced; raises OversizedExpansion."""
    missing: set[str] = set()

    def lookup(name: str) -> str:
        value = variables.get(name, "")
        if not value:
            missing.add(name)
        return value

    path = expand(expression, lookup)
    if not missing:
        return path
    names = tuple(sorted(missing))
    return MissingSubPathVariables(
        place=place or Place(), kubelet=f"missing value for {', '.join(names)}", names=names
    )


def clean_sub_path(sub_path: str) -> str:
    """Return a valid sub-path as short as it can be; empty for all of the volume."""
    cleaned = posixpath.normpath(sub_path) if sub_path else ""
    return "" if cleaned == "." else cleaned


def fixed_files(contents: VolumeContents, sub_path: str) -> Mapping[str, FileContent]:
    """Return what a mount with a clean sub-path shows: files by their path below it.

    A single file has the empty path.
    """
    by_path = {posixpath.normpath(path): file for path, file in contents.files.items()}
    if sub_path in by_path:
        return {"": by_path[sub_path]}
    folder = f"{sub_path}/"
    return {
        path.removeprefix(folder): file for path, file in by_path.items() if path.startswith(folder)
    }


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
