"""One version of a volume's files as a tree: wanted, found, and how they differ."""

from __future__ import annotations

import stat
from dataclasses import replace

import pytest

from reflet.volumes.payload_paths import laid_out
from reflet.volumes.version_folders import Tree, TreeDifference, TreeNode, difference, wanted_tree
from tests.unit.volumes.scenes import file

LAYOUT = laid_out({"d/a": file("1"), "b": file("2", mode=0o600, user=7)})
WANTED = wanted_tree(LAYOUT, group=None, user=1)


def changed(path: str, **facts: object) -> Tree:
    return {**WANTED, path: replace(WANTED[path], **facts)}  # type: ignore[arg-type]  # the facts' types are the tests' own


def test_a_tree_has_every_folder_and_file() -> None:
    tree = wanted_tree(LAYOUT, group=None, user=1)

    assert tree == {
        "": TreeNode(stat.S_IFDIR | 0o755, 1),
        "d": TreeNode(stat.S_IFDIR | 0o755, 1),
        "d/a": TreeNode(stat.S_IFREG | 0o644, 1, data=b"1"),
        "b": TreeNode(stat.S_IFREG | 0o600, 7, data=b"2"),
    }


def test_a_group_adds_its_bits() -> None:
    tree = wanted_tree(LAYOUT, group=9, user=1)

    assert [stat.S_IMODE(node.mode) for node in tree.values()] == [0o2755, 0o2755, 0o644, 0o640]
    assert {node.group for node in tree.values()} == {9}


@pytest.mark.parametrize(
    ("found", "answer"),
    [
        (WANTED, TreeDifference.NONE),
        (changed("b", group=5), TreeDifference.NONE),
        (changed("b", data=b"3"), TreeDifference.CONTENT),
        (changed("b", mode=stat.S_IFREG | 0o644), TreeDifference.RIGHTS),
        (changed("b", user=1), TreeDifference.RIGHTS),
        (changed("d", mode=stat.S_IFDIR | 0o700), TreeDifference.RIGHTS),
        (changed("b", mode=stat.S_IFLNK | 0o777, data=None), TreeDifference.CONTENT),
        ({**WANTED, "extra": WANTED["b"]}, TreeDifference.CONTENT),
        ({path: WANTED[path] for path in ("", "d", "d/a")}, TreeDifference.CONTENT),
    ],
)
def test_trees_differ_by_bytes_or_by_rights(found: Tree, answer: TreeDifference) -> None:
    assert difference(WANTED, found) is answer


def test_another_group_than_the_wanted_one_is_a_difference() -> None:
    wanted = wanted_tree(LAYOUT, group=9, user=1)
    found = {**wanted, "b": replace(wanted["b"], group=8)}

    assert difference(wanted, found) is TreeDifference.RIGHTS


def test_bytes_are_not_shown() -> None:
    assert "hunter2" not in repr(TreeNode(0, 0, data=b"hunter2"))
