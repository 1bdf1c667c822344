"""What holds for every sequence of volumes that are written to one folder, and for its readers."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from reflet.resolution.volumes.file_contents import FileContent, VolumeContents
from reflet.volumes.atomic_writer import AtomicWriter
from reflet.volumes.payload_paths import laid_out
from reflet.volumes.volume_errors import InvalidPath
from tests.unit.volumes.scenes import file, mode_of, top, version, versions, volume

NAMES = st.sampled_from(["a", "b", "c", ".d", "e..f", "é", "x y", "\udc80"])
PATHS = st.lists(NAMES, min_size=1, max_size=3).map("/".join)
FILES = st.builds(
    file,
    st.binary(max_size=40),
    mode=st.sampled_from([0o400, 0o440, 0o600, 0o644, 0o777]),
)
A_DISK_TAKES_ITS_TIME = settings(deadline=None)
VOLUMES = st.dictionaries(PATHS, FILES, max_size=5).map(volume)


def is_writable(contents: VolumeContents) -> bool:
    """Whether no path is a file and a folder at once."""
    try:
        laid_out(contents.files)
    except InvalidPath:
        return False
    return True


def facts(files: dict[str, FileContent]) -> dict[str, tuple[bytes, int]]:
    return {path: (each.data, each.mode) for path, each in files.items()}


def on_disk(target: Path) -> dict[str, tuple[bytes, int]]:
    """Every file that can be reached by a visible name."""
    found = {}
    for name in top(target) - {"..data"}:
        whole = target / name
        for path in [whole, *whole.rglob("*")] if whole.is_dir() else [whole]:
            if path.is_file():
                found[str(path.relative_to(target))] = (path.read_bytes(), mode_of(path))
    return found


@contextlib.contextmanager
def folder() -> Iterator[Path]:
    path = Path(tempfile.mkdtemp())
    try:
        yield path
    finally:
        shutil.rmtree(path)


@A_DISK_TAKES_ITS_TIME
@given(sequence=st.lists(VOLUMES.filter(is_writable), min_size=1, max_size=5))
def test_the_folder_ends_equal_to_the_last_volume(sequence: list[VolumeContents]) -> None:
    with folder() as target:
        for contents in sequence:
            AtomicWriter(target).write(contents)

            assert on_disk(target) == facts(dict(contents.files))
            assert versions(target) == [version(target)]
            assert top(target) == {"..data", *(path.partition("/")[0] for path in contents.files)}


@A_DISK_TAKES_ITS_TIME
@given(contents=VOLUMES.filter(is_writable))
def test_writing_the_same_again_changes_nothing(contents: VolumeContents) -> None:
    with folder() as target:
        first = AtomicWriter(target).write(contents)
        before = version(target)

        assert (first, AtomicWriter(target).write(contents)) == (True, False)
        assert version(target) == before


@A_DISK_TAKES_ITS_TIME
@given(contents=VOLUMES, other=VOLUMES.filter(is_writable))
def test_what_is_refused_touches_nothing(contents: VolumeContents, other: VolumeContents) -> None:
    with folder() as target:
        AtomicWriter(target).write(other)
        before = on_disk(target)
        try:
            AtomicWriter(target).write(contents)
        except InvalidPath:
            assert on_disk(target) == before
        else:
            assert on_disk(target) == facts(dict(contents.files))


LARGE = 40_000  # bytes: more than a reader takes at once


def numbered(number: int) -> VolumeContents:
    """A volume whose every part says which one it is; its names and shape change as well."""
    text = f"{number:08d}" * (LARGE // 8)
    names = {"always": text, f"only-{number % 3}": text, "d/deep": text}
    if number % 2:
        names["turns"] = text
    else:
        names["turns/into/folder"] = text
    return volume(dict(names.items()))


def files_below(folder: Path) -> dict[str, bytes]:
    # Not rglob, which forgets an open folder when one is removed under its feet.
    found = {}
    for name in os.listdir(folder):  # noqa: PTH208 - as above
        path = folder / name
        if path.is_dir():
            below = files_below(path)
            found.update({f"{name}/{each}": data for each, data in below.items()})
        else:
            found[name] = path.read_bytes()
    return found


def one_look(target: Path) -> dict[str, bytes] | None:
    """The files of one version, if it counted from the first to the last of them."""
    name = version(target)
    try:
        found = files_below(target / name)
    except (FileNotFoundError, NotADirectoryError):
        return None
    return found if version(target) == name else None


def test_readers_see_one_version_complete_while_others_are_written(tmp_path: Path) -> None:
    target, rounds = tmp_path / "v", 150
    AtomicWriter(target).write(numbered(0))
    done = threading.Event()
    mixed: list[object] = []
    looks = [0, 0]

    def look_at_all() -> None:
        while not done.is_set():
            found = one_look(target)
            if found is None:
                continue
            looks[0] += 1
            number = int(found["always"][:8])
            whole = {path: each.data for path, each in numbered(number).files.items()}
            if found != whole:
                mixed.append((number, {path: data[:8] for path, data in found.items()}))

    def look_at_one() -> None:
        last = 0
        while not done.is_set():
            try:
                data = (target / "always").read_bytes()
            except FileNotFoundError:
                continue  # the version was removed between two steps of one path look-up
            looks[1] += 1
            number = int(data[:8])
            if data != data[:8] * (LARGE // 8) or number < last:
                mixed.append(data[:80])
            last = number

    readers = [threading.Thread(target=look) for look in (look_at_all, look_at_one)]
    for reader in readers:
        reader.start()
    try:
        writer = AtomicWriter(target)
        for number in range(1, rounds):
            writer.write(numbered(number))
    finally:
        done.set()
        for reader in readers:
            reader.join()

    assert mixed == []
    assert min(looks) > 0


def test_writers_in_many_processes_take_turns(tmp_path: Path) -> None:
    target, writers, rounds = tmp_path / "v", 3, 10
    children = []
    for number in range(writers):
        child = os.fork()
        if child == 0:  # the child
            code = 1
            try:
                for step in range(rounds):
                    AtomicWriter(target).write(numbered(number * rounds + step))
                code = 0
            finally:
                os._exit(code)
        children.append(child)
    codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]

    found = one_look(target)
    assert codes == [0] * writers
    assert found is not None
    number = int(found["always"][:8])
    assert found == {path: each.data for path, each in numbered(number).files.items()}
    assert versions(target) == [version(target)]
