"""docs/explanation/security.md: every claim names a test, and every test that it names exists."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path
from typing import Final

import pytest

REPOSITORY: Final = Path(__file__).parents[2]
PAGE: Final = REPOSITORY / "docs/explanation/security.md"
NAMED: Final = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")
HEADING: Final = "| claim | checked by |"


@cache
def functions_of(file: str) -> frozenset[str]:
    path = REPOSITORY / file
    if not path.is_file():
        return frozenset()
    found = ast.walk(ast.parse(path.read_text()))
    return frozenset(
        node.name for node in found if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    )


def claims() -> list[str]:
    """Every row of every table of claims."""
    rows: list[str] = []
    inside = False
    for line in PAGE.read_text().splitlines():
        inside = line == HEADING or (inside and line.startswith("|"))
        if inside and line != HEADING and not line.startswith("|---"):
            rows.append(line)
    return rows


@pytest.mark.parametrize(("file", "test"), sorted(set(NAMED.findall(PAGE.read_text()))))
def test_a_test_that_the_page_names_exists(file: str, test: str) -> None:
    assert test in functions_of(file)


def test_every_claim_names_a_test() -> None:
    rows = claims()

    assert [row for row in rows if not NAMED.search(row)] == []
    assert len(rows) > 20
