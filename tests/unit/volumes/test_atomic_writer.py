"""A folder kept equal to a volume's contents, swapped in one step."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

import pytest

from reflet.testing.virtual_time import ManualClock
from reflet.volumes import folders
from reflet.volumes.atomic_writer import AtomicWriter
from reflet.volumes.tear_down import Kept
from reflet.volumes.volume_errors import InvalidPath, VolumeError, VolumeRefused
from tests.unit.volumes.scenes import (
    MAY_GIVE,
    NOBODY,
    file,
    mode_of,
    seen,
    top,
    version,
    versions,
    volume,
)


def written(target: Path, *contents: dict[str, str]) -> AtomicWriter:
    """A writer that has written these, one after the other."""
    writer = AtomicWriter(target)
    for each in contents:
        writer.write(volume(each))
    return writer


def test_a_volume_is_laid_out_as_the_kubelet_does(tmp_path: Path) -> None:
    target = tmp_path / "v"

    assert AtomicWriter(target, clock=ManualClock()).write(volume({"a": "1", "d/b": "2"}))

    assert version(target).startswith("..2025_01_01_00_00_00.")
    assert top(target) == {"..data", "a", "d"}
    assert [str((target / name).readlink()) for name in ("a", "d")] == ["..data/a", "..data/d"]
    assert seen(target) == {"a": "1", "d/b": "2"}


def test_the_folder_is_private_and_what_is_inside_has_the_kubelets_modes(tmp_path: Path) -> None:
    target = tmp_path / "new/v"

    AtomicWriter(target).write(volume({"d/a": file("1", mode=0o440)}))

    modes = [mode_of(target / path) for path in ("../", "", "..data", "d", "d/a")]
    assert modes == [0o700, 0o700, 0o755, 0o755, 0o440]


def test_a_folder_can_be_made_with_another_mode(tmp_path: Path) -> None:
    AtomicWriter(tmp_path / "v", mode=0o755).write(volume())

    assert mode_of(tmp_path / "v") == 0o755


def test_whoever_is_alone_waits_for_no_lock(tmp_path: Path) -> None:
    writer = AtomicWriter(tmp_path / "v", alone=True)
    writer.write(volume({"a": "1"}))
    with folders.opened(tmp_path / "v") as held:
        fcntl.flock(held, fcntl.LOCK_EX)

        assert writer.write(volume({"a": "2"}))
        assert writer.remove() == ()
    assert writer.remove() == ()


def test_what_is_equal_is_left_alone(tmp_path: Path) -> None:
    writer = written(tmp_path / "v", {"a": "1", "d/b": "2"})
    before = (version(tmp_path / "v"), (tmp_path / "v").stat().st_mtime_ns)

    assert not writer.write(volume({"d//b": "2", "a": "1"}))

    assert (version(tmp_path / "v"), (tmp_path / "v").stat().st_mtime_ns) == before


def test_a_mode_alone_is_a_change(tmp_path: Path) -> None:
    writer = written(tmp_path / "v", {"a": "1"})

    assert writer.write(volume({"a": file("1", mode=0o400)}))
    assert mode_of(tmp_path / "v/a") == 0o400


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"a/b": "1"}, {"a": "2"}),
        ({"a": "1"}, {"a/b": "2"}),
        ({"x/a/b": "1"}, {"x/a": "2"}),
        ({"x/a": "1", "y": "1"}, {"x/a/b": "2", "y/z": "2"}),
    ],
)
def test_a_file_becomes_a_folder_and_a_folder_a_file(
    tmp_path: Path, before: dict[str, str], after: dict[str, str]
) -> None:
    written(tmp_path, before, after)

    assert seen(tmp_path) == after
    assert len(versions(tmp_path)) == 1


def test_a_left_over_link_in_waiting_is_cleared(tmp_path: Path) -> None:
    writer = written(tmp_path, {"a": "1"})
    (tmp_path / "..data_tmp").symlink_to(version(tmp_path))

    writer.write(volume({"a": "2"}))

    assert (seen(tmp_path), top(tmp_path)) == ({"a": "2"}, {"..data", "a"})


def test_left_over_versions_and_links_are_removed_even_when_nothing_changes(
    tmp_path: Path,
) -> None:
    writer = written(tmp_path, {"a": "1"})
    stale = tmp_path / "..2020_01_01_00_00_00.5"
    (stale / "deep").mkdir(parents=True)
    (stale / "deep/secret").write_text("old")
    (tmp_path / "gone").symlink_to("..data/gone")
    (tmp_path / "..data_tmp").symlink_to(stale.name)

    assert not writer.write(volume({"a": "1"}))

    assert (top(tmp_path), versions(tmp_path)) == ({"..data", "a"}, [version(tmp_path)])


def test_a_missing_link_is_made_again(tmp_path: Path) -> None:
    writer = written(tmp_path, {"a": "1", "b": "2"})
    (tmp_path / "b").unlink()

    assert not writer.write(volume({"a": "1", "b": "2"}))
    assert seen(tmp_path) == {"a": "1", "b": "2"}


def test_files_that_somebody_changed_inside_a_version_are_put_right(tmp_path: Path) -> None:
    writer = written(tmp_path, {"a": "1", "d/b": "2"})
    inside = tmp_path / version(tmp_path)
    (inside / "a").write_text("tampered")
    (inside / "d/extra").symlink_to("/etc/passwd")

    assert writer.write(volume({"a": "1", "d/b": "2"}))
    assert seen(tmp_path) == {"a": "1", "d/b": "2"}


@pytest.mark.parametrize("planted", ["/etc", "..", ".", "a", "..2020_01_01_00_00_00.5/../.."])
def test_a_planted_data_link_is_replaced_and_not_followed(tmp_path: Path, planted: str) -> None:
    target, outside = tmp_path / "v", tmp_path / "precious"
    target.mkdir()
    outside.write_text("mine")
    (target / "..data").symlink_to(planted)

    AtomicWriter(target).write(volume({"a": "1"}))

    assert (seen(target), outside.read_text()) == ({"a": "1"}, "mine")


def test_a_version_that_is_a_planted_link_is_not_followed(tmp_path: Path) -> None:
    target, outside = tmp_path / "v", tmp_path / "outside"
    outside.mkdir()
    (outside / "precious").touch()
    target.mkdir()
    (target / "..2020_01_01_00_00_00.5").symlink_to(outside)
    (target / "..data").symlink_to("..2020_01_01_00_00_00.5")

    AtomicWriter(target).write(volume({"a": "1"}))

    assert (outside / "precious").exists()
    assert seen(target) == {"a": "1"}


@pytest.mark.parametrize("name", ["..data", "..data_tmp"])
def test_a_folder_in_the_place_of_the_writers_links_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    (tmp_path / name / "precious").touch()

    with pytest.raises(VolumeError, match=r"is not a link: something else"):
        AtomicWriter(tmp_path).write(volume({"a": "1"}))

    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_files_of_others_stay_and_are_told_when_they_hide_something(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("mine")
    (tmp_path / "other").symlink_to("/etc/passwd")
    writer = AtomicWriter(tmp_path)

    writer.write(volume({"a": "1", "b": "2"}))
    notes = writer.notes
    writer.write(volume())

    assert notes == ("a was there before and hides the volume's own a",)
    assert (writer.notes, top(tmp_path)) == ((), {"..data", "a", "other"})
    assert (tmp_path / "a").read_text() == "mine"


def test_contents_with_an_error_are_not_written(tmp_path: Path) -> None:
    with pytest.raises(VolumeRefused, match=r'^configmap "x" not found$'):
        AtomicWriter(tmp_path / "v").write(volume(error='configmap "x" not found'))

    assert not (tmp_path / "v").exists()


def test_one_bad_path_and_nothing_is_written(tmp_path: Path) -> None:
    with pytest.raises(InvalidPath, match=r"must not contain '\.\.'"):
        AtomicWriter(tmp_path / "v").write(volume({"a": "1", "../../etc/passwd": "2"}))

    assert not (tmp_path / "v").exists()


def test_a_full_disk_leaves_the_version_that_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = written(tmp_path, {"a": "1"})

    def full(*arguments: object, **options: object) -> None:
        raise OSError(28, "No space left on device", "b")

    monkeypatch.setattr(folders, "write_file", full)
    with pytest.raises(VolumeError, match=r"/b: no space left on device$"):
        writer.write(volume({"a": "2", "b": "3"}))

    assert seen(tmp_path) == {"a": "1"}
    assert (top(tmp_path), versions(tmp_path)) == ({"..data", "a"}, [version(tmp_path)])


def test_a_swap_that_fails_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = written(tmp_path, {"a": "1"})

    def fail(*arguments: object) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(folders, "rename", fail)
    with pytest.raises(VolumeError, match="input/output error"):
        writer.write(volume({"b": "2"}))

    assert seen(tmp_path) == {"a": "1"}
    assert (top(tmp_path), versions(tmp_path)) == ({"..data", "a"}, [version(tmp_path)])


def test_links_that_cannot_all_be_made_are_not_left_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = written(tmp_path, {"a": "1"})
    real = folders.make_link

    def full(folder: int, name: str, text: str) -> None:
        if name == "c":
            raise OSError(28, "No space left on device", name)
        real(folder, name, text)

    monkeypatch.setattr(folders, "make_link", full)
    with pytest.raises(VolumeError, match=r"/c: no space left on device$"):
        writer.write(volume({"a": "1", "b": "2", "c": "3"}))

    assert (top(tmp_path), versions(tmp_path)) == ({"..data", "a"}, [version(tmp_path)])


def test_a_version_that_counts_stays_when_only_the_disk_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = AtomicWriter(tmp_path, durable=True)
    writer.write(volume({"a": "1"}))
    before = version(tmp_path)

    def fail_after_the_swap(folder: int) -> None:
        if version(tmp_path) != before:
            raise OSError(5, "Input/output error")

    monkeypatch.setattr(folders, "settle", fail_after_the_swap)
    with pytest.raises(VolumeError, match="input/output error"):
        writer.write(volume({"a": "2", "b": "2"}))

    assert seen(tmp_path) == {"a": "2", "b": "2"}


def test_an_old_version_that_cannot_be_removed_is_told_and_removed_next_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = written(tmp_path, {"a": "1"})
    with monkeypatch.context() as patch:

        def busy(folder: int, name: str) -> None:
            raise OSError(16, "Device or resource busy")

        patch.setattr(folders, "remove_folder", busy)
        assert writer.write(volume({"a": "2"}))
    notes, left = writer.notes, len(versions(tmp_path))

    writer.write(volume({"a": "2"}))

    assert [note.partition(":")[0] for note in notes] == ["an old version is left over"]
    assert (left, len(versions(tmp_path)), seen(tmp_path)) == (2, 1, {"a": "2"})


@pytest.mark.skipif(not MAY_GIVE, reason="files may not be given away here")
def test_files_belong_to_their_user_and_the_volumes_group(tmp_path: Path) -> None:
    writer = AtomicWriter(tmp_path / "v")
    contents = volume({"d/token": file("t", mode=0o600, user=NOBODY)}, group=2000)

    changed = (writer.write(contents), writer.write(contents))

    facts = (tmp_path / "v/d/token").stat()
    assert changed == (True, False)
    assert (facts.st_uid, facts.st_gid, mode_of(tmp_path / "v/d/token")) == (NOBODY, 2000, 0o640)
    assert [mode_of(tmp_path / path) for path in ("v", "v/..data", "v/d")] == [
        0o2750,
        0o2755,
        0o2755,
    ]
    assert (tmp_path / "v/d").lstat().st_uid == NOBODY


@pytest.mark.skipif(not MAY_GIVE, reason="files may not be given away here")
def test_another_owner_alone_is_a_change(tmp_path: Path) -> None:
    writer = AtomicWriter(tmp_path)
    writer.write(volume({"a": file("1", user=1)}))

    assert writer.write(volume({"a": file("1", user=2)}))
    assert (tmp_path / "a").stat().st_uid == 2


def test_owners_that_cannot_be_given_are_told_and_do_not_cause_rewriting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*arguments: object, **options: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(folders, "set_owner", refuse)
    writer = AtomicWriter(tmp_path / "v")
    contents = volume({"a": file("1", mode=0o600, user=4000)}, group=5000)
    writer.write(contents)
    first = version(tmp_path / "v")

    assert not writer.write(contents)

    assert (version(tmp_path / "v"), versions(tmp_path / "v")) == (first, [first])
    assert mode_of(tmp_path / "v/a") == 0o600
    assert writer.notes == (
        "cannot give files to group 5000: operation not permitted",
        "cannot give files to user 4000: operation not permitted",
    )


def test_what_is_to_survive_a_power_failure_reaches_the_disk_before_it_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[str] = []
    for name in ("fsync", "rename"):
        real = getattr(os, name)

        def note(
            *arguments: object, _name: str = name, _real: object = real, **more: object
        ) -> None:
            calls.append(_name)
            _real(*arguments, **more)  # type: ignore[operator]  # whichever it is

        monkeypatch.setattr(os, name, note)

    AtomicWriter(tmp_path / "plain").write(volume({"d/a": "1"}))
    without = list(calls)
    calls.clear()
    AtomicWriter(tmp_path / "durable", durable=True).write(volume({"d/a": "1"}))

    # The file, its folder, the version, the names; then the swap, and its name.
    assert (without, calls) == (["rename"], ["fsync"] * 4 + ["rename", "fsync"])


def test_a_link_in_the_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "v").symlink_to("real")

    with pytest.raises(VolumeError, match="is a link or a file, not a folder"):
        AtomicWriter(tmp_path / "v").write(volume({"a": "1"}))

    assert list((tmp_path / "real").iterdir()) == []


def test_removing_takes_only_what_writers_made(tmp_path: Path) -> None:
    target = tmp_path / "v"
    writer = written(target, {"a": "1", "d/b": "2"})
    (target / "mine").write_text("mine")

    assert writer.remove() == (Kept("mine", "not made by a writer of volumes"),)
    assert [path.name for path in target.iterdir()] == ["mine"]


def test_removing_takes_an_empty_folder_too_and_nothing_is_no_mistake(tmp_path: Path) -> None:
    writer = written(tmp_path / "v", {"a": "1"})

    assert (writer.remove(), writer.remove()) == ((), ())
    assert not (tmp_path / "v").exists()
