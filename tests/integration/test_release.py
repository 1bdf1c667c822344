"""What a release writes and refuses; `make release DRY_RUN=1` builds and installs all of it."""

from __future__ import annotations

import re
import shutil
import subprocess
from datetime import date
from pathlib import Path
from typing import Final

import pytest
import yaml

from reflet._version import __version__
from tests.git_calls import git
from tools.release.changelog import ChangelogError, released, section
from tools.release.commands import ReleaseError, run
from tools.release.manifests import homebrew_formula, krew_manifest
from tools.release.steps import VERSIONED, Release

REPOSITORY: Final = Path(__file__).parents[2]
CHANGELOG: Final = (
    "# Changelog\n\n## [Unreleased]\n\n- New.\n\n## [0.1.0] - 2026-01-02\n\n- First.\n"
)
SHA: Final = "a" * 64


def repository_in(folder: Path, changelog: str = CHANGELOG) -> Path:
    """A repository with the files that name the version, and one commit."""
    for name in VERSIONED:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f'__version__ = "{__version__}"\nother: 10.1.0.1\n')
    (folder / "CHANGELOG.md").write_text(changelog)
    for command in (
        ("init", "--quiet"),
        ("config", "user.name", "tester"),
        ("config", "user.email", "tester@example.invalid"),
        ("add", "."),
        ("commit", "--quiet", "--message", "first"),
    ):
        git(folder, *command)
    return folder


def release_of(folder: Path, version: str = "1.2.3") -> Release:
    key = folder.parent / "key"
    key.touch()
    return Release(repository=folder, version=version, key=key)


def test_what_is_unreleased_becomes_the_section_of_the_version() -> None:
    text = released(CHANGELOG, "0.2.0", date(2026, 11, 17))

    assert "## [Unreleased]\n\n## [0.2.0] - 2026-11-17\n\n- New." in text
    assert (section(text, "Unreleased"), section(text, "0.2.0")) == ("", "- New.")


@pytest.mark.parametrize(
    ("text", "version", "why"),
    [
        ("# Changelog\n", "1.0.0", "no line"),
        (CHANGELOG, "0.1.0", "already"),
        ("## [Unreleased]\n\n## [0.1.0]\n", "1.0.0", "nothing to release"),
    ],
    ids=["no section", "released before", "empty"],
)
def test_a_changelog_that_has_nothing_for_the_version_is_refused(
    text: str, version: str, why: str
) -> None:
    with pytest.raises(ChangelogError, match=why):
        released(text, version, date(2026, 11, 17))


def test_the_version_is_written_wherever_it_is_named(tmp_path: Path) -> None:
    folder = repository_in(tmp_path / "repository")

    release_of(folder).write_version()

    for name in VERSIONED:
        assert (folder / name).read_text() == '__version__ = "1.2.3"\nother: 10.1.0.1\n'
    subject = git(folder, "log", "-1", "--format=%s")
    assert subject == "release: 1.2.3"


@pytest.mark.parametrize("version", ["", "1.2", "v1.2.3", "1.2.3-beta", "1.2.3 "])
def test_what_is_no_version_is_refused(tmp_path: Path, version: str) -> None:
    with pytest.raises(ReleaseError, match="is no version"):
        release_of(repository_in(tmp_path / "repository"), version).check()


def test_changes_that_are_not_committed_are_no_release(tmp_path: Path) -> None:
    folder = repository_in(tmp_path / "repository")
    (folder / "README.md").write_text("begun")

    with pytest.raises(ReleaseError, match="not committed"):
        release_of(folder).check()


def test_a_tag_is_not_made_twice(tmp_path: Path) -> None:
    folder = repository_in(tmp_path / "repository")
    git(folder, "tag", "v1.2.3")

    with pytest.raises(ReleaseError, match="there already"):
        release_of(folder).check()


def test_what_was_never_tagged_is_not_built(tmp_path: Path) -> None:
    with pytest.raises(ReleaseError, match="no tag v1"):
        release_of(repository_in(tmp_path / "repository")).build()


def test_a_program_that_a_release_lacks_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")

    with pytest.raises(ReleaseError, match="a release needs git, which is not on PATH"):
        run("git", "status")


def test_a_release_without_news_changes_nothing(tmp_path: Path) -> None:
    folder = repository_in(tmp_path / "repository", "## [Unreleased]\n")

    with pytest.raises(ReleaseError, match="nothing to release"):
        release_of(folder).write_version()

    assert not git(folder, "status", "--porcelain")


def test_every_file_that_is_written_names_the_version() -> None:
    version = re.compile(rf"(?<![\d.]){re.escape(__version__)}(?![\d.])")

    assert [name for name in VERSIONED if not version.search((REPOSITORY / name).read_text())] == []


def test_krew_finds_the_program_in_the_archive() -> None:
    text = krew_manifest(
        version="1.2.3", address="https://example.invalid/a.tar.gz", sha256=SHA, summary="Explain"
    )

    [platform] = (spec := yaml.safe_load(text)["spec"])["platforms"]
    assert (spec["version"], platform["sha256"], platform["bin"]) == ("v1.2.3", SHA, "reflet")
    assert platform["files"] == [{"from": "reflet-1.2.3/*", "to": "."}]


@pytest.mark.skipif(shutil.which("ruby") is None, reason="ruby is not installed")
def test_the_formula_is_ruby(tmp_path: Path) -> None:
    path = tmp_path / "reflet.rb"
    path.write_text(
        homebrew_formula(
            version="1.2.3",
            homepage="https://example.invalid",
            address="https://example.invalid/a.tar.gz",
            sha256=SHA,
            summary="Explain",
        )
    )

    subprocess.run(["ruby", "-c", str(path)], check=True, capture_output=True)
