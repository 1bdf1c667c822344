"""Where a pod's volumes and containers live on disk, as the kubelet lays them out.

::

    pods/UID/volumes/kubernetes.io~configmap/NAME      and ~secret, ~downward-api, ~projected,
                                                       ~empty-dir
    pods/UID/volume-subpaths/VOLUME/CONTAINER/INDEX
    pods/UID/containers/NAME
    pods/UID/etc-hosts

``pods/UID`` is the gate: nobody but its owner, and a group that is admitted, gets past it.
Behind it, modes are the kubelet's.

Upstream: pkg/kubelet/kubelet_getters.go
Upstream: pkg/kubelet/kubelet_volumes.go, removeOrphanedPodVolumeDirs
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

from reflet.volumes import folders, tear_down
from reflet.volumes.atomic_writer import remove_versions
from reflet.volumes.mounts import mounted_below, read_mounts
from reflet.volumes.ownership import FOLDER_MODE, Ownership
from reflet.volumes.tear_down import Kept
from reflet.volumes.volume_errors import InvalidPath, VolumeError, in_folder

PLUGINS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "configMap": "kubernetes.io~configmap",
        "secret": "kubernetes.io~secret",
        "downwardAPI": "kubernetes.io~downward-api",
        "projected": "kubernetes.io~projected",
        "emptyDir": "kubernetes.io~empty-dir",
    }
)
"""The folders of the kinds of volumes."""

MEMORY_KINDS: Final = frozenset({"secret", "downwardAPI", "projected"})
"""The kinds whose files must not reach a disk."""

_WRITTEN: Final = frozenset(name for kind, name in PLUGINS.items() if kind != "emptyDir")
_ANYBODY: Final = 0o777
_PASSAGE: Final = 0o711
_GATE: Final = 0o750


class PodDirectories:
    """The folders of pods below *root*, which is made, 0700, when the first pod needs it.

    Where there is a *memory_root*, a folder on a file system in memory, Secrets, downward API
    files and projected volumes live below that, in the same layout.

    Names that are not one plain name of a folder are refused with InvalidPath.

    - *name*: name of the volume or container
    - *volume*: name of the volume
    - *container*: name of the container
    - *index*: position of the mount in the container's spec
    - *kind*: as in a pod's spec: ``configMap``, ``emptyDir``, …
    """

    def __init__(self, root: Path, *, memory_root: Path | None = None) -> None:
        self.root = root
        self.memory_root = memory_root

    def __repr__(self) -> str:
        return f"<PodDirectories {self.root}>"

    # Where things are

    def pod(self, uid: str) -> Path:
        """The folder of a pod."""
        return self.root / "pods" / _plain(uid)

    def volume(self, uid: str, kind: str, name: str) -> Path:
        """The folder of a volume; *kind* as in a pod's spec: ``configMap``, ``emptyDir``, …"""
        plugin = PLUGINS.get(kind)
        if plugin is None:
            raise InvalidPath(f"volume {name}: no folder for a volume of kind {kind or '(none)'}")
        return self._root_of(kind) / "pods" / _plain(uid) / "volumes" / plugin / _plain(name)

    def container(self, uid: str, name: str) -> Path:
        """The folder of a container's own files, its termination message for one."""
        return self.pod(uid) / "containers" / _plain(name)

    def sub_path(
        self, uid: str, volume: str, container: str, index: int, *, kind: str = ""
    ) -> Path:
        """Where what a mount with a sub-path showed at the container's start is kept.

        *kind* is that of the volume: parts of a Secret stay in memory as the whole does.
        """
        pod = self._root_of(kind) / "pods" / _plain(uid)
        return pod / "volume-subpaths" / _plain(volume) / _plain(container) / str(index)

    def etc_hosts(self, uid: str) -> Path:
        """The pod's hosts file."""
        return self.pod(uid) / "etc-hosts"

    def uids(self) -> tuple[str, ...]:
        """The pods that have a folder, sorted."""
        found: set[str] = set()
        for pods in self._pod_folders():
            try:
                with in_folder(pods), folders.opened(pods) as here:
                    names = folders.names_in(here)
                    found.update(name for name in names if folders.is_folder(here, name))
            except VolumeError as error:
                if not isinstance(error.__cause__, FileNotFoundError):
                    raise
        return tuple(sorted(found))

    # Making

    def make_pod(self, uid: str, *, group: int | None = None) -> Path:
        """Make a pod's folder, closed to all others; members of *group* may enter, not write.

        VolumeError when the group cannot be given.
        """
        for root in self._roots():
            pod = root / "pods" / _plain(uid)
            with in_folder(pod):
                folders.make_path(pod)
                if group is not None:
                    _admit(root, pod, group)
        return self.pod(uid)

    def make_volume(self, uid: str, kind: str, name: str, *, group: int | None = None) -> Path:
        """Make the folder of a volume; an ``emptyDir`` is writable for all who can reach it.

        With *group*, an ``emptyDir`` belongs to it, where the system allows that.
        """
        path = self.volume(uid, kind, name)
        self.make_pod(uid)
        with in_folder(path):
            folders.make_path(path, mode=FOLDER_MODE)
            if kind == "emptyDir":
                with folders.opened(path) as here:
                    folders.set_mode(here, ".", _ANYBODY)
                    ownership = Ownership(group)
                    ownership.open_folder(here)
        return path

    def make_container(self, uid: str, name: str) -> Path:
        """Make the folder of a container's own files."""
        path = self.container(uid, name)
        self.make_pod(uid)
        with in_folder(path):
            folders.make_path(path, mode=FOLDER_MODE)
        return path

    # Taking down

    def tear_down(self, uid: str) -> tuple[Kept, ...]:
        """Remove what is a pod's; the answer is what was kept, and why.

        Volumes lose what a writer made there and folders for mounts that are empty; an
        ``emptyDir`` and a container's folder are the pod's own with all that is in them.
        Anything else is somebody's, and is kept.  Links are never followed, and what something
        is mounted on is kept.  Harmless for a pod that has no folder.
        """
        return self._take_down(uid, _TakingDown.run)

    def clear(self, uid: str) -> tuple[Kept, ...]:
        """Remove what a pod's volumes hold of configuration, and copies of parts of it.

        All else of the pod stays.  The answer is what stood in the way, and why; the rules are
        those of ``tear_down``.  Harmless for a pod that has no folder.
        """
        return self._take_down(uid, _TakingDown.clear)

    def _take_down(self, uid: str, how: Callable[[_TakingDown], None]) -> tuple[Kept, ...]:
        _plain(uid)
        kept: list[Kept] = []
        for pods in self._pod_folders():
            if not pods.is_dir():
                continue
            with in_folder(pods), folders.opened(pods) as here:
                if folders.is_folder(here, uid):
                    taking = _TakingDown(here, pods, uid)
                    how(taking)
                    kept += taking.kept
        return tuple(kept)

    def _root_of(self, kind: str) -> Path:
        if self.memory_root is None or kind not in MEMORY_KINDS:
            return self.root
        return self.memory_root

    def _roots(self) -> Iterator[Path]:
        yield self.root
        if self.memory_root is not None:
            yield self.memory_root

    def _pod_folders(self) -> Iterator[Path]:
        for root in self._roots():
            yield root / "pods"


class _TakingDown:
    """One pod's folder below an open ``pods``, being taken down."""

    def __init__(self, pods: int, path: Path, uid: str) -> None:
        self.kept: list[Kept] = []
        self._pods = pods
        self._path = path
        self._uid = uid
        self._mounted = mounted_below(path.resolve(), read_mounts())
        self._real = path.resolve()

    def run(self) -> None:
        if self._is_mounted(self._uid):
            self._keep(self._uid, tear_down.MOUNTED)
            return
        for name in self._names(self._uid):
            path = f"{self._uid}/{name}"
            if name in {"containers", "volume-subpaths", "plugins"}:
                self._remove_tree(path)
            elif name == "volumes":
                self._volumes(path)
            elif name == "etc-hosts" and not self._is_folder(path):
                self._unlink(path)
            else:
                self._keep(path, "not a part of a pod's folder")
        self._remove_if_empty(self._uid)

    def clear(self) -> None:
        if self._is_mounted(self._uid):
            self._keep(self._uid, tear_down.MOUNTED)
            return
        below = self._names(self._uid)
        if "volume-subpaths" in below:
            self._remove_tree(f"{self._uid}/volume-subpaths")
        if "volumes" in below:
            path = f"{self._uid}/volumes"
            for plugin in _WRITTEN.intersection(self._names(path)):
                for name in self._names(f"{path}/{plugin}"):
                    self._written_volume(f"{path}/{plugin}/{name}")
                self._remove_if_empty(f"{path}/{plugin}")

    def _volumes(self, path: str) -> None:
        for plugin in self._names(path):
            below = f"{path}/{plugin}"
            if plugin not in PLUGINS.values():
                self._keep(below, "not a kind of volume that is made here")
                continue
            for name in self._names(below):
                if plugin in _WRITTEN:
                    self._written_volume(f"{below}/{name}")
                else:
                    self._remove_tree(f"{below}/{name}")
            self._remove_if_empty(below)
        self._remove_if_empty(path)

    def _written_volume(self, path: str) -> None:
        if not self._is_folder(path):
            self._keep(path, "not a folder")
            return
        if self._is_mounted(path):
            self._keep(path, tear_down.MOUNTED)
            return
        with folders.opened_below(self._pods, path) as volume:
            for left in remove_versions(volume):
                below = f"{path}/{left.path}"
                if self._has_mounts(below):
                    self._keep(below, tear_down.MOUNTED)
                elif not tear_down.remove_empty(volume, left.path):
                    self._keep(below, left.reason)
        self._remove_if_empty(path)

    def _remove_tree(self, path: str) -> None:
        if not self._is_folder(path):
            self._keep(path, "not a folder")
            return
        for left in tear_down.remove_tree(self._pods, path, is_mounted=self._is_mounted):
            self._keep(left.path, left.reason)

    def _unlink(self, path: str) -> None:
        above, _, name = path.rpartition("/")
        with folders.opened_below(self._pods, above) as here:
            folders.unlink(here, name)

    def _remove_if_empty(self, path: str) -> None:
        above, _, name = path.rpartition("/")
        with folders.opened_below(self._pods, above) as here:
            if folders.is_folder(here, name) and not self._names(path):
                folders.remove_folder(here, name)

    def _names(self, path: str) -> list[str]:
        if not self._is_folder(path):
            self._keep(path, "not a folder")
            return []
        with folders.opened_below(self._pods, path) as here:
            return folders.names_in(here)

    def _is_folder(self, path: str) -> bool:
        above, _, name = path.rpartition("/")
        with folders.opened_below(self._pods, above) as here:
            return folders.is_folder(here, name)

    def _is_mounted(self, path: str) -> bool:
        return self._real / path in self._mounted

    def _has_mounts(self, path: str) -> bool:
        real = self._real / path
        return any(mount.is_relative_to(real) for mount in self._mounted)

    def _keep(self, path: str, reason: str) -> None:
        kept = Kept(str(self._path / path), reason)
        if kept not in self.kept:
            self.kept.append(kept)


def _plain(name: str) -> str:
    if name in {"", ".", ".."} or "/" in name or "\0" in name:
        raise InvalidPath(f"not a name of a folder: {name!r}")
    return name


def _admit(root: Path, pod: Path, group: int) -> None:
    """Let a group pass through to a pod's folder, and see nothing else on the way."""
    for passage in (root, pod.parent):
        facts = passage.lstat()
        private = stat.S_IMODE(facts.st_mode) == folders.PRIVATE
        if private and facts.st_uid == os.geteuid():
            passage.chmod(_PASSAGE)
    with folders.opened(pod) as here:
        folders.set_owner(here, ".", group=group)
        folders.set_mode(here, ".", _GATE)
