"""The writer is killed at every single call of the system: readers see old or new, never half.

The writer runs in a child process whose calls go through a counter; before the call of a given
number, or in the middle of one that writes bytes, the child kills itself with a signal that
nothing can catch.  For every number until the write survives, the folder is looked at as readers
would, and the next write has to put everything in order.
"""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest

from reflet.resolution.volumes.file_contents import VolumeContents
from reflet.volumes import folder_locks, folders
from reflet.volumes.atomic_writer import AtomicWriter
from tests.unit.volumes.scenes import file, mode_of, top, version, versions, volume

READING: Final = {
    *("close", "fsdecode", "fsencode", "fstat", "lexists", "listdir", "path", "readlink", "read"),
    "stat",
}
"""Calls that change nothing: being killed at one is being killed at the next that does."""


FEWEST_CHANGES: Final = 5
"""Two folders, a mode, a link and a rename: less does not make a volume."""


class DyingSystem:
    """The system's calls, of which number *last* is the end."""

    def __init__(self, last: int) -> None:
        self._left = last

    def __getattr__(self, name: str) -> Any:
        real = getattr(os, name)
        if name in READING or not callable(real):
            return real

        def call(*arguments: Any, **options: Any) -> Any:
            if name == "open" and not arguments[1] & os.O_CREAT:
                return real(*arguments, **options)
            self._left -= 1
            if self._left < 0:
                if name == "write":
                    real(arguments[0], arguments[1][: len(arguments[1]) // 2])
                os.kill(os.getpid(), signal.SIGKILL)
            return real(*arguments, **options)

        return call


def survives(action: Callable[[], object], last: int) -> bool:
    """Do it in a child that is killed before the change of the disk of that number."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            vars(folders)["os"] = DyingSystem(last)  # the child's own world
            action()
            code = 0
        finally:
            os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code in {0, -signal.SIGKILL}
    return code == 0


View = dict[str, tuple[bytes, int]]


def view_by_names(target: Path) -> View:
    """What opening every name that can be opened gives."""
    found: View = {}
    for path in sorted(target.glob("**/*")):
        relative = str(path.relative_to(target))
        if not relative.startswith("..") and path.is_file():
            found[relative] = (path.read_bytes(), mode_of(path))
    for name in top(target):
        whole = target / name
        if not name.startswith("..") and whole.is_dir():
            for path in whole.rglob("*"):
                if path.is_file():
                    found[str(path.relative_to(target))] = (path.read_bytes(), mode_of(path))
    return found


def view_by_version(target: Path) -> View | None:
    """What following ``..data`` gives; None when there is none."""
    if not (target / "..data").is_symlink():
        return None
    inside = target / version(target)
    return {
        str(path.relative_to(inside)): (path.read_bytes(), mode_of(path))
        for path in inside.rglob("*")
        if path.is_file()
    }


def wanted(contents: VolumeContents) -> View:
    return {path: (each.data, each.mode) for path, each in contents.files.items()}


@dataclass(frozen=True)
class Scene:
    """What is there, and what is written over it."""

    before: VolumeContents | None
    after: VolumeContents


SCENES: Final = {
    "the first volume": Scene(None, volume({"a": "1", "d/b": "2"})),
    "an empty first volume": Scene(None, volume()),
    "other bytes": Scene(volume({"a": "1", "b": "1"}), volume({"a": "2", "b": "2"})),
    "names come and go": Scene(
        volume({"a": "1", "gone/x": "1"}), volume({"a": "2", "new/y/z": "2", "more": "2"})
    ),
    "a folder becomes a file": Scene(volume({"a/b": "1", "c": "1"}), volume({"a": "2"})),
    "a file becomes a folder": Scene(volume({"a": "1", "c": "1"}), volume({"a/b/c": "2"})),
    "only a mode": Scene(volume({"a": "1"}), volume({"a": file("1", mode=0o400)})),
    "everything goes": Scene(volume({"a": "1", "d/b": "1"}), volume()),
    "nothing changes": Scene(volume({"a": "1", "d/b": "1"}), volume({"a": "1", "d/b": "1"})),
}


def prepared(target: Path, scene: Scene) -> None:
    if target.exists():
        shutil.rmtree(target)
    if scene.before is not None:
        AtomicWriter(target).write(scene.before)


@pytest.mark.story
@pytest.mark.parametrize("durable", [False, True], ids=["plain", "durable"])
@pytest.mark.parametrize("scene", SCENES.values(), ids=SCENES.keys())
def test_a_kill_at_every_call_leaves_old_or_new_and_is_repaired(
    tmp_path: Path, scene: Scene, durable: bool
) -> None:
    target = tmp_path / "v"
    old: View = {} if scene.before is None else wanted(scene.before)
    new = wanted(scene.after)
    seen_new = False
    for last in range(1000):
        prepared(target, scene)
        survived = survives(lambda: AtomicWriter(target, durable=durable).write(scene.after), last)

        if target.exists():
            view, by_version = view_by_names(target), view_by_version(target)
            assert view in (old, new), f"killed at change {last}"
            assert by_version in (old, new) or (by_version is None and scene.before is None)
            # Once the new version counts, nothing brings the old one back.
            assert not (seen_new and view == old != new), f"killed at change {last}"
            seen_new = seen_new or (view == new != old)
        AtomicWriter(target).write(scene.after)
        assert view_by_names(target) == view_by_version(target) == new
        assert versions(target) == [version(target)]
        assert top(target) == {"..data", *(path.partition("/")[0] for path in new)}
        if survived:
            break

    assert survived
    # What is equal already is not touched at all.
    assert last == 0 if scene.before == scene.after else last >= FEWEST_CHANGES


@pytest.mark.parametrize("name", ["names come and go", "a folder becomes a file"])
def test_a_kill_is_repaired_by_writing_something_else_or_what_was_there(
    tmp_path: Path, name: str
) -> None:
    scene, target = SCENES[name], tmp_path / "v"
    assert scene.before is not None
    other = volume({"quite": "3", "another/one": "3"})
    for following in (scene.before, other):
        for last in range(1000):
            prepared(target, scene)
            survived = survives(lambda: AtomicWriter(target).write(scene.after), last)

            AtomicWriter(target).write(following)

            assert view_by_names(target) == view_by_version(target) == wanted(following)
            assert versions(target) == [version(target)]
            assert top(target) == {
                "..data",
                *(path.partition("/")[0] for path in following.files),
            }
            if survived:
                break


@pytest.mark.story
def test_a_second_kill_during_the_repair_is_repaired_too(tmp_path: Path) -> None:
    scene, target = SCENES["names come and go"], tmp_path / "v"
    assert scene.before is not None
    old, new = wanted(scene.before), wanted(scene.after)
    for first in range(0, 40, 3):
        for second in range(0, 40, 4):
            prepared(target, scene)
            survives(lambda: AtomicWriter(target).write(scene.after), first)
            survives(lambda: AtomicWriter(target).write(scene.after), second)
            assert view_by_names(target) in (old, new)

            AtomicWriter(target).write(scene.after)

            assert view_by_names(target) == view_by_version(target) == new
            assert versions(target) == [version(target)]


def test_a_kill_during_removal_can_be_removed_again(tmp_path: Path) -> None:
    target = tmp_path / "v"
    for last in range(1000):
        AtomicWriter(target).write(volume({"a": "1", "d/b": "2"}))
        survived = survives(lambda: AtomicWriter(target).remove(), last)

        assert AtomicWriter(target).remove() == ()
        assert not target.exists()
        if survived:
            break

    assert last >= 5


def test_nobody_is_locked_out_by_a_writer_that_was_killed(tmp_path: Path) -> None:
    target = tmp_path / "v"
    prepared(target, SCENES["other bytes"])
    assert not survives(lambda: AtomicWriter(target).write(SCENES["other bytes"].after), 3)

    with folder_locks.locked(target, create_mode=None, timeout=0):
        assert target.is_dir()
