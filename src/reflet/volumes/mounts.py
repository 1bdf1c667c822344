"""What is mounted where, as the kernel tells it, and a private place in memory among it.

The kubelet mounts a file system in memory for every Secret.  Who may not mount uses one that is
there already.  Memory can still be swapped out; whoever minds switches swap off, as the kubelet
asks for.

Upstream: mount-utils/mount_linux.go, ParseMountInfo
"""

from __future__ import annotations

import os
import re
import stat
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from reflet.runtime.platforms import HERE
from reflet.volumes import folders

TABLE: Final = Path("/proc/self/mountinfo")

_ESCAPED: Final = re.compile(r"\\([0-7]{3})")
_MOUNT_POINT: Final = 4  # fields before it
_FEWEST_FIELDS: Final = 7


@dataclass(frozen=True, slots=True)
class Mount:
    """A mount point, and the kind of file system that is mounted there."""

    path: Path
    file_system: str


def read_mounts(table: Path = TABLE) -> tuple[Mount, ...]:
    """Every mount that this process sees, later ones on top; none where there is no table."""
    try:
        text = table.read_text(errors="surrogateescape")
    except OSError:
        return ()  # a system that does not tell
    return parse_mounts(text)


def parse_mounts(text: str) -> tuple[Mount, ...]:
    """Read a table; lines that are not understood are passed over."""
    mounts: list[Mount] = []
    for line in text.splitlines():
        before, separator, after = line.partition(" - ")
        fields = before.split(" ")
        if not separator or len(fields) < _FEWEST_FIELDS - 1:
            continue
        path = _ESCAPED.sub(lambda match: chr(int(match[1], 8)), fields[_MOUNT_POINT])
        mounts.append(Mount(Path(path), after.split(" ")[0]))
    return tuple(mounts)


def mount_of(path: Path, mounts: Iterable[Mount]) -> Mount | None:
    """The mount that a path, without links, lies on."""
    best: Mount | None = None
    for mount in mounts:
        if path.is_relative_to(mount.path) and (
            best is None or len(mount.path.parts) >= len(best.path.parts)
        ):
            best = mount
    return best


def mounted_below(path: Path, mounts: Iterable[Mount]) -> frozenset[Path]:
    """The mount points at or below a path without links."""
    return frozenset(mount.path for mount in mounts if mount.path.is_relative_to(path))


IN_MEMORY: Final = frozenset({"tmpfs", "ramfs"})


@dataclass(frozen=True, slots=True)
class NoMemoryFolder:
    """There is no place in memory, and ``reason`` says what was looked at.

    - *reason*: what was looked at, and why it did not do
    """

    reason: str


def memory_candidates(environment: Mapping[str, str], user: int) -> tuple[Path, ...]:
    """Where to look, the most private place first."""
    runtime = environment.get("XDG_RUNTIME_DIR", "")
    places = [Path(runtime)] if runtime.startswith("/") else []
    places.append(Path(f"/run/user/{user}"))
    if user == 0:
        places.append(Path("/run"))
    places.append(Path("/dev/shm"))  # noqa: S108 - what is made there is private
    return tuple(dict.fromkeys(places))


def memory_backed_root(
    name: str = "",
    *,
    candidates: Sequence[Path] | None = None,
    mounts: Sequence[Mount] | None = None,
) -> Path | NoMemoryFolder:
    """Make a private folder, 0700 and ours, on a file system in memory.

    With a *name*, the folder of that name is used again when it is there and private; without
    one, it is new.  The caller removes it.

    - *candidates*: folders to try; None is the usual ones
    - *mounts*: what is mounted where; None reads it
    """
    if not HERE.memory_folders and candidates is None:
        return NoMemoryFolder(f"{HERE.name} has no file system in memory")
    user = os.geteuid()
    table = read_mounts() if mounts is None else mounts
    reasons: list[str] = []
    for place in memory_candidates(os.environ, user) if candidates is None else candidates:
        made = _folder_in(place, name, user, table)
        if isinstance(made, Path):
            return made
        reasons.append(f"{place}: {made.reason}")
    return NoMemoryFolder("no private place in memory; " + "; ".join(reasons))


def remove_empty_folders(root: Path, *, below: bool = True) -> bool:
    """Remove a folder, and those in it, as far as they hold no file; whether it is gone.

    Files are never removed, and links never followed.  Without *below*, what is in the folder of
    pods stays as it is, and the root goes when there is no pod.
    """
    if below:
        for path, names, _ in os.walk(root, topdown=False):
            for name in names:
                _remove_if_empty(Path(path, name))
    else:
        _remove_if_empty(root / "pods")
    return _remove_if_empty(root)


def _remove_if_empty(folder: Path) -> bool:
    try:
        folder.rmdir()
    except OSError:
        return not folder.exists()  # there is something in it, or it is a link, or gone
    return True


def _folder_in(place: Path, name: str, user: int, mounts: Sequence[Mount]) -> Path | NoMemoryFolder:
    try:
        real = place.resolve(strict=True)
        found = mount_of(real, mounts)
        if found is None or found.file_system not in IN_MEMORY:
            kind = "unknown" if found is None else found.file_system
            return NoMemoryFolder(f"not in memory ({kind})")
        facts = real.stat()
        if facts.st_mode & stat.S_IWOTH and not facts.st_mode & stat.S_ISVTX:
            return NoMemoryFolder("everybody may remove what is there")
        if not name:
            return Path(tempfile.mkdtemp(prefix="reflet-", dir=real))
        folder = real / f"reflet-{user}-{name}"
        folders.make_path(folder)
        return folder if is_private(folder, user) else NoMemoryFolder(f"{folder} is not ours")
    except OSError as error:
        return NoMemoryFolder((error.strerror or str(error)).lower())


def is_private(folder: Path, user: int) -> bool:
    """Whether it is a folder of the user that nobody else may write to."""
    facts = folder.lstat()
    open_to_others = stat.S_IMODE(facts.st_mode) & 0o022
    return stat.S_ISDIR(facts.st_mode) and facts.st_uid == user and not open_to_others
