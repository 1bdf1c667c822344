"""The sidecar is killed at every change of the disk: the next start puts everything in order.

A child publishes, and kills itself before the change of a given number, or in the middle of one
that writes bytes.  Then another life begins, with the objects that there are by then: those of
before, those of after, or none.  No file of ours is forgotten, no file of others is lost, and no
reader ever sees a part of a file.
"""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest

from reflet.sidecar.file_owners import Owner
from reflet.sidecar.files import folder_writes, ledger, publishing
from reflet.volumes import folders
from tests.unit.sidecar.scenes import A, B, Disk

CHANGING: Final = {"makedirs", "mkdir", "open", "write", "rename", "unlink", "fchmod", "symlink"}
MOST_CHANGES: Final = 200
MODE: Final = 0o640
Objects = Mapping[Owner, Mapping[str, str]]
"""What each object wants at which path; a path that begins with a slash is outside the folder."""


class DyingSystem:
    """The system's calls, of which the change of number *last* is the end."""

    def __init__(self, last: int) -> None:
        self._left = last

    def __getattr__(self, name: str) -> Any:
        real = getattr(os, name)
        if name not in CHANGING:
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
    """Do it in a child that is killed before the change of that number."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            dying = DyingSystem(last)
            for module in (folders, folder_writes, ledger, publishing):
                vars(module)["os"] = dying  # the child's own world
            action()
            code = 0
        finally:
            os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code in {0, -signal.SIGKILL}
    return code == 0


@dataclass(frozen=True)
class Scene:
    """The objects before and after, and files of somebody else."""

    before: Objects
    after: Objects
    theirs: Mapping[str, str] = field(default_factory=dict)


SCENES: Final = {
    "the first files": Scene({}, {A: {"f": "1", "sub/g": "2"}, B: {"h": "3"}}),
    "other bytes": Scene({A: {"f": "1", "g": "1"}}, {A: {"f": "2", "g": "2"}}),
    "a key is renamed": Scene({A: {"f": "1"}}, {A: {"g": "1"}}),
    "an object moves to another folder": Scene({A: {"x/f": "1"}}, {A: {"y/f": "1"}}),
    "two objects swap": Scene(
        {A: {"x/f": "a"}, B: {"y/f": "b"}}, {A: {"y/f": "a"}, B: {"x/f": "b"}}
    ),
    "an owner changes": Scene({A: {"f": "a"}, B: {"f": "b"}}, {A: {"f": "a"}}),
    "everything goes": Scene({A: {"f": "1"}, B: {"g": "1"}}, {}),
    "a file of others is in the way": Scene({}, {A: {"f": "ours", "g": "1"}}, {"f": "theirs"}),
    "all files are elsewhere": Scene({A: {"/else/f": "1"}}, {A: {"/else/g": "2"}}),
    "the folder comes later": Scene({A: {"/else/f": "1"}}, {A: {"/else/f": "2"}, B: {"g": "1"}}),
}


def wanted(disk: Disk, objects: Objects) -> dict[str, str]:
    """The files of the winners, as ``Disk.files`` calls them."""
    found: dict[str, str] = {}
    for owner in sorted(objects):
        for name, text in objects[owner].items():
            found[str(Path(disk.path(name)).relative_to(disk.root))] = text
    return found


def live(disk: Disk, objects: Objects) -> None:
    """One whole life: read the ledger, then have exactly these objects."""
    disk.born()
    paths: set[str] = set()
    for path in disk.table:
        claim = disk.table.wanted(path)
        if claim is not None and claim.owner not in objects:
            paths |= disk.table.remove(claim.owner)
    for owner, contents in objects.items():
        paths |= disk.table.replace(owner, {disk.path(name): t for name, t in contents.items()})
    disk.publish(paths)


def prepared(root: Path, scene: Scene) -> Disk:
    if root.exists():
        shutil.rmtree(root)
    root.mkdir()
    disk = Disk(root, DEFAULT_FILE_MODE=f"{MODE:o}")
    if scene.before:
        live(disk, scene.before)
    for name, text in scene.theirs.items():
        path = Path(disk.path(name))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return disk


@pytest.mark.story
@pytest.mark.parametrize("scene", SCENES.values(), ids=SCENES.keys())
def test_a_kill_at_every_change_is_repaired_by_the_next_start(tmp_path: Path, scene: Scene) -> None:
    for last in range(MOST_CHANGES):
        disk = prepared(tmp_path / "root", scene)
        theirs = wanted(disk, {A: scene.theirs})
        old, new = {**wanted(disk, scene.before), **theirs}, wanted(disk, scene.after)
        survived = survives(partial(live, disk, scene.after), last)

        seen = disk.files
        for path, text in seen.items():
            assert text in {old.get(path), new.get(path)}, f"killed at change {last}: {path}"
            if theirs.get(path) != text:
                assert (disk.root / path).stat().st_mode & 0o777 == MODE, f"killed at {last}"
        for path in old.keys() & new.keys():
            assert path in seen, f"killed at change {last}: {path} is gone"
        # What was never overwritten is still theirs.
        kept = {path: text for path, text in theirs.items() if seen.get(path) == text}
        for objects in (scene.after, scene.before, {}):
            check_next_life(tmp_path, objects, kept, f"killed at change {last}")
        if survived:
            break

    assert survived
    assert last >= 3


def check_next_life(folder: Path, objects: Objects, kept: Mapping[str, str], when: str) -> None:
    """A start in what a killed life left, with these objects, has exactly their files."""
    saved = folder / "saved"
    shutil.copytree(folder / "root", saved)
    disk = Disk(folder / "root")
    live(disk, objects)

    now = wanted(disk, objects)
    assert disk.files == {**kept, **now}, when
    assert not [name for name in disk.hidden if name.endswith(".tmp")], when
    assert bool(now) == any(name.startswith(".reflet-sidecar") for name in disk.hidden), when
    shutil.rmtree(folder / "root")
    saved.rename(folder / "root")


def test_a_second_kill_during_the_repair_is_repaired_too(tmp_path: Path) -> None:
    scene = SCENES["an object moves to another folder"]
    for first in range(0, 15, 3):
        for second in range(0, 12, 4):
            disk = prepared(tmp_path / "root", scene)
            survives(partial(live, disk, scene.after), first)
            survives(partial(live, disk, {}), second)

            live(disk, scene.after)

            assert disk.files == wanted(disk, scene.after)
            assert len(disk.hidden) == 1
