"""One version of a volume's files: named, written and read, and how it differs from another.

Until everything in it is finished, a version's folder can be entered by nobody else.

Upstream: pkg/volume/util/atomic_writer.go, shouldWritePayload, newTimestampDir
"""

from __future__ import annotations

import enum
import os
import re
import secrets
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from reflet.resolution.volumes.file_contents import FileContent
from reflet.volumes import folders
from reflet.volumes.case_folding import one_name, twin_of
from reflet.volumes.ownership import Ownership, file_mode, folder_mode
from reflet.volumes.payload_paths import Layout
from reflet.volumes.volume_errors import InvalidPath

_NAME: Final = re.compile(r"\.\.\d{4}(?:_\d\d){5}\.\d{1,19}")
_SUFFIXES: Final = 10**10


def is_version_name(name: str) -> bool:
    """Whether only a writer of versions, the kubelet's or ours, gives such names."""
    return _NAME.fullmatch(name) is not None


def new_version(
    folder: int, now: datetime, *, chance: Callable[[int], int] = secrets.randbelow
) -> str:
    """Make an empty, private version folder and return its name."""
    while True:
        name = f"..{now:%Y_%m_%d_%H_%M_%S}.{chance(_SUFFIXES)}"
        try:
            folders.make_folder(folder, name)
        except FileExistsError:
            continue
        return name


def write_version(
    folder: int, name: str, layout: Layout[FileContent], ownership: Ownership, *, durable: bool
) -> None:
    """Fill an empty version folder; when it returns, everybody may read what their rights allow."""
    ownership.ask_for_group(folder, name)
    with folders.opened_below(folder, name) as version, folders.FolderWalk(version) as walk:
        for path in layout.folders:
            above, last = _split(path)
            here = walk.at(above)
            with _told_apart(path, layout.folders):
                folders.make_folder(here, last)
            ownership.take_folder(here, last)
        for path in sorted(layout.files):
            above, last = _split(path)
            file, here = layout.files[path], walk.at(above)
            with _told_apart(path, (*layout.folders, *layout.files)):
                folders.write_file(here, last, file.data, durable=durable)
            ownership.take_file(here, last, file.mode, file.user)
        if durable:
            for path in (*layout.folders, ""):
                folders.settle(walk.at(path))
    ownership.take_folder(folder, name)


@contextmanager
def _told_apart(path: str, paths: Iterable[str]) -> Iterator[None]:
    """In a folder that was empty, a name is taken only if it is one with another of ours."""
    try:
        yield
    except FileExistsError as error:
        twin = twin_of(path, paths)
        if twin is None:
            raise
        raise InvalidPath(f"invalid path: {one_name(path, twin)}") from error


def read_version(folder: int, name: str) -> Tree:
    """Everything that is in a version's folder."""
    tree: dict[str, TreeNode] = {}
    with folders.opened_below(folder, name) as version, folders.FolderWalk(version) as walk:
        found = folders.facts_of(version)
        tree[""] = TreeNode(found.st_mode, found.st_uid, found.st_gid)
        waiting = [""]
        while waiting:
            path = waiting.pop()
            here = walk.at(path)
            for last in folders.names_in(here):
                below = f"{path}/{last}" if path else last
                tree[below] = node = _node(here, last)
                if stat.S_ISDIR(node.mode):
                    waiting.append(below)
    return tree


def _node(folder: int, name: str) -> TreeNode:
    found = folders.facts(folder, name)
    if found is None:
        raise FileNotFoundError(2, os.strerror(2), name)
    data = folders.read_file(folder, name) if stat.S_ISREG(found.st_mode) else None
    return TreeNode(found.st_mode, found.st_uid, found.st_gid, data)


def _split(path: str) -> tuple[str, str]:
    above, _, last = path.rpartition("/")
    return above, last


@dataclass(frozen=True, slots=True)
class TreeNode:
    """A file, folder or something else: ``mode`` says which.

    ``data`` is None for whatever is not a file that can be read, ``group`` for any group.
    """

    mode: int
    user: int
    group: int | None = None
    data: bytes | None = field(default=None, repr=False)


Tree = Mapping[str, TreeNode]
"""What is at each path; the empty path is the version's own folder."""


class TreeDifference(enum.Enum):
    """How far two trees are apart."""

    NONE = enum.auto()
    RIGHTS = enum.auto()
    """The same bytes at the same paths, with other modes or owners."""
    CONTENT = enum.auto()


def wanted_tree(layout: Layout[FileContent], *, group: int | None, user: int) -> Tree:
    """The tree that *layout* asks for, when the group can be given and *user* writes it."""
    mode = stat.S_IFDIR | folder_mode(group=group)
    tree = {path: TreeNode(mode, user, group) for path in ("", *layout.folders)}
    for path, file in layout.files.items():
        tree[path] = TreeNode(
            mode=stat.S_IFREG | file_mode(file.mode, group=group),
            user=user if file.user is None else file.user,
            group=group,
            data=file.data,
        )
    return tree


def difference(wanted: Tree, found: Tree) -> TreeDifference:
    """Tell how far what is there is from what is wanted."""
    if wanted.keys() != found.keys():
        return TreeDifference.CONTENT
    answer = TreeDifference.NONE
    for path, node in wanted.items():
        other = found[path]
        if stat.S_IFMT(node.mode) != stat.S_IFMT(other.mode) or node.data != other.data:
            return TreeDifference.CONTENT
        if (node.mode, node.user) != (other.mode, other.user) or (
            node.group is not None and node.group != other.group
        ):
            answer = TreeDifference.RIGHTS
    return answer
