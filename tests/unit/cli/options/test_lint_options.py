"""Findings that do not count: suppressed, assumed away or known, by flags and by the file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from reflet.cli.main import run

POD = """\
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  containers:
  - name: web
    image: i
    envFrom:
    - secretRef: {name: db}
  - name: api
    image: i
    env:
    - {name: URL, value: $(HSOT)}
"""
SECOND = POD.replace("name: web}\nspec", "name: other}\nspec")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").touch()
    (tmp_path / "pod.yaml").write_text(POD)
    return tmp_path


@pytest.fixture
def lint(capsys: pytest.CaptureFixture[str]) -> Any:
    def lint(*arguments: str) -> tuple[int, list[str], list[str]]:
        """Give the exit code, the rules that were found, and the notes."""
        code = run(["reflet", "lint", *arguments, "-o", "json"])
        output, errors = capsys.readouterr()
        if not output:
            return code, [], errors.splitlines()
        document = json.loads(output)
        return code, [finding["rule"] for finding in document["findings"]], document["notes"]

    return lint


def edit(folder: Path, old: str, new: str) -> None:
    file = folder / "pod.yaml"
    file.write_text(file.read_text().replace(old, new))


def test_nothing_is_suppressed_by_itself(lint: Any) -> None:
    assert lint("pod.yaml") == (1, ["RFL002", "RFL009"], [])


def test_an_annotation_suppresses(lint: Any, folder: Path) -> None:
    edit(
        folder,
        "metadata: {name: web}",
        "metadata: {name: web, annotations: {reflet.dev/ignore: 'RFL002,RFL009'}}",
    )

    assert lint("pod.yaml") == (0, [], [])


def test_an_annotation_of_a_refused_object_suppresses(lint: Any, folder: Path) -> None:
    (folder / "pod.yaml").write_text(
        "apiVersion: v1\nkind: Pod\n"
        "metadata: {name: web, annotations: {reflet.dev/ignore: refused}}\nspec: {}\n"
    )

    assert lint("pod.yaml") == (0, [], [])


def test_a_comment_suppresses(lint: Any, folder: Path) -> None:
    edit(folder, "{name: db}", "{name: db}  # reflet.dev/ignore: RFL002")
    edit(folder, "    - {name: URL", "    # reflet.dev/ignore\n    - {name: URL")

    assert lint("pod.yaml") == (0, [], [])


@pytest.mark.parametrize("text", ["secret/db", "default/secret/d*"])
def test_what_is_assumed_is_not_missing(lint: Any, text: str) -> None:
    assert lint("pod.yaml", "--assume", text) == (1, ["RFL009"], [])


def test_what_is_needlessly_assumed_is_told(lint: Any) -> None:
    assert lint("pod.yaml", "--assume", "secret/x") == (
        1,
        ["RFL002", "RFL009"],
        ["1 unused suppression: assumption secret/x"],
    )
    assert lint("pod.yaml", "--assume", "secret/x", "--select", "RFL009")[2] == []


def test_the_file_says_what_flags_say(lint: Any, folder: Path) -> None:
    (folder / ".reflet.yaml").write_text(
        "lint: {ignore: [RFL009], assume: [secret/db], strict: true}\n"
    )

    assert lint("pod.yaml") == (0, [], [])
    assert lint("pod.yaml", "--no-config")[0] == 1


def test_lists_of_flags_and_file_add_up(lint: Any, folder: Path) -> None:
    (folder / ".reflet.yaml").write_text("lint: {ignore: [RFL009]}\n")

    assert lint("pod.yaml", "--ignore", "RFL002") == (0, [], [])
    assert lint("pod.yaml", "--assume", "secret/db") == (0, [], [])


def test_flags_win_over_the_file(lint: Any, folder: Path) -> None:
    edit(folder, "containers:", "serviceAccountName: web\n  containers:")
    (folder / ".reflet.yaml").write_text("lint: {select: [RFL027], strict: true}\n")

    assert lint("pod.yaml")[:2] == (1, ["RFL027"])
    assert lint("pod.yaml", "--no-strict")[:2] == (0, ["RFL027"])
    assert lint("pod.yaml", "--select", "RFL009")[:2] == (1, ["RFL009"])


def test_an_entry_of_the_file_suppresses(lint: Any, folder: Path) -> None:
    (folder / ".reflet.yaml").write_text(
        "lint: {suppress: [{rule: RFL002, object: Pod default/w*, path: '*.yaml'}]}\n"
    )

    assert lint("pod.yaml") == (1, ["RFL009"], [])


def test_what_the_file_suppresses_in_vain_is_told_of_folders_only(lint: Any, folder: Path) -> None:
    (folder / ".reflet.yaml").write_text(
        "lint:\n  assume: [secret/x]\n  suppress:\n  - {rule: RFL001}\n"
    )

    assert lint("pod.yaml")[2] == []
    assert lint(".")[2] == [
        "2 unused suppressions: entry for RFL001 at .reflet.yaml:4; assumption secret/x"
    ]


def test_many_unused_suppressions_are_one_line(lint: Any) -> None:
    flags = [part for number in range(10) for part in ("--assume", f"secret/{number}")]

    (note,) = lint("pod.yaml", *flags)[2]

    assert note.startswith("10 unused suppressions: assumption secret/0; ")
    assert note.endswith("assumption secret/7; and 2 more")


def test_only_new_findings_fail(lint: Any, folder: Path) -> None:
    code, findings, notes = lint("pod.yaml", "--write-baseline", "known.json")
    assert (code, findings, notes) == (0, [], ["known.json is written, with 2 findings"])

    edit(folder, "spec:", "# a line more\nspec:")
    assert lint("pod.yaml", "--baseline", "known.json") == (0, [], [])

    (folder / "more.yaml").write_text(SECOND)
    assert lint("pod.yaml", "more.yaml", "--baseline", "known.json")[:2] == (
        1,
        ["RFL002", "RFL009"],
    )


def test_findings_that_are_gone_are_told_until_the_baseline_is_written_again(
    lint: Any, folder: Path
) -> None:
    (folder / ".reflet.yaml").write_text("lint: {baseline: known.json}\n")
    lint("pod.yaml", "--write-baseline")
    edit(folder, "$(HSOT)", "x")

    assert lint("pod.yaml")[2] == [
        "1 finding of known.json is gone: write it again with --write-baseline"
    ]
    assert lint("pod.yaml", "--write-baseline")[2] == ["known.json is written, with 1 finding"]
    assert lint("pod.yaml") == (0, [], [])


def test_a_part_of_the_files_or_rules_does_not_make_others_gone(lint: Any, folder: Path) -> None:
    (folder / "more.yaml").write_text(SECOND)
    lint("pod.yaml", "more.yaml", "--write-baseline", "known.json")

    assert lint("more.yaml", "--baseline", "known.json") == (0, [], [])
    assert lint("pod.yaml", "--baseline", "known.json", "--ignore", "RFL002") == (0, [], [])
    lint("more.yaml", "--baseline", "known.json", "--write-baseline")
    assert lint("pod.yaml", "more.yaml", "--baseline", "known.json") == (0, [], [])
    (folder / "more.yaml").unlink()
    assert "2 findings of known.json are gone" in lint("pod.yaml", "--baseline", "known.json")[2][0]


def test_a_baseline_holds_in_every_folder_of_the_repository(
    lint: Any, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "deep").mkdir()
    (folder / "pod.yaml").rename(folder / "deep/pod.yaml")
    lint("deep", "--write-baseline", "known.json")
    monkeypatch.chdir(folder / "deep")

    assert lint("pod.yaml", "--baseline", "../known.json") == (0, [], [])


def test_what_is_suppressed_does_not_become_known(lint: Any, folder: Path) -> None:
    edit(folder, "{name: db}", "{name: db}  # reflet.dev/ignore: RFL002")

    assert "with 1 finding" in lint("pod.yaml", "--write-baseline", "known.json")[2][0]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--baseline", "gone.json"), "cannot read gone.json: No such file or directory; --write"),
        (("--baseline", "pod.yaml"), "pod.yaml is no baseline of lint: "),
        (("--write-baseline", "pod.yaml"), "pod.yaml is no baseline of lint: "),
        (("--write-baseline", "."), "cannot read .: Is a directory"),
        (("--write-baseline", "no/such.json"), "cannot write no/such.json: No such file"),
        (("--write-baseline",), "--write-baseline needs a file"),
        (("--assume", "db"), "'db' is nothing to assume"),
        (("--config", "gone.yaml"), "cannot read gone.yaml"),
    ],
)
def test_mistakes_are_one_line_and_change_no_file(
    lint: Any, folder: Path, arguments: tuple[str, ...], said: str
) -> None:
    code, _, errors = lint("pod.yaml", *arguments)

    assert code == 2
    (line,) = errors
    assert said in line
    assert (folder / "pod.yaml").read_text() == POD
