"""Where a container finds its volumes, and the root file system that it finds them in.

``mount_layout`` is pure: which part of which volume is at which path, as a mount or, without a
file system of its own, as a link, and which mounts links cannot show.  ``container_root`` makes the
folders of an isolated container's root, and ``shared_paths`` says which parts of the machine are in
it: without images, the programs that pods run are the machine's.

Upstream: pkg/kubelet/kubelet_pods.go, makeMounts.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Final

from reflet.api.core.containers import Container
from reflet.api.core.pods import Pod
from reflet.errors import ConfigurationError
from reflet.gotext.paths import clean
from reflet.processes.container_plan import CAPABILITIES, BindMount, ContainerRoot
from reflet.resolution.volumes.sub_paths import sub_path_of
from reflet.volumes import folders
from reflet.volumes.mounts import memory_candidates
from reflet.volumes.tear_down import remove_tree
from reflet.volumes.volume_errors import VolumeError, in_folder

ROOT_VARIABLE: Final = "REFLET_ROOT"
"""Where a container's mount paths begin: ``$REFLET_ROOT/etc/app`` is its ``/etc/app``."""

USUAL_MESSAGE_PATH: Final = "/dev/termination-log"

STAGING: Final = "root"
SCRATCH: Final = "tmp"
SCRATCH_MODE: Final = 0o1777
LONGEST_HOST_NAME: Final = 63  # the kubelet cuts it there
SYSTEM: Final = (
    *("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix"),
    # Of /etc, what programs of any kind look for; not what concerns this machine alone.
    *(
        f"/etc/{name}"
        for name in (
            *("alternatives", "ca-certificates", "crypto-policies", "fonts", "gai.conf", "group"),
            *("host.conf", "hosts", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime"),
            *("mime.types", "nsswitch.conf", "os-release", "passwd", "pki", "protocols"),
            *("resolv.conf", "services", "ssl", "timezone"),
        )
    ),
)
"""Without images, commands are the machine's: this is what they need to run."""
Shared = tuple[tuple[str, bool], ...]
"""Paths of the machine that containers see, and whether they may be written to."""


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


@dataclass(frozen=True, slots=True)
class MountSource:
    """What a mount shows: what is *beneath* a folder, empty for all of it.

    *path* is where it is seen, relative to the container's root.  Whoever mounts it opens it once
    more beneath the folder, without following links: a container may move what it has.
    """

    folder: Path
    beneath: str = field(repr=False)  # a variable of a sub-path may hold a secret
    path: str
    read_only: bool


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


def shared_paths(named: Iterable[str], root: Path) -> Shared:
    """What containers see, from the words of ``--share``: ``PATH``, ``PATH:rw`` or ``none``.

    Without ``none`` the system's folders are there as well, as far as this machine has them.
    Raises ConfigurationError for a path that cannot be shared; *root* is where all pods are.
    """
    words = list(named)
    system = () if "none" in words else SYSTEM
    shared = {path: False for path in system if os.path.lexists(path)}
    for word in words:
        if word != "none":
            path, colon, how = word.partition(":")
            if colon and how not in {"ro", "rw"}:
                raise ConfigurationError(f"--share {word}: behind the colon is 'ro' or 'rw'")
            _check_shared(word, path, root)
            shared[path.rstrip("/")] = how == "rw"
    # Outer ones first: what lies in another is mounted on it.
    return tuple(sorted(shared.items(), key=lambda each: each[0].count("/")))


def _check_shared(word: str, path: str, root: Path) -> None:
    if not path.startswith("/") or not os.path.lexists(path):
        raise ConfigurationError(f"--share {word}: there is no such path here")
    real = Path(path).resolve()
    for place in (root, *memory_candidates(os.environ, os.geteuid())):
        if place.resolve().is_relative_to(real):
            raise ConfigurationError(f"--share {word}: volumes of all pods are in it, in {place}")
    if real.is_relative_to("/proc") or real.is_relative_to("/dev"):
        raise ConfigurationError(f"--share {word}: containers have one of their own")


def mounts_of(
    sources: Iterable[MountSource], message_path: str, message_file: Path
) -> tuple[BindMount, ...]:
    """What is mounted in a container's root: its volumes, and the file for its last word."""
    mounts = [
        BindMount(
            folder=str(each.folder),
            beneath=each.beneath,
            path=f"/{each.path}",
            read_only=each.read_only,
        )
        for each in sources
    ]
    if message_path:
        last_word = BindMount(folder=str(message_file), path=f"/{message_path}", read_only=False)
        mounts.append(last_word)
    return tuple(mounts)


def container_root(
    pod: Pod,
    container: Container,
    folder: Path,
    *,
    shared: Shared,
    mounts: Sequence[BindMount],
) -> ContainerRoot:
    """Make the folders for a start, empty ones, and say what is to be seen in the root."""
    with in_folder(folder), folders.opened(folder) as here:
        for name in (STAGING, SCRATCH):
            if folders.facts(here, name) is not None:
                kept = remove_tree(here, name)
                if kept:
                    raise VolumeError(f"the scratch folder of {container.name}: {kept[0].reason}")
            folders.make_folder(here, name)
        folders.set_mode(here, SCRATCH, SCRATCH_MODE)
    context = container.security_context
    return ContainerRoot(
        host_name=(pod.spec.hostname or pod.metadata.name)[:LONGEST_HOST_NAME].rstrip("-."),
        staging=str(folder / STAGING),
        scratch=str(folder / SCRATCH),
        shared=shared,
        mounts=tuple(mounts),
        read_only=context is not None and bool(context.read_only_root_filesystem),
    )


def capabilities_of(container: Container) -> tuple[int, ...]:
    """What root in a container may: what container runtimes give, but for what it drops."""
    context = container.security_context
    dropped = (
        set()
        if context is None or context.capabilities is None
        else {name.upper().removeprefix("CAP_") for name in context.capabilities.drop}
    )
    if "ALL" in dropped:
        return ()
    return tuple(number for name, number in CAPABILITIES.items() if name not in dropped)
