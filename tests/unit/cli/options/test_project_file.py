"""What ``.reflet.yaml`` says, where it is found, and what is wrong with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from reflet.cli.options.project_file import (
    KEYS,
    LintSettings,
    ProjectFile,
    ProjectNames,
    find_project_file,
    read_project_file,
)
from reflet.errors import ConfigurationError
from reflet.insight.lint.suppressions import Suppression

WHOLE = """\
exclude: ["charts/**"]
include: [deploy/*.yaml]
lint:
  select: [ALL]
  ignore: [RFL017, unused]
  strict: true
  assume:
  - secret/db
  - shop/cm/*:color
  baseline: .reflet-baseline.json
  suppress:
  - rule: RFL002
    object: Deployment shop/*
    path: deploy/*
    reason: the operator makes it
  - rules: [RFL003, masked-by-optional]
references:
- {kind: Gateway, names: Secret, path: spec.secret}
makers: [{kind: Vault, names: Secret, name: '{name}-key'}]
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def read(folder: Path, text: str) -> ProjectFile:
    file = folder / ".reflet.yaml"
    file.write_text(text)
    return read_project_file(file)


def test_everything_that_can_be_written_is_read(folder: Path) -> None:
    assert read(folder, WHOLE) == ProjectFile(
        exclude=("charts/**",),
        include=("deploy/*.yaml",),
        lint=LintSettings(
            select=("ALL",),
            ignore=("RFL017", "unused"),
            strict=True,
            assume=("secret/db", "shop/cm/*:color"),
            baseline=".reflet-baseline.json",
            suppress=(
                Suppression(
                    rules=("RFL002",),
                    object="Deployment shop/*",
                    path="deploy/*",
                    reason="the operator makes it",
                    place=".reflet.yaml:12",
                ),
                Suppression(rules=("RFL003", "masked-by-optional"), place=".reflet.yaml:16"),
            ),
        ),
        references=({"kind": "Gateway", "names": "Secret", "path": "spec.secret"},),
        makers=({"kind": "Vault", "names": "Secret", "name": "{name}-key"},),
        source=".reflet.yaml",
    )


@pytest.mark.parametrize("text", ["", "# nothing yet\n", "---\n", "lint:\n", "{}", "\ufeff"])
def test_a_file_may_say_nothing(folder: Path, text: str) -> None:
    assert read(folder, text) == ProjectFile(source=".reflet.yaml")


def test_a_baseline_is_beside_the_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "deep").mkdir()
    monkeypatch.chdir(folder / "deep")

    found = read(folder, "lint: {baseline: known.json}\n")

    assert (found.source, found.lint.baseline) == ("../.reflet.yaml", "../known.json")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("exclud: []\n", ".reflet.yaml:1: the file has no key 'exclud': did you mean 'exclude'?"),
        ("lint:\n  strickt: true\n", ":2: lint has no key 'strickt': did you mean 'strict'?"),
        ("zzz: 1\n", ":1: the file has no key 'zzz': there is exclude, include, lint, makers"),
        ("source: x\n", ":1: the file has no key 'source'"),
        (
            "lint:\n  suppress:\n  - rule: RFL002\n    file: x\n",
            ":4: lint.suppress[0] has no key 'file': there is object, path",
        ),
        ("lint:\n  suppress:\n  - {place: x}\n", ":3: lint.suppress[0] has no key 'place'"),
        ("- a\n", ":1: the file: expected keys, one of exclude"),
        ("lint: [a]\n", ":1: lint: expected keys, one of assume"),
        ("lint:\n  suppress: [a]\n", ":2: lint.suppress[0]: expected keys"),
        ("lint:\n  suppress: a\n", ":2: lint.suppress: expected array, got str"),
        ("lint:\n  ignore: RFL001\n", ":2: lint.ignore: expected array, got str"),
        ("lint:\n  ignore:\n  - RFL001\n  - 7\n", ":4: lint.ignore[1]: expected str, got int"),
        ("lint:\n  strict: maybe\n", ":2: lint.strict: expected bool, got str"),
        ("makers:\n- {kind: Vault}\n", ":2: makers[0]: names: missing"),
        ("references: [a]\n", ":1: references[0]: expected object, got str"),
        ("lint:\n  select:\n  - RFL999\n", ":3: there is no rule 'RFL999'"),
        ("lint:\n  suppress:\n  - {rule: x}\n", ":3: there is no rule 'x'"),
        ("lint:\n  suppress:\n  - {rule: 7}\n", ":3: lint.suppress[0].rules[0]: expected str"),
        ("lint:\n  suppress:\n  - {reason: x}\n", ":3: an entry of suppress needs rules, object"),
        ("lint:\n  assume:\n  - secret/a\n  - b\n", ":4: 'b' is nothing to assume"),
        ("a: b\n  c: d\n", ".reflet.yaml:2: "),
        ("a: 1\na: 2\n", '.reflet.yaml:2: the key "a" is there twice'),
        ("lint:\n---\nlint:\n", ":3: only one document is read"),
    ],
)
def test_a_mistake_is_told_with_its_line(folder: Path, text: str, said: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        read(folder, text)

    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_that_cannot_be_read_is_named(folder: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"cannot read gone\.yaml: No such file"):
        read_project_file(Path("gone.yaml"))

    (folder / "latin.yaml").write_bytes(b"\xff")
    with pytest.raises(ConfigurationError, match=r"latin\.yaml: not valid UTF-8"):
        read_project_file(Path("latin.yaml"))


def test_every_key_is_a_field() -> None:
    assert {*KEYS[""], "source"} == set(ProjectFile.__struct_fields__)
    assert set(KEYS["lint"]) == set(LintSettings.__struct_fields__)
    assert set(KEYS["lint.suppress[]"]) - {"rule"} == set(Suppression.__struct_fields__) - {"place"}


def test_it_is_looked_for_here_and_above(folder: Path) -> None:
    deep = folder / "a/b"
    deep.mkdir(parents=True)
    (folder / ".reflet.yaml").touch()

    assert find_project_file(deep) == folder / ".reflet.yaml"
    (folder / "a/.reflet.yaml").touch()
    assert find_project_file(deep) == folder / "a/.reflet.yaml"


@pytest.mark.parametrize("stop", ["repository", "home"])
def test_it_is_not_looked_for_above_a_repository_or_home(
    folder: Path, monkeypatch: pytest.MonkeyPatch, stop: str
) -> None:
    deep = folder / "a/b"
    deep.mkdir(parents=True)
    (folder / ".reflet.yaml").touch()
    if stop == "repository":
        (folder / "a/.git").touch()  # a worktree has a file here
    else:
        monkeypatch.setenv("HOME", str(folder / "a"))

    assert find_project_file(deep) is None


def test_the_root_of_a_repository_has_one_too(folder: Path) -> None:
    (folder / ".git").mkdir()
    (folder / ".reflet.yaml").touch()

    assert find_project_file(folder) == folder / ".reflet.yaml"


@pytest.mark.parametrize("marker", [".git", ".reflet.yaml"])
def test_files_have_the_same_name_wherever_the_command_is_run(
    folder: Path, monkeypatch: pytest.MonkeyPatch, marker: str
) -> None:
    deep = folder / "a"
    deep.mkdir()
    (deep / "x.yaml").touch()
    (folder / marker).touch()
    names = []
    for start, file in ((folder, "a/x.yaml"), (deep, "x.yaml"), (deep, str(deep / "x.yaml"))):
        monkeypatch.chdir(start)
        found = find_project_file(start)
        project = ProjectFile() if found is None else read_project_file(found)
        names.append(ProjectNames(project, start).name_of(file))

    assert names == ["a/x.yaml"] * 3


def test_standard_input_has_its_own_name(folder: Path) -> None:
    assert ProjectNames(ProjectFile(), folder).name_of("standard input") == "standard input"


def test_a_name_is_known_to_be_a_file_or_not(folder: Path) -> None:
    (folder / "x.yaml").touch()
    names = ProjectNames(ProjectFile(), folder)

    assert (names.has("x.yaml"), names.has("y.yaml")) == (True, False)
