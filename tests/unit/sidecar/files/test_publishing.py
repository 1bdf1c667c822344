"""From the table to the disk: announced, written, removed, and remembered by the next life."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from reflet.sidecar.targets import LAST_GOOD
from tests.folding_disk import fold_case
from tests.unit.sidecar.scenes import A, B, Disk

LEDGER = "folder/.reflet-sidecar-0123.json"


def test_files_are_written_and_the_folder_is_made_for_them(tmp_path: Path) -> None:
    disk = Disk(tmp_path)

    assert not (tmp_path / "folder").exists()
    assert disk.replace(A, f="1", sub__g=b"2") == {"f", "g"}
    assert disk.files == {"folder/f": "1", "folder/sub/g": "2"}


def test_what_is_equal_already_is_not_written(tmp_path: Path) -> None:
    disk = Disk(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder/f").write_text("1")
    before = (tmp_path / "folder/f").stat()

    assert disk.replace(A, f="1") == frozenset()
    assert (tmp_path / "folder/f").stat().st_ino == before.st_ino


def test_somebody_elses_file_in_the_way_is_replaced_and_goes_with_the_object(
    tmp_path: Path,
) -> None:
    disk = Disk(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder/f").write_text("theirs")
    (tmp_path / "folder/other").write_text("theirs")

    disk.replace(A, f="ours")
    assert disk.files["folder/f"] == "ours"
    disk.replace(A)
    assert disk.files == {"folder/other": "theirs"}


def test_a_link_in_the_way_is_replaced_and_not_written_through(tmp_path: Path) -> None:
    disk = Disk(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "elsewhere").write_text("theirs")
    (tmp_path / "folder/f").symlink_to(tmp_path / "elsewhere")

    disk.replace(A, f="ours")

    assert (tmp_path / "elsewhere").read_text() == "theirs"
    assert not (tmp_path / "folder/f").is_symlink()


@pytest.mark.parametrize(("variables", "mode"), [({"DEFAULT_FILE_MODE": "440"}, 0o440), ({}, None)])
def test_modes_are_those_asked_for_or_the_umasks(
    tmp_path: Path, variables: dict[str, str], mode: int | None
) -> None:
    mask = os.umask(0o027)
    try:
        disk = Disk(tmp_path, **variables)
        disk.replace(A, f="1")
    finally:
        os.umask(mask)

    found = stat.S_IMODE((tmp_path / "folder/f").stat().st_mode)
    assert found == (0o640 if mode is None else mode)
    assert stat.S_IMODE((tmp_path / LEDGER).stat().st_mode) == 0o600


def test_a_folder_that_passes_its_group_on_still_does(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder").chmod(0o2775)
    disk = Disk(tmp_path)

    disk.replace(A, sub__f="1")

    assert (tmp_path / "folder/sub").stat().st_mode & stat.S_ISGID


def test_what_nobody_wants_after_a_restart_is_removed_and_the_rest_left_alone(
    tmp_path: Path,
) -> None:
    disk = Disk(tmp_path)
    disk.replace(A, f="1")
    disk.replace(B, g="1")
    (tmp_path / "folder/other").write_text("theirs")

    disk.born()
    assert disk.replace(B, g="1") == frozenset()
    assert disk.publish(disk.table.remove(A)) == {"f"}
    assert disk.files == {"folder/g": "1", "folder/other": "theirs"}


def test_a_file_that_somebody_else_has_written_meanwhile_is_not_removed(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    disk = Disk(tmp_path)
    disk.replace(A, f="1")
    (tmp_path / "folder/f").write_text("theirs")

    disk.born()
    assert disk.publish(disk.table.remove(A)) == frozenset()
    assert disk.files == {"folder/f": "theirs"}
    assert "f stays: somebody else has written it" in caplog.text


def test_a_folder_that_is_mounted_elsewhere_brings_its_ledger_along(tmp_path: Path) -> None:
    Disk(tmp_path / "here").replace(A, f="1")
    (tmp_path / "here").rename(tmp_path / "there")

    disk = Disk(tmp_path / "there")
    disk.publish(disk.table.remove(A))

    assert disk.files == {}


def test_the_ledger_is_above_while_there_is_no_folder_and_then_inside(tmp_path: Path) -> None:
    disk = Disk(tmp_path)
    disk.publish(disk.table.replace(A, {disk.path("/else/f"): "1"}))
    assert not (tmp_path / "folder").exists()
    [above] = disk.hidden

    disk.born()
    disk.replace(B, g="1")
    assert above not in disk.hidden
    assert (tmp_path / LEDGER).exists()

    disk.born()
    disk.publish(disk.table.remove(A))
    assert disk.files == {"folder/g": "1"}


def test_nothing_hidden_is_left_when_nothing_is_ours(tmp_path: Path) -> None:
    disk = Disk(tmp_path)
    disk.replace(A, f="1")
    disk.replace(A)

    assert disk.hidden == []


def test_a_broken_ledger_is_said_and_nothing_is_removed(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    disk = Disk(tmp_path)
    disk.replace(A, f="1")
    (tmp_path / LEDGER).write_text("{")

    disk.born()

    assert len(disk.table) == 0
    assert "files of an earlier start that nobody wants will stay" in caplog.text
    assert disk.files == {"folder/f": "1"}


def test_one_file_that_cannot_be_keeps_no_other_from_being_written(tmp_path: Path) -> None:
    disk = Disk(tmp_path)
    (tmp_path / "folder/f").mkdir(parents=True)

    published = disk.publisher.publish(
        disk.table.replace(A, {disk.path("f"): "1", disk.path("g"): "1"})
    )

    assert disk.files == {"folder/g": "1"}
    [failed] = published.failed.values()
    assert failed.is_own
    assert failed.why == "Is a directory"


def test_a_folder_that_cannot_be_made_is_not_the_objects_fault(tmp_path: Path) -> None:
    disk = Disk(tmp_path)
    (tmp_path / "folder").write_text("in the way")

    published = disk.publisher.publish(disk.table.replace(A, {disk.path("f"): "1"}))

    [failed] = published.failed.values()
    assert not failed.is_own


def test_a_download_that_failed_keeps_what_is_there_or_makes_an_empty_file(tmp_path: Path) -> None:
    disk = Disk(tmp_path)
    disk.replace(A, good="once downloaded")
    disk.born()

    paths = {disk.path("good"): LAST_GOOD, disk.path("new"): LAST_GOOD}
    disk.publish(disk.table.replace(A, paths) | set(paths))

    assert disk.files == {"folder/good": "once downloaded", "folder/new": ""}


def test_files_that_were_touched_are_known(tmp_path: Path) -> None:
    disk = Disk(tmp_path)
    disk.replace(A, f="1", g="1", h="1")
    assert disk.publisher.touched() == set()

    (tmp_path / "folder/f").write_text("edited")
    (tmp_path / "folder/g").unlink()

    touched = disk.publisher.touched()
    assert {Path(path).name for path in touched} == {"f", "g"}
    disk.publish(touched)
    assert disk.files == {"folder/f": "1", "folder/g": "1", "folder/h": "1"}


def test_a_jail_is_not_left_by_a_link(tmp_path: Path) -> None:
    disk = Disk(tmp_path, ALLOWED_FOLDERS=str(tmp_path / "allowed"))
    (tmp_path / "folder").mkdir()
    (tmp_path / "outside").mkdir()
    (tmp_path / "folder/way").symlink_to(tmp_path / "outside")

    paths = {disk.path("way/f"): "1", disk.path("/allowed/deep/g"): "1"}
    published = disk.publisher.publish(disk.table.replace(A, dict(paths)))

    assert [Path(path).name for path in published.failed] == ["f"]
    assert list((tmp_path / "outside").iterdir()) == []
    assert (tmp_path / "allowed/deep/g").read_text() == "1"


def test_without_a_place_for_the_ledger_files_are_written_all_the_same(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    disk = Disk(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / LEDGER).mkdir()

    assert disk.replace(A, f="1") == {"f"}
    assert "the list of our files cannot be kept" in caplog.text
    assert disk.publisher.ledger_problem is not None


@pytest.mark.parametrize("layout", ["files", "links"])
def test_a_file_that_is_gone_is_not_an_empty_one_until_its_object_comes(
    tmp_path: Path, layout: str
) -> None:
    disk = Disk(tmp_path, LAYOUT=layout)
    disk.replace(A, f="1")
    disk.replace(B, g="2")
    (tmp_path / "folder/g").unlink()

    disk.born()
    disk.replace(A, f="3")
    disk.publish(disk.publisher.touched())

    assert disk.files == {"folder/f": "3"}
    disk.replace(B, g="2")
    assert disk.files == {"folder/f": "3", "folder/g": "2"}


# The layout of links


def test_links_swap_the_files_of_a_folder_at_once(tmp_path: Path) -> None:
    disk = Disk(tmp_path, LAYOUT="links")

    disk.replace(A, f="1", g="1")
    first = (tmp_path / "folder/..data").readlink()
    disk.replace(B, h="1")

    assert (tmp_path / "folder/f").readlink() == Path("..data/f")
    assert (tmp_path / "folder/..data").readlink() != first
    assert {name: (tmp_path / "folder" / name).read_text() for name in "fgh"} == {
        "f": "1",
        "g": "1",
        "h": "1",
    }


def test_links_of_the_last_life_go_with_their_object(tmp_path: Path) -> None:
    disk = Disk(tmp_path, LAYOUT="links")
    disk.replace(A, f="1")
    disk.replace(B, g="1")

    disk.born()
    disk.replace(B, g="1")
    disk.publish(disk.table.remove(A))

    assert not (tmp_path / "folder/f").exists()
    assert (tmp_path / "folder/g").read_text() == "1"


@pytest.mark.parametrize(("before", "after"), [("files", "links"), ("links", "files")])
def test_one_layout_follows_the_other(tmp_path: Path, before: str, after: str) -> None:
    Disk(tmp_path, LAYOUT=before).replace(A, f="1", gone="1")
    disk = Disk(tmp_path, LAYOUT=after)

    disk.replace(A, f="1")
    disk.publisher.finish_start()

    assert (tmp_path / "folder/f").read_text() == "1"
    assert (tmp_path / "folder/f").is_symlink() == (after == "links")
    assert not os.path.lexists(tmp_path / "folder/gone")
    versions = list((tmp_path / "folder").glob("..*"))
    assert bool(versions) == (after == "links")


def test_a_ledger_that_somebody_removed_is_written_again(tmp_path: Path) -> None:
    disk = Disk(tmp_path)
    disk.replace(A, f="1")
    (tmp_path / LEDGER).unlink()

    assert disk.publisher.touched() == set()

    disk.born()
    assert disk.publish(disk.table.remove(A)) == {"f"}


# Disks that do not tell upper from lower case


def test_of_two_keys_that_are_one_file_the_second_is_refused_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fold_case(monkeypatch)
    disk = Disk(tmp_path)

    paths = disk.table.replace(A, {disk.path("COLOR"): "1", disk.path("color"): "2"})
    [failed] = disk.publisher.publish(paths).failed.values()

    assert failed.is_own
    assert failed.why.startswith("color and COLOR differ only in case")
    assert disk.files == {"folder/COLOR": "1"}


def test_a_key_may_change_its_case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fold_case(monkeypatch)
    disk = Disk(tmp_path)
    disk.replace(A, color="1")
    disk.replace(A, COLOR="2")

    assert disk.files == {"folder/COLOR": "2"}
