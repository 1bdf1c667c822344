"""The pages about the development server do what they say."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from reflet.devserver.faults import IMMEDIATE_ACTIONS, Action
from tests.examples.pages import HOW_TO, Reader, agrees, save_files, steps

pytestmark = pytest.mark.story

needs_kubectl = pytest.mark.skipif(
    shutil.which("kubectl") is None and os.environ.get("CI") != "true",
    reason="kubectl is not installed",
)


@needs_kubectl
@pytest.mark.time_limit(120)
def test_the_page_on_running_it_shows_what_is_printed(tmp_path: Path) -> None:
    page = "development-server.md"
    save_files(page, tmp_path)
    wrong = []

    with Reader(tmp_path) as reader:
        done = [(step, reader.follow(step)) for step in steps(page)]

    for step, printed in done:
        if not agrees(printed, step.printed):
            wrong.append(f"$ {step.command}\n{printed}")
    assert "\n".join(wrong) == ""
    assert len(done) > 10


@needs_kubectl
@pytest.mark.time_limit(120)
@pytest.mark.parametrize("page", ["test-with-the-server.md", "coming-from-envtest.md"])
def test_the_tests_on_the_pages_about_tests_pass(page: str, tmp_path: Path) -> None:
    files = [name for name in save_files(page, tmp_path) if name.endswith(".py")]

    # Named explicitly, so that it works where the package's entry points are not installed yet.
    finished = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-q", "-p", "no:reflet", "-p", "no:cacheprovider"),
            *("-p", "reflet.testing.pytest_plugin", "--basetemp", str(tmp_path / "tmp")),
            *("--rootdir", str(tmp_path), str(tmp_path)),
        ],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        timeout=100,
    )

    tests = sum((tmp_path / name).read_text().count("\ndef test_") for name in files)
    assert f"{tests} passed" in finished.stdout, finished.stdout + finished.stderr
    assert tests > 3


def test_the_page_lists_every_fault() -> None:
    text = (HOW_TO / "development-server.md").read_text()

    unlisted = [action for action in Action if f"\n| `{action}` | " not in text]
    immediate = text.partition('`"now": true`')[2].partition("can do that")[0]

    assert unlisted == []
    assert {action for action in Action if f"`{action}`" in immediate} == IMMEDIATE_ACTIONS


@pytest.mark.parametrize(
    ("printed", "said", "expected"),
    [
        ("a\nb\n", "a\nb\n", True),
        ("a 17 b", "a … b", True),
        ("1\n2\n3\n", "1\n…", True),
        ("a\nb", "a", False),
        ("axb", "a.b", False),
    ],
)
def test_three_dots_stand_for_anything_and_nothing_else_does(
    printed: str, said: str, expected: bool
) -> None:
    assert agrees(printed, said) is expected


def test_the_pages_say_that_it_is_not_for_production() -> None:
    for page in ("development-server.md", "test-with-the-server.md"):
        text = " ".join((HOW_TO / page).read_text().replace(">", " ").replace("*", "").split())

        assert "never for production" in text
        assert "127.0.0.1" in text
        assert "may do everything" in text
