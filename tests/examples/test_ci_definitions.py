"""What other programs run in a repository: the hooks, the action, and the snippets of the page."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import click
import pytest
import yaml

from reflet.cli.main import reflet
from reflet.cli.options.project_file import read_project_file
from tests.examples.pages import DOCS, blocks

REPOSITORY: Final = DOCS.parent
PAGE: Final = "lint-in-ci.md"
COMMANDS: Final = Path(sys.executable).parent
GOOD: Final = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
BAD: Final = """\
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  containers:
  - {name: web, image: i, env: [{name: A, value: $(B)}]}
"""


def parsed(name: str) -> Any:
    return yaml.safe_load((REPOSITORY / name).read_text())


HOOKS: Final = {hook["id"]: hook for hook in parsed(".pre-commit-hooks.yaml")}
STEPS: Final = {step["name"]: step for step in parsed("action.yml")["runs"]["steps"]}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "good file.yaml").write_text(GOOD)
    (tmp_path / "bad.yaml").write_text(BAD)
    return tmp_path


def run(argv: list[str], folder: Path, **environment: str) -> tuple[int, str]:
    path = f"{COMMANDS}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        argv,
        cwd=folder,
        env={"PATH": path, "LC_ALL": "C.UTF-8", "HOME": str(folder), **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout


def argv_of(hook: dict[str, Any], *names: str) -> list[str]:
    """What pre-commit runs: the entry, the arguments and, unless told otherwise, the files."""
    files = names if hook.get("pass_filenames", True) else ()
    return [*shlex.split(hook["entry"]), *hook.get("args", ()), *files]


@pytest.mark.parametrize("hook", HOOKS.values(), ids=HOOKS)
def test_a_hook_has_what_pre_commit_asks_for(hook: dict[str, Any]) -> None:
    assert {"id", "name", "description", "entry", "language", "files"} <= set(hook)
    assert hook["language"] == "python"
    matching = re.compile(hook["files"])
    assert [bool(matching.search(name)) for name in ("a.yaml", "b/c.yml", "d.json", "e.py")] == [
        True,
        True,
        True,
        False,
    ]


def test_the_hook_checks_the_files_of_a_commit(folder: Path) -> None:
    assert run(argv_of(HOOKS["reflet-lint"], "good file.yaml"), folder)[0] == 0
    code, output = run(argv_of(HOOKS["reflet-lint"], "good file.yaml", "bad.yaml"), folder)
    assert (code, "bad.yaml:6: error RFL009" in output) == (1, True)


def test_the_hook_for_folders_checks_all_files(folder: Path) -> None:
    code, output = run(argv_of(HOOKS["reflet-lint-folder"], "good file.yaml"), folder)

    assert (code, "bad.yaml:6: error RFL009" in output) == (1, True)


@pytest.fixture
def runner(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A runner's temporary folder after the first step, which installs."""
    temporary = tmp_path_factory.mktemp("runner")
    commands = temporary / "reflet/bin"
    commands.mkdir(parents=True)
    (commands / "reflet").symlink_to(COMMANDS / "reflet")
    return temporary


def run_step(name: str, folder: Path, runner: Path, **inputs: str) -> tuple[int, str]:
    """Run a step of the action as GitHub does, with the inputs that its environment names."""
    step = STEPS[name]
    assert step["shell"] == "bash"
    assert "${{" not in step["run"], "what users write is no part of a script"
    defaults = {key: value["default"] for key, value in parsed("action.yml")["inputs"].items()}
    environment = {
        variable: re.sub(
            r"\$\{\{ inputs\.(\w+) \}\}", lambda found: {**defaults, **inputs}[found[1]], value
        )
        for variable, value in step["env"].items()
    }
    return run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
        folder,
        RUNNER_TEMP=str(runner),
        **environment,
    )


def test_the_action_puts_findings_beside_lines(folder: Path, runner: Path) -> None:
    code, output = run_step("Lint", folder, runner, path="good file.yaml\nbad.yaml\n")

    assert (code, output.split(" ")[:2]) == (1, ["::error", "file=bad.yaml,line=6,title=RFL009"])


def test_the_action_checks_everything_unless_told_otherwise(folder: Path, runner: Path) -> None:
    assert run_step("Lint", folder, runner)[0] == 1
    assert run_step("Lint", folder, runner, args="--ignore RFL009\n--strict") == (0, "")
    assert run_step("Lint", folder, runner, path="good file.yaml") == (0, "")


def test_the_action_runs_nothing_that_its_inputs_hold(folder: Path, runner: Path) -> None:
    evil = "$(touch pwned); touch pwned `touch pwned`"

    code, _ = run_step("Lint", folder, runner, path=evil, args=evil)

    assert (code, (folder / "pwned").exists()) == (2, False)


def test_the_action_writes_sarif_and_leaves_failing_to_its_last_step(
    folder: Path, runner: Path
) -> None:
    assert run_step("Write SARIF", folder, runner) == (0, "")
    upload = STEPS["Upload SARIF"]
    assert upload["with"]["sarif_file"] == "${{ runner.temp }}/reflet.sarif"
    document = json.loads((runner / "reflet.sarif").read_text())
    assert [result["ruleId"] for result in document["runs"][0]["results"]] == ["RFL009"]


def test_the_action_does_not_upload_what_is_no_report(folder: Path, runner: Path) -> None:
    assert run_step("Write SARIF", folder, runner, path="gone.yaml")[0] == 1


def test_the_action_uploads_only_when_it_is_asked_to() -> None:
    assert {name for name, step in STEPS.items() if "if" in step} == {"Write SARIF", "Upload SARIF"}
    assert list(STEPS)[-1] == "Lint"


def test_the_action_installs_what_is_there_for_it(folder: Path) -> None:
    step = STEPS["Install Reflet"]

    assert step["env"] == {"REQUIREMENT": "${{ inputs.version || github.action_path }}"}
    assert 'install --quiet --disable-pip-version-check "$REQUIREMENT"' in step["run"]
    assert run(["bash", "-n", "-c", step["run"]], folder) == (0, "")


def snippets() -> Iterator[Any]:
    for block in blocks(PAGE):
        if block.language == "yaml" and not block.name and "apiVersion" not in block.content:
            yield yaml.safe_load(block.content)


def lint_commands(value: Any) -> Iterator[list[str]]:
    """Find the arguments of every ``reflet lint`` in a snippet."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from lint_commands(item)
    elif isinstance(value, str) and value.startswith("reflet lint "):
        yield shlex.split(value.partition(">")[0])[2:]


def test_the_commands_of_the_snippets_exist() -> None:
    commands = [command for snippet in snippets() for command in lint_commands(snippet)]
    # A command keeps the help flags of the context in which it was first used.
    outer = click.Context(reflet, info_name="reflet", **reflet.context_settings)
    lint = reflet.get_command(outer, "lint")
    assert lint is not None

    for command in commands:
        lint.make_context("lint", [*command], parent=outer)

    assert len(commands) == 4


def test_the_snippet_for_the_action_uses_inputs_that_it_has() -> None:
    (used,) = (
        step["with"]
        for snippet in snippets()
        if isinstance(snippet, dict)
        for step in snippet.get("steps", ())
        if step["uses"].startswith("./reflet")
    )

    assert set(used) <= set(parsed("action.yml")["inputs"])


def test_the_snippet_for_pre_commit_names_a_hook() -> None:
    (repositories,) = (
        snippet["repos"]
        for snippet in snippets()
        if isinstance(snippet, dict) and "repos" in snippet
    )

    assert {hook["id"] for each in repositories for hook in each["hooks"]} <= set(HOOKS)


@pytest.mark.parametrize(("name", "expected"), [("good file.yaml", 0), ("bad.yaml", 1)])
def test_the_snippet_for_gitlab_writes_both_reports_and_fails(
    folder: Path, name: str, expected: int
) -> None:
    (job,) = (
        snippet["lint"]
        for snippet in snippets()
        if isinstance(snippet, dict) and "script" in snippet.get("lint", ())
    )
    _, *script = job["script"]
    (folder / "deploy").mkdir()
    (folder / name).rename(folder / "deploy/a.yaml")

    code, _ = run(["bash", "-eo", "pipefail", "-c", "\n".join(script)], folder)

    reports = job["artifacts"]["reports"]
    assert code == expected
    assert len(json.loads((folder / reports["codequality"]).read_text())) == expected
    assert f'failures="{expected}"' in (folder / reports["junit"]).read_text()


def test_the_example_of_the_projects_file_is_one(tmp_path: Path) -> None:
    (example,) = (
        block for block in blocks(DOCS / "reference/project-file.md") if block.language == "yaml"
    )
    file = tmp_path / ".reflet.yaml"
    file.write_text(example.content)

    found = read_project_file(file)

    assert found.lint.suppress[1].rules == ("RFL004", "RFL015")
