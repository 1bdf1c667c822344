"""What is mounted where, as the kernel tells it.

Owns: reading the table of mounts.  Must not know what is done about them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

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
