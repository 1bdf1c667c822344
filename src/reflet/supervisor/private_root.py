"""The folder that a process's files live in, from its making to its removal.

Nobody else may read it, and nothing of it stays: what a run left behind that was killed is removed
by the next one.  ::

    ROOT/                    REFLET_ROOT: the mount paths begin here
    ROOT/.reflet/            0700: the files themselves
    ROOT/.reflet/owner       the process that this root belongs to
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from reflet.errors import ConfigurationError
from reflet.processes.process_table import ProcessIdentity
from reflet.volumes import folders
from reflet.volumes.mounts import NoMemoryFolder, memory_backed_root
from reflet.volumes.tear_down import Kept, remove_tree

OWN: Final = ".reflet"
OWNER: Final = "owner"
NAME: Final = "run"


@dataclass(frozen=True, slots=True)
class PrivateRoot:
    """A root that is there.  ``on_disk`` says, in words, why it is not in memory."""

    path: Path
    on_disk: str = ""

    @property
    def own(self) -> Path:
        """The folder of the files themselves, which mount paths lead to."""
        return self.path / OWN

    @property
    def runs_programs(self) -> bool:
        """Whether a file here can be run; many places in memory are mounted so that none can."""
        # Where the system has no name for it, there is no such place in memory either.
        return not os.statvfs(self.path).f_flag & getattr(os, "ST_NOEXEC", 0)


@contextmanager
def private_root(given: Path | None, left: list[Kept]) -> Iterator[PrivateRoot]:
    """Make a root for the length of the block.

    *given* has to be new, empty, or what a run that was killed left behind; without it the root
    is in memory, or on disk where there is no such place.  What could not be removed at the end
    is put into *left*.
    """
    root = _made_at(given) if given is not None else _made_somewhere()
    existed = given is not None and root.path.exists()
    try:
        _claim(root.path)
        yield root
    finally:
        left += _emptied(root.path)
        if not existed and not left:
            root.path.rmdir()


def _made_somewhere() -> PrivateRoot:
    own = _own_identity()
    made = memory_backed_root(f"{NAME}-{own.pid}-{own.start}")
    if isinstance(made, NoMemoryFolder):
        return PrivateRoot(Path(tempfile.mkdtemp(prefix="reflet-run-")), on_disk=made.reason)
    _remove_left_behind(made.parent, made.name.removesuffix(f"{own.pid}-{own.start}"))
    return PrivateRoot(made)


def _made_at(given: Path) -> PrivateRoot:
    path = Path(os.path.abspath(given))  # noqa: PTH100 - links stay: the user named this path
    try:
        names = os.listdir(path) if path.exists() else []  # noqa: PTH208 - names only
        if names and (owner := _owner_of(path)) is None:
            raise ConfigurationError(
                f"--root {given} is not empty, and everything in it would be removed at the end: "
                "name a new or an empty folder"
            )
        if names and owner is not None and owner.is_running():
            raise ConfigurationError(
                f"--root {given} is in use by process {owner.pid}: name another folder"
            )
        _emptied(path)
    except OSError as error:
        raise ConfigurationError(f"--root {given}: {(error.strerror or '').lower()}") from error
    return PrivateRoot(path)


def _claim(path: Path) -> None:
    try:
        folders.make_path(path)
        folders.make_path(path / OWN)
        (path / OWN / OWNER).write_text(f"{_own_identity()}\n")
    except OSError as error:
        where = error.filename or path
        raise ConfigurationError(f"{where}: {(error.strerror or '').lower()}") from error


def _remove_left_behind(place: Path, prefix: str) -> None:
    """Remove the roots of runs that ended without removing theirs."""
    for path in place.glob(f"{prefix}*"):
        owner = _owner_of(path)
        if owner is None or owner.is_running() or path.is_symlink():
            continue
        try:
            if not _emptied(path):
                path.rmdir()
        except FileNotFoundError:
            continue  # another run does the same


def _owner_of(path: Path) -> ProcessIdentity | None:
    """The process that a folder says it belongs to; None when it says nothing."""
    try:
        return ProcessIdentity.parse((path / OWN / OWNER).read_text())
    except (OSError, ValueError):
        return None


def _own_identity() -> ProcessIdentity:
    own = ProcessIdentity.of(os.getpid())
    if own is None:
        raise ConfigurationError("this process is not in the process table: reflet run needs /proc")
    return own


def _emptied(path: Path) -> tuple[Kept, ...]:
    """Remove everything in a folder, the mark of its owner last; return what could not be."""
    if not path.exists():
        return ()
    kept: list[Kept] = []
    with folders.opened(path) as folder:
        names = folders.names_in(folder)
        for name in sorted(names, key=lambda name: name == OWN):
            if folders.is_folder(folder, name):
                kept += remove_tree(folder, name)
            else:
                folders.unlink(folder, name)
    return tuple(kept)
