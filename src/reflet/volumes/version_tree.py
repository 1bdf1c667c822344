"""One version of a volume's files as a tree: what is wanted, what is there, how they differ.

Owns: when two trees are the same.  Must not know the disk.
"""

from __future__ import annotations

import enum
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field

from reflet.resolution.file_contents import FileContent
from reflet.volumes.ownership import file_mode, folder_mode
from reflet.volumes.payload_paths import Layout


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


class Difference(enum.Enum):
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


def difference(wanted: Tree, found: Tree) -> Difference:
    """Tell how far what is there is from what is wanted."""
    if wanted.keys() != found.keys():
        return Difference.CONTENT
    answer = Difference.NONE
    for path, node in wanted.items():
        other = found[path]
        if stat.S_IFMT(node.mode) != stat.S_IFMT(other.mode) or node.data != other.data:
            return Difference.CONTENT
        if (node.mode, node.user) != (other.mode, other.user) or (
            node.group is not None and node.group != other.group
        ):
            answer = Difference.RIGHTS
    return answer
