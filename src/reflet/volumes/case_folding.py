"""File systems that do not tell upper from lower case, as those of macOS do not.

On them two keys can be one file.  Kubernetes tells them apart, so whoever would write both refuses
the second by name, and never lets one overwrite the other in silence.
"""

from __future__ import annotations

import errno
from collections.abc import Iterable

from reflet.volumes import folders


def folded(path: str) -> str:
    """A path as such a file system compares it."""
    return path.casefold()


def one_name(path: str, kept: str) -> str:
    """Say that two paths are one."""
    return (
        f"{path} and {kept} differ only in case, which this file system does not tell apart: "
        "rename one of the two keys, or use another disk"
    )


def twin_of(path: str, paths: Iterable[str]) -> str | None:
    """The other path that is the same to such a file system, None when all differ."""
    return next((each for each in paths if each != path and folded(each) == folded(path)), None)


def stored_name(folder: int, name: str) -> str | None:
    """The name by which a folder keeps what is found under *name*; None when nothing is.

    It is another one only on a file system that folds case.
    """
    found = folders.facts(folder, name)
    if found is None:
        return None
    other = folders.facts(folder, name.swapcase())
    if other is None or (other.st_dev, other.st_ino) != (found.st_dev, found.st_ino):
        return name
    names = folders.names_in(folder)
    return name if name in names else twin_of(name, names)


def refuse_twin(name: str, kept: str) -> OSError:
    """The error for a file whose name another one has that is to stay."""
    return OSError(errno.EEXIST, one_name(name, kept))
