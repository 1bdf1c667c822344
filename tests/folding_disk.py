"""A disk that keeps the case of names and does not tell it apart, as those of macOS."""

from __future__ import annotations

import os
from typing import Any, Final

import pytest

from reflet.volumes import folders

_FIRST: Final = ("open", "stat", "mkdir", "readlink", "unlink", "rmdir", "chown")


class FoldingDisk:
    """Stands in for ``os`` in ``volumes.folders``: a name finds what is there in another case."""

    def __getattr__(self, name: str) -> Any:
        real = getattr(os, name)
        if name not in _FIRST:
            return real

        def call(path: Any, *arguments: Any, **options: Any) -> Any:
            return real(_found(path, options.get("dir_fd")), *arguments, **options)

        return call

    def symlink(self, text: str, name: str, *, dir_fd: int) -> None:
        """Make a link."""
        os.symlink(text, _found(name, dir_fd), dir_fd=dir_fd)

    def rename(self, name: str, new: str, *, src_dir_fd: int, dst_dir_fd: int) -> None:
        """Give a name to something; what has the name in another case keeps its own."""
        old, new = _found(name, src_dir_fd), _found(new, dst_dir_fd)
        os.rename(old, new, src_dir_fd=src_dir_fd, dst_dir_fd=dst_dir_fd)


def _found(name: Any, folder: int | None) -> Any:
    if folder is None or not isinstance(name, str):
        return name
    here = os.open(".", os.O_RDONLY, dir_fd=folder)
    try:
        names = os.listdir(here)  # noqa: PTH208 - a descriptor
    finally:
        os.close(here)
    if name in names:
        return name
    return next((each for each in names if each.casefold() == name.casefold()), name)


def fold_case(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have volumes written to such a disk."""
    monkeypatch.setattr(folders, "os", FoldingDisk())
