"""Keys that differ only in case, on disks that tell them apart and on those that do not."""

from __future__ import annotations

from pathlib import Path

import pytest

from reflet.volumes import folders
from reflet.volumes.atomic_writer import AtomicWriter
from reflet.volumes.case_folding import stored_name, twin_of
from reflet.volumes.volume_errors import InvalidPath
from tests.folding_disk import fold_case
from tests.unit.volumes.scenes import seen, volume


def test_two_keys_are_two_files_where_case_counts(tmp_path: Path) -> None:
    AtomicWriter(tmp_path / "volume").write(volume({"color": "1", "COLOR": "2"}))

    assert seen(tmp_path / "volume") == {"color": "1", "COLOR": "2"}


@pytest.mark.parametrize(
    ("first", "second"), [("COLOR", "color"), ("a/x", "A/y"), ("a/key", "a/KEY")]
)
def test_the_second_is_refused_by_name_where_it_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: str, second: str
) -> None:
    writer = AtomicWriter(tmp_path / "volume")
    writer.write(volume({"other": "before"}))
    fold_case(monkeypatch)

    with pytest.raises(InvalidPath, match="differ only in case, which this file system does not"):
        writer.write(volume({first: "1", second: "2"}))

    assert seen(tmp_path / "volume") == {"other": "before"}


def test_a_key_may_change_its_case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fold_case(monkeypatch)
    writer = AtomicWriter(tmp_path / "volume")
    writer.write(volume({"color": "1"}))
    writer.write(volume({"COLOR": "2"}))

    assert seen(tmp_path / "volume") == {"COLOR": "2"}
    assert writer.notes == ()


def test_a_name_is_found_as_it_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "color").touch()
    with folders.opened(tmp_path) as folder:
        before = [stored_name(folder, name) for name in ("color", "COLOR")]
        fold_case(monkeypatch)
        after = [stored_name(folder, name) for name in ("color", "COLOR", "other")]

    assert (before, after) == (["color", None], ["color", "color", None])


def test_a_hard_link_of_the_other_case_is_no_twin(tmp_path: Path) -> None:
    (tmp_path / "color").touch()
    (tmp_path / "COLOR").hardlink_to(tmp_path / "color")
    with folders.opened(tmp_path) as folder:
        assert stored_name(folder, "COLOR") == "COLOR"


def test_a_path_is_not_its_own_twin() -> None:
    assert twin_of("a", ["a", "b"]) is None
