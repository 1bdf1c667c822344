"""The root file system of a container that has namespaces of its own.

Owns: the folders that it needs on disk, and which parts of the machine every container sees.
Must not know how a root is put together, nor what is in a volume.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from reflet.api.core.containers import Container
from reflet.api.core.pods import Pod
from reflet.errors import ConfigurationError
from reflet.node.pods.pod_volumes import MountSource
from reflet.processes.container_plan import CAPABILITIES, BindMount, ContainerRoot
from reflet.volumes import folders
from reflet.volumes.mounts import memory_candidates
from reflet.volumes.tear_down import remove_tree
from reflet.volumes.volume_errors import VolumeError, in_folder

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
