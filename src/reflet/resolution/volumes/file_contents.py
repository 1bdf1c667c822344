"""Files of volumes as data: bytes, mode, owner and origin.  No representation shows contents.

Also whom the files belong to: the group of the pod's volumes, and the user that all its containers
have in common.

Upstream: pkg/volume/util/atomic_writer.go, FileProjection; pkg/volume/util/util.go, FsUserFrom
"""

from collections.abc import Mapping
from typing import Any, Literal

from msgspec import structs

from reflet.api.core.pods import Pod
from reflet.api.frozen import EMPTY, Frozen
from reflet.api.meta import Hidden
from reflet.resolution.origins import Origin
from reflet.resolution.places import containers_of
from reflet.resolution.problems import Problem

VolumeKind = Literal["configMap", "secret", "downwardAPI", "projected", ""]
"""The kinds of volumes that can be filled; empty for every other kind."""


class FileContent(Frozen, frozen=True, kw_only=True):
    """One file: what it holds, with which mode, and where that came from.

    ``user`` owns the file, if not the writing process.  ``shadows`` are the origins that the same
    path had before, the nearest first.  A file that is not ``known`` is empty here and will be
    something else in a running pod.
    """

    data: bytes
    mode: int
    origin: Origin
    sensitive: bool = False
    user: int | None = None
    shadows: tuple[Origin, ...] = ()
    known: bool = True

    def _presentable(self) -> "FileContent":
        hidden: Any = Hidden("secret" if self.sensitive else "file", len(self.data))
        return structs.replace(self, data=hidden)

    def __repr__(self) -> str:
        return Frozen.__repr__(self._presentable())

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        return Frozen.__rich_repr__(self._presentable())


class VolumeContents(Frozen, frozen=True, kw_only=True):
    """What a volume is to hold: files by their path, as the pod names it.

    ``error`` is what the kubelet says when it refuses the volume, and the files are then those
    that could be told.  Files belong to ``fs_group`` if there is one; with ``in_memory``, they
    must not reach a disk.  Paths are not checked: that is for who writes them.
    """

    volume: str
    kind: VolumeKind = ""
    files: Mapping[str, FileContent] = EMPTY
    problems: tuple[Problem, ...] = ()
    error: str | None = None
    fs_group: int | None = None
    user: int | None = None
    in_memory: bool = False

    @property
    def size(self) -> int:
        """The bytes of all files together."""
        return sum(len(file.data) for file in self.files.values())


class Filling(Frozen, frozen=True, kw_only=True):
    """What one source puts into a volume: files, what is wrong, and the kubelet's errors."""

    files: Mapping[str, FileContent] = EMPTY
    problems: tuple[Problem, ...] = ()
    errors: tuple[str, ...] = ()


def put(files: dict[str, FileContent], path: str, file: FileContent) -> None:
    """Put a file at a path, over the one that is there already, which it remembers."""
    earlier = files.get(path)
    if earlier is not None:
        shadows = (*file.shadows, earlier.origin, *earlier.shadows)
        file = structs.replace(file, shadows=shadows)
    files[path] = file


def fs_group(pod: Pod) -> int | None:
    """Return the group that owns the pod's volumes, if it asks for one."""
    context = pod.spec.security_context
    return None if context is None else context.fs_group


def common_user(pod: Pod) -> int | None:
    """Return the user that every container explicitly runs as, if it is one and the same."""
    context = pod.spec.security_context
    of_pod = None if context is None else context.run_as_user
    users: set[int | None] = set()
    for placed in containers_of(pod.spec):
        own = placed.container.security_context
        users.add(of_pod if own is None or own.run_as_user is None else own.run_as_user)
    return users.pop() if len(users) == 1 else None
