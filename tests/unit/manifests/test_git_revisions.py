"""Files of a revision are read from git's objects, and nothing of the repository is touched."""

from __future__ import annotations

from pathlib import Path

import pytest

from reflet.errors import ConfigurationError
from reflet.manifests.files import Sources
from reflet.manifests.git_revisions import Revisions, sources_at
from tests.git_calls import git


class Repository:
    def __init__(self, root: Path) -> None:
        self.root = root
        git(self.root, "init", "--quiet", "--initial-branch=main")

    def save(self, **files: str) -> None:
        for name, text in files.items():
            path = self.root / f"{name}.yaml"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def commit(self, **files: str) -> str:
        self.save(**files)
        git(self.root, "add", "--all")
        git(self.root, "commit", "--quiet", "--message=x")
        return git(self.root, "rev-parse", "HEAD")


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path)


def texts(sources: Sources, revision: str) -> dict[str, str]:
    with sources_at(sources, revision) as (found, folder):
        return {
            str(path.relative_to(folder)): path.read_text()
            for name in found.paths
            for path in ([Path(name)] if Path(name).is_file() else sorted(Path(name).rglob("*.*")))
        }


def test_a_folder_is_as_it_was(repository: Repository) -> None:
    repository.commit(**{"deploy/web": "one", "deploy/db": "db", "other": "x"})
    repository.commit(**{"deploy/web": "two"})
    (repository.root / "deploy/db.yaml").unlink()

    found = texts(Sources(paths=(str(repository.root / "deploy"),)), "HEAD~1")

    assert found == {"deploy/web.yaml": "one", "deploy/db.yaml": "db"}


def test_a_name_that_is_relative_is_of_the_current_folder(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.commit(**{"deploy/web": "one"})
    monkeypatch.chdir(repository.root / "deploy")

    assert texts(Sources(paths=("web.yaml",)), "main") == {"deploy/web.yaml": "one"}
    assert texts(Sources(paths=("..",)), "main") == {"deploy/web.yaml": "one"}


def test_what_a_revision_does_not_have_is_left_out(repository: Repository) -> None:
    repository.commit(a="a")
    repository.save(**{"new/web": "later"})

    assert texts(Sources(paths=(str(repository.root / "new"),)), "HEAD") == {}


def test_nothing_of_the_repository_is_touched(repository: Repository) -> None:
    repository.commit(a="one")
    repository.save(a="edited")
    before = git(repository.root, "status", "--porcelain")

    with sources_at(Sources(paths=(str(repository.root),)), "HEAD") as (_, folder):
        assert Path(folder).stat().st_mode & 0o077 == 0

    assert not Path(folder).exists()
    assert git(repository.root, "status", "--porcelain") == before
    assert (repository.root / "a.yaml").read_text() == "edited"


def test_kustomizations_have_the_whole_tree_around_them(repository: Repository) -> None:
    repository.commit(**{"overlay/kustomization": "x", "base/web": "y"})

    sources = Sources(kustomizations=(str(repository.root / "overlay"),))
    with sources_at(sources, "HEAD") as (found, folder):
        assert found.kustomizations == (f"{folder}/overlay",)
        assert Path(folder, "base/web.yaml").exists()


def test_a_link_that_leads_out_of_the_revision_is_not_followed(repository: Repository) -> None:
    (repository.root / "secret.yaml").symlink_to("/etc/hostname")
    (repository.root / "near.yaml").symlink_to("a.yaml")
    repository.commit(a="one")

    found = texts(Sources(paths=(str(repository.root),)), "HEAD")

    assert found == {"a.yaml": "one", "near.yaml": "one"}


@pytest.mark.parametrize("revision", ["nope", "--output=x", "HEAD~9"])
def test_a_revision_that_git_does_not_know_is_refused(
    repository: Repository, revision: str
) -> None:
    repository.commit(a="one")

    with (
        pytest.raises(ConfigurationError, match="git knows no revision"),
        sources_at(Sources(paths=(str(repository.root),)), revision),
    ):
        pass
    assert not (repository.root / "x").exists()


@pytest.mark.parametrize(
    ("sources", "words"),
    [
        (Sources(paths=("-",)), "standard input has no revisions"),
        (Sources(), "name the files"),
    ],
)
def test_what_has_no_revisions_is_refused(sources: Sources, words: str) -> None:
    with pytest.raises(ConfigurationError, match=words), sources_at(sources, "HEAD"):
        pass


def test_a_folder_without_a_repository_is_refused(tmp_path: Path) -> None:
    git(tmp_path, "--version")
    with (
        pytest.raises(ConfigurationError, match="not a git repository"),
        sources_at(Sources(paths=("/",)), "HEAD"),
    ):
        pass


def test_without_git_the_words_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with (
        pytest.raises(ConfigurationError, match="git is not on PATH, and revisions are read by it"),
        sources_at(Sources(paths=("/",)), "HEAD"),
    ):
        pass


def test_files_of_another_place_are_refused(
    repository: Repository, tmp_path_factory: pytest.TempPathFactory
) -> None:
    repository.commit(a="one")
    other = tmp_path_factory.mktemp("other")

    with (
        pytest.raises(ConfigurationError, match="is not in the repository"),
        sources_at(Sources(paths=(str(repository.root), str(other))), "HEAD"),
    ):
        pass


def test_revisions_are_written_as_git_writes_them() -> None:
    assert Revisions.parse("main") == ("main", "")
    assert Revisions.parse("v1..v2") == ("v1", "v2")
    for wrong in ("..v2", "v1..", "v1...v2"):
        with pytest.raises(ConfigurationError):
            Revisions.parse(wrong)
