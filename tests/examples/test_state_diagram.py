from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from docs.generators.state_diagram import BEGIN, END, diagram, redrawn
from reflet.informer.reflector.endings import (
    AFTER_LIST,
    AFTER_WATCH,
    AFTER_WATCH_LIST,
    AFTER_WATCH_REQUEST,
)

REPOSITORY = Path(__file__).parents[2]
PAGE = REPOSITORY / "docs/explanation/reflector.md"


def test_the_documentation_shows_the_present_states() -> None:
    page = PAGE.read_text()

    assert page == redrawn(page), (
        f"out of date: run python -m docs.generators.state_diagram {PAGE.name}"
    )


@pytest.mark.parametrize(
    ("state", "prefix", "table"),
    [
        ("WatchList", "", AFTER_WATCH_LIST),
        ("List", "", AFTER_LIST),
        ("Watch", "", AFTER_WATCH),
        ("Watch", "request ", AFTER_WATCH_REQUEST),
    ],
)
def test_every_row_of_the_tables_is_in_the_picture(
    state: str, prefix: str, table: dict[str, object]
) -> None:
    labels = [
        line.split(": ", 1)[1].split(" / ")[0].removeprefix(prefix).split(", ")
        for line in diagram().splitlines()
        if line.strip().startswith(f"{state} -->") and f": {prefix}" in line
    ]

    shown = {ending for label in labels for ending in label}

    assert shown >= {ending.replace("_", " ") for ending in table}


def test_a_page_without_a_place_for_the_picture_is_refused() -> None:
    with pytest.raises(ValueError, match="no place for the diagram"):
        redrawn("# The reflector\n")


def test_the_module_draws_into_a_page(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n")

    subprocess.run(
        [sys.executable, "-m", "docs.generators.state_diagram", str(page)],
        check=True,
        cwd=REPOSITORY,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )

    assert page.read_text() == redrawn(f"before\n{BEGIN}\n{END}\nafter\n")
