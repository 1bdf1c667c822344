"""What a forge, an editor and a maintainer find at the top of the repository, kept true."""

from __future__ import annotations

import configparser
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from reflet._version import __version__

REPOSITORY: Final = Path(__file__).parents[2]
FORGE: Final = REPOSITORY / ".github"
BARE_DEBIAN: Final = (
    "apt-get update && apt-get install --yes --no-install-recommends"
    " ca-certificates make python3-venv"
)
"""All that is promised to be enough; pip needs the certificates."""
RELEASED: Final = re.compile(r"^## \[(\d[^\]]*)\] - \d{4}-\d\d-\d\d$", re.MULTILINE)


def parsed(path: Path) -> Any:
    return yaml.safe_load(path.read_text())


def workflows() -> list[Path]:
    return sorted((FORGE / "workflows").glob("*.yml"))


def steps() -> list[dict[str, Any]]:
    jobs = [job for path in workflows() for job in parsed(path)["jobs"].values()]
    return [step for job in jobs for step in job["steps"]]


def targets() -> set[str]:
    return set(re.findall(r"^([a-z-]+):(?!=)", (REPOSITORY / "Makefile").read_text(), re.MULTILINE))


def test_every_action_is_pinned_and_may_only_read() -> None:
    used = [step["uses"] for step in steps() if "uses" in step]

    assert used
    assert [name for name in used if not re.fullmatch(r"[\w/-]+@(v\d+|[0-9a-f]{40})", name)] == []
    assert {str(parsed(path)["permissions"]) for path in workflows()} == {"{'contents': 'read'}"}


def test_a_workflow_runs_only_what_contributors_run() -> None:
    commands = [line for step in steps() for line in step.get("run", "").splitlines()]

    made = [line.split()[1] for line in commands if line.startswith("make ")]
    others = {line for line in commands if not line.startswith("make ")}
    assert others == {"bash .ci/run", BARE_DEBIAN}
    assert set(made) <= targets()


def test_the_workflow_tries_every_version_of_python_that_the_package_names() -> None:
    named = re.findall(
        r'"Programming Language :: Python :: (3\.\d+)"', (REPOSITORY / "pyproject.toml").read_text()
    )
    matrix = parsed(FORGE / "workflows/ci.yml")["jobs"]["test"]["strategy"]["matrix"]

    assert set(named) <= set(matrix["python"])


@pytest.mark.parametrize("name", ["bug", "feature"])
def test_a_form_for_issues_has_what_the_forge_asks_for(name: str) -> None:
    form = parsed(FORGE / f"ISSUE_TEMPLATE/{name}.yml")

    fields = [field["id"] for field in form["body"] if field["type"] != "markdown"]
    assert {"name", "description", "body"} <= form.keys()
    assert len(fields) == len(set(fields)) > 0


def test_whoever_finds_a_vulnerability_is_led_to_the_policy() -> None:
    assert "SECURITY.md" in (FORGE / "ISSUE_TEMPLATE/bug.yml").read_text()
    assert "Report a vulnerability" in (REPOSITORY / "SECURITY.md").read_text()


def test_the_editors_know_the_length_of_a_line_of_python() -> None:
    editors = configparser.ConfigParser()
    editors.read_string("[all]\n" + (REPOSITORY / ".editorconfig").read_text())
    linter = re.search(
        r"^line-length = (\d+)$", (REPOSITORY / "pyproject.toml").read_text(), re.MULTILINE
    )

    assert linter is not None
    assert editors["*.py"]["max_line_length"] == linter[1]


def test_a_commit_is_checked_by_the_tools_of_make_check() -> None:
    hooks = parsed(REPOSITORY / ".pre-commit-config.yaml")["repos"][0]["hooks"]
    recipe = (REPOSITORY / "Makefile").read_text()

    tools = {hook["entry"].split()[0].removeprefix(".venv/bin/") for hook in hooks}
    assert tools - {"reflet"} == {"ruff", "lint-imports", "mypy"}
    assert [tool for tool in tools - {"reflet"} if f"$(BIN)/{tool}" not in recipe] == []


# The version, the changelog and the tags


def released() -> list[str]:
    return RELEASED.findall((REPOSITORY / "CHANGELOG.md").read_text())


def tags() -> list[str]:
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    listed = subprocess.run(
        ["git", "tag", "--list", "v*"], cwd=REPOSITORY, capture_output=True, text=True, check=False
    )  # in an archive there are none
    return [tag.removeprefix("v") for tag in listed.stdout.split()]


def test_the_version_is_that_of_the_newest_section_of_the_changelog() -> None:
    """Before the first release there is no section but Unreleased, and no tag."""
    assert released()[:1] in ([__version__], [])


def test_every_tag_has_its_section_in_the_changelog() -> None:
    assert [tag for tag in tags() if tag not in released()] == []


def test_no_version_has_two_sections() -> None:
    assert len(released()) == len(set(released()))
