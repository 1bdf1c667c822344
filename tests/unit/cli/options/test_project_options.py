"""Which project's file is read."""

from __future__ import annotations

from pathlib import Path

import click
import pytest

from reflet.cli.main import run
from reflet.cli.options.project_file import ProjectFile
from reflet.cli.options.project_options import chosen_project
from reflet.errors import ConfigurationError


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").touch()
    return tmp_path


def test_without_a_file_there_is_nothing_to_say() -> None:
    assert chosen_project("", no_config=False) == ProjectFile()


def test_the_nearest_file_is_read(folder: Path) -> None:
    (folder / ".reflet.yaml").write_text("exclude: [x]\n")

    assert chosen_project("", no_config=False).exclude == ("x",)


def test_the_named_file_is_read_instead(folder: Path) -> None:
    (folder / ".reflet.yaml").write_text("broken: [\n")
    (folder / "mine.yaml").write_text("exclude: [other]\n")

    assert chosen_project("mine.yaml", no_config=False).exclude == ("other",)


def test_the_file_may_be_ignored(folder: Path) -> None:
    (folder / ".reflet.yaml").write_text("broken: [\n")

    assert chosen_project("", no_config=True) == ProjectFile()


def test_a_named_file_must_be_there() -> None:
    with pytest.raises(ConfigurationError, match="cannot read gone"):
        chosen_project("gone", no_config=False)


def test_naming_and_ignoring_a_file_is_a_mistake() -> None:
    with pytest.raises(click.UsageError, match="leave out one"):
        chosen_project("mine.yaml", no_config=True)


POD = """\
apiVersion: v1
kind: Pod
metadata: {name: NAME}
spec:
  containers:
  - name: c
    image: i
    env: [{name: A, valueFrom: {configMapKeyRef: {name: settings, key: KEY}}}]
---
apiVersion: v1
kind: ConfigMap
metadata: {name: MAP}
data: {a: b}
"""


def pod(name: str, key: str, config_map: str) -> str:
    return POD.replace("NAME", name).replace("KEY", key).replace("MAP", config_map)


@pytest.mark.parametrize(
    "command",
    ["lint .", "lint -f .", "why -f .", "used-by cm/settings -f .", "unused -f ."],
)
def test_what_the_file_excludes_is_not_read_from_folders(
    folder: Path, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "web.yaml").write_text(pod("web", "a", "settings"))
    (folder / "legacy").mkdir()
    (folder / "legacy/relic.yaml").write_text(pod("relic", "missing", "relics"))
    (folder / ".reflet.yaml").write_text("exclude: [legacy]\n")

    run(["reflet", *command.split()])
    without = capsys.readouterr()
    run(["reflet", *command.split(), "--no-config"])

    assert "relic" not in without.out + without.err
    assert "relic" in capsys.readouterr().out
