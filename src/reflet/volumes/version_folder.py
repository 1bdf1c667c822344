"""One version of a volume's files on disk: named, written, read.

Owns: a version's folder from its first to its last file.  Must not know which version counts,
nor who reads it.

Until everything in it is finished, a version's folder can be entered by nobody else.
"""

from __future__ import annotations

import os
import re
import secrets
import stat
from collections.abc import Callable
from datetime import datetime
from typing import Final

from reflet.resolution.file_contents import FileContent
from reflet.volumes import folders
from reflet.volumes.ownership import Ownership
from reflet.volumes.payload_paths import Layout
from reflet.volumes.version_tree import Tree, TreeNode

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
            folders.make_folder(here, last)
            ownership.take_folder(here, last)
        for path in sorted(layout.files):
            above, last = _split(path)
            file, here = layout.files[path], walk.at(above)
            folders.write_file(here, last, file.data, durable=durable)
            ownership.take_file(here, last, file.mode, file.user)
        if durable:
            for path in (*layout.folders, ""):
                folders.settle(walk.at(path))
    ownership.take_folder(folder, name)


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
