"""Files, folders and standard input: which files are meant, and errors name them."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from reflet.errors import ConfigurationError
from reflet.manifests.files import FoundFile, HelmChart, Sources, find_files, read_text, walk


def make(folder: Path, *names: str) -> None:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)


def found(folder: Path, **more: object) -> list[str]:
    sources = Sources(paths=(str(folder),), **more)  # type: ignore[arg-type]  # one test's own
    return [str(Path(file.path).relative_to(folder)) for file in find_files(sources)]


def test_files_come_in_the_order_in_which_they_are_named_and_have_no_folder(tmp_path: Path) -> None:
    make(tmp_path, "b.yaml", "a.txt")
    paths = (str(tmp_path / "b.yaml"), str(tmp_path / "a.txt"))

    files = find_files(Sources(paths=paths))

    assert files == [FoundFile(path) for path in paths]
    assert [read_text(file).content for file in files] == [b"b.yaml", b"a.txt"]


def test_a_file_that_is_named_twice_is_read_once_and_by_its_name(tmp_path: Path) -> None:
    make(tmp_path, "a.yaml")
    file = str(tmp_path / "a.yaml")

    assert find_files(Sources(paths=(str(tmp_path), file, file))) == [FoundFile(file)]


def test_a_folder_gives_its_manifests_all_the_way_down_in_order(tmp_path: Path) -> None:
    make(tmp_path, "z.json", "a.yml", "deep/m.yaml", "README.md")

    assert found(tmp_path) == ["a.yml", "deep/m.yaml", "z.json"]


def test_files_of_a_folder_know_it(tmp_path: Path) -> None:
    make(tmp_path, "deep/m.yaml")

    (file,) = find_files(Sources(paths=(str(tmp_path),)))

    assert file.folder == str(tmp_path / "deep")


def test_hidden_folders_are_not_entered_and_hidden_files_are_read(tmp_path: Path) -> None:
    make(tmp_path, ".github/a.yaml", ".b.yaml", "c/.d/e.yaml")

    assert found(tmp_path) == [".b.yaml"]


def test_links_to_folders_are_not_followed(tmp_path: Path) -> None:
    make(tmp_path, "real/a.yaml")
    (tmp_path / "real/loop").symlink_to(tmp_path)

    assert found(tmp_path) == ["real/a.yaml"]


def test_without_recursion_the_folders_of_a_folder_are_left_alone(tmp_path: Path) -> None:
    make(tmp_path, "a.yaml", "deep/b.yaml")

    assert found(tmp_path, recursive=False) == ["a.yaml"]


@pytest.mark.parametrize(
    ("pattern", "left"),
    [
        ("testdata", ["a.yaml", "deploy/b.yaml", "deploy/prod/c.yaml"]),
        ("deploy/*", ["a.yaml", "testdata/d.yaml"]),
        ("deploy", ["a.yaml", "testdata/d.yaml"]),
        ("deploy/prod", ["a.yaml", "deploy/b.yaml", "testdata/d.yaml"]),
        ("**/c.yaml", ["a.yaml", "deploy/b.yaml", "testdata/d.yaml"]),
        ("[ab].yaml", ["deploy/prod/c.yaml", "testdata/d.yaml"]),
        ("./a.yaml", ["deploy/b.yaml", "deploy/prod/c.yaml", "testdata/d.yaml"]),
    ],
)
def test_globs_leave_files_and_folders_out(tmp_path: Path, pattern: str, left: list[str]) -> None:
    make(tmp_path, "a.yaml", "deploy/b.yaml", "deploy/prod/c.yaml", "testdata/d.yaml")

    assert found(tmp_path, exclude=(pattern,)) == left


def test_globs_choose_files_whatever_they_end_in(tmp_path: Path) -> None:
    make(tmp_path, "a.yaml", "b.manifest", "c/d.manifest")

    assert found(tmp_path, include=("*.manifest",)) == ["b.manifest", "c/d.manifest"]
    assert found(tmp_path, include=("*.manifest",), exclude=("c",)) == ["b.manifest"]


def test_a_glob_with_a_slash_is_also_for_the_path_below_the_base(tmp_path: Path) -> None:
    make(tmp_path, "one/deploy/a.yaml", "two/deploy/b.yaml")

    def left(folder: str) -> list[str]:
        sources = Sources(
            paths=(str(tmp_path / folder),), exclude=("one/deploy/*",), base=str(tmp_path)
        )
        return [Path(file.path).name for file in find_files(sources)]

    assert left("two") == ["b.yaml"]
    with pytest.raises(ConfigurationError, match="one has no file"):
        left("one")


def test_a_dash_is_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"text")))
    sources = Sources(paths=("-",))

    (file,) = find_files(sources)

    assert read_text(file)[:2] == ("standard input", b"text")
    assert sources.reads_standard_input


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError) as caught:
        read_text(FoundFile(str(tmp_path / "no.yaml")))

    assert str(caught.value) == f"cannot read {tmp_path}/no.yaml: No such file or directory"


def test_an_address_is_not_taken_for_a_file() -> None:
    with pytest.raises(ConfigurationError, match=r"curl -fsSL https://example\.com/x\.yaml"):
        find_files(Sources(paths=("https://example.com/x.yaml",)))


def test_a_folder_without_manifests_is_a_mistake(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"has no file that ends in \.json, \.yaml, \.yml"):
        find_files(Sources(paths=(str(tmp_path),)))
    with pytest.raises(ConfigurationError, match=r"has no file that matches \*\.x, y"):
        find_files(Sources(paths=(str(tmp_path),), include=("*.x", "y")))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_folder_without_permission_is_named(tmp_path: Path) -> None:
    tmp_path.chmod(0)
    try:
        with pytest.raises(ConfigurationError, match="Permission denied"):
            list(walk(str(tmp_path)))
    finally:
        tmp_path.chmod(0o700)


def test_sources_say_the_flags_that_name_them() -> None:
    sources = Sources(
        paths=("a.yaml",), kustomizations=("b",), charts=(HelmChart("c", ("v.yaml",), ("d=e",)),)
    )

    assert sources
    assert sources.flags == "-f a.yaml -k b --helm c --values v.yaml --set d=e"
    assert not Sources(exclude=("a",))
