"""The repository keeps its own house rules: lock, Makefile, CI, and where tests live."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Final

import pytest

REPOSITORY: Final = Path(__file__).parents[2]
SOURCE: Final = REPOSITORY / "src/reflet"
UNIT_TESTS: Final = REPOSITORY / "tests/unit"


def makefile() -> str:
    return (REPOSITORY / "Makefile").read_text()


def sources_of(test: Path) -> list[Path]:
    """Return the source files that a unit test may be about: ``test_MODULE[_TOPIC].py``."""
    place = test.relative_to(UNIT_TESTS)
    words = place.stem.removeprefix("test_").split("_")
    names = ["_".join(words[:end]) for end in range(len(words), 0, -1)]
    return [SOURCE / place.parent / f"{name}.py" for name in names]


def test_the_lock_records_no_address() -> None:
    lines = (REPOSITORY / "requirements/dev.lock").read_text().splitlines()

    addresses = [
        line for line in lines if re.search(r"://|--(extra-)?index-url|--find-links", line)
    ]

    assert addresses == []


def test_the_lock_pins_every_requirement_with_a_hash() -> None:
    lock = (REPOSITORY / "requirements/dev.lock").read_text().replace("\\\n", " ")
    requirements = [
        line for line in lock.splitlines() if re.match(r"[a-z0-9]", line, re.IGNORECASE)
    ]

    loose = [line for line in requirements if "==" not in line or "--hash=sha256:" not in line]

    assert (loose, len(requirements) > 10) == ([], True)


def make(*arguments: str) -> str:
    # A make that is under way hands down flags that would make this one report like a child.
    environment = {name: value for name, value in os.environ.items() if "MAKE" not in name}
    command = ["make", *arguments]
    return subprocess.run(
        command, cwd=REPOSITORY, env=environment, capture_output=True, check=True, text=True
    ).stdout


def test_make_lists_every_target() -> None:
    phony = re.search(r"^\.PHONY: (.*)$", makefile(), re.MULTILINE)
    assert phony is not None

    listed = set(re.findall(r"^ *make ([a-z-]+) +\S", make(), re.MULTILINE))

    assert listed == set(phony[1].split())


def test_the_tests_that_contributors_are_told_to_run_are_there() -> None:
    told = re.findall(r"tests/[\w/.]+", (REPOSITORY / "CONTRIBUTING.md").read_text())

    assert [path for path in told if not (REPOSITORY / path.rstrip(".")).exists()] == []


def test_every_target_that_is_not_a_file_is_declared_phony() -> None:
    phony = re.search(r"^\.PHONY: (.*)$", makefile(), re.MULTILINE)
    assert phony is not None

    targets = set(re.findall(r"^([a-z-]+):(?!=)", makefile(), re.MULTILINE))

    assert targets == set(phony[1].split())


def test_ci_runs_make_check() -> None:
    script = REPOSITORY / ".ci/run"

    assert re.search(r"^(exec )?make check$", script.read_text(), re.MULTILINE)
    assert os.access(script, os.X_OK)


def test_make_check_runs_every_tool() -> None:
    would_run = make("--dry-run", "check")

    missing = [
        tool
        for tool in (
            "ruff format --check",
            "ruff check",
            "mypy/linux\n",
            "mypy/darwin --platform darwin",
            "mypy/windows --platform win32",
            "lint-imports",
            "tools.audit",
            "sphinx",
            "site_check",
            "codespell",
            "pytest",
        )
        if tool not in would_run
    ]
    assert missing == []
    assert "not story" not in would_run


@pytest.mark.parametrize(("asked", "quick"), [((), False), (("QUICK=1",), True)])
def test_benchmarks_are_quick_only_when_asked(asked: tuple[str, ...], quick: bool) -> None:
    assert ("--quick" in make("--dry-run", "bench", *asked)) is quick


@pytest.mark.parametrize(
    "test",
    [
        pytest.param(path, id=str(path.relative_to(UNIT_TESTS)))
        for path in sorted(UNIT_TESTS.rglob("test_*.py"))
    ],
)
def test_a_unit_test_mirrors_a_source_file(test: Path) -> None:
    assert any(source.is_file() for source in sources_of(test))
