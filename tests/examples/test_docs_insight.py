"""The pages about why, used-by, lint and rbac do what they say."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.examples.pages import Reader, agrees, save_files, steps


@pytest.mark.time_limit(120)
@pytest.mark.parametrize("page", ["find-out-why.md", "lint-in-ci.md", "minimal-rights.md"])
def test_the_page_shows_what_is_printed(page: str, tmp_path: Path) -> None:
    save_files(page, tmp_path)
    wrong = []

    with Reader(tmp_path) as reader:
        before = ""
        for step in steps(page):
            # Each command has a shell of its own here, so the exit code goes with the command.
            command = f"{{ {before}; }} > /dev/null 2>&1; {step.command}"
            printed = reader.do(command if step.command == "echo $?" else step.command)
            if not agrees(printed, step.printed):
                wrong.append(f"$ {step.command}\n{printed}")
            before = step.command

    assert "\n".join(wrong) == ""
