"""Paths of files inside a volume: which can be written, and which folders they need.

Pure: the kubelet's rules and their texts, and what two paths that contradict each other mean.

Upstream: pkg/volume/util/atomic_writer.go, validatePath
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from reflet.gotext.paths import clean
from reflet.resolution.environment.variables import exact_bytes
from reflet.volumes.volume_errors import InvalidPath

LONGEST_PATH: Final = 4096  # bytes
LONGEST_NAME: Final = 255  # bytes

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Layout(Generic[T]):
    """Files by their clean path, the folders that they lie in, and the names at the top.

    Folders come before what lies in them.
    """

    files: Mapping[str, T]
    folders: tuple[str, ...]
    names: tuple[str, ...]


def laid_out(files: Mapping[str, T]) -> Layout[T]:
    """Return where every file goes; InvalidPath when one of them can go nowhere.

    Of two paths that are one when they are clean, the later counts.
    """
    placed: dict[str, T] = {}
    folders: dict[str, None] = {}
    for path, file in files.items():
        clean_path = valid_path(path)
        placed.pop(clean_path, None)
        placed[clean_path] = file
    for path in placed:
        folders.update(dict.fromkeys(_parents(path)))
    for path in placed:
        if path in folders:
            raise InvalidPath(
                f"invalid path: {_shown(path)} is a file and a folder at the same time"
            )
    names = dict.fromkeys(path.partition("/")[0] for path in placed)
    return Layout(files=placed, folders=tuple(sorted(folders)), names=tuple(names))


def valid_path(path: str) -> str:
    """Return the clean form of a path, as the file system takes it; InvalidPath for a bad one."""
    problem = problem_with(path)
    if problem:
        raise InvalidPath(problem)
    # Exactly the bytes of the object's UTF-8, whatever the locale makes of names.
    return os.fsdecode(exact_bytes(clean(path)))


def problem_with(path: str) -> str:
    """Return what the kubelet says to a path, empty when it takes it."""
    if not path:
        return 'invalid path: must not be empty: ""'
    shown = _shown(path)
    if path.startswith("/"):
        return f"invalid path: must be relative path: {shown}"
    if len(exact_bytes(path)) > LONGEST_PATH:
        return f"invalid path: must be less than or equal to {LONGEST_PATH} characters"
    for element in path.split("/"):
        if element == "..":
            return f"invalid path: must not contain '..': {shown}"
        if len(exact_bytes(element)) > LONGEST_NAME:
            return (
                f"invalid path: filenames must be less than or equal to {LONGEST_NAME} characters"
            )
    if path.startswith(".."):
        return f"invalid path: must not start with '..': {shown}"
    # What follows, the kubelet only notices when the system refuses it.
    cleaned = clean(path)
    if cleaned == ".":
        return f"invalid path: names the volume itself: {shown}"
    if cleaned.startswith(".."):
        return f"invalid path: must not start with '..': {shown}"
    if "\0" in path:
        return f"invalid path: must not contain a zero byte: {shown}"
    return ""


def _shown(path: str) -> str:
    """The path as the kubelet shows it, but in one line whatever is in it."""
    return path if path.isprintable() else repr(path)


def _parents(path: str) -> list[str]:
    elements = path.split("/")[:-1]
    return ["/".join(elements[: end + 1]) for end in range(len(elements))]
