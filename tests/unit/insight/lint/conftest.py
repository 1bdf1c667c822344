"""Lint of a text, as if it were a file that is applied."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from reflet.insight.lint.linting import Live, lint
from reflet.insight.lint.rules import UNUSED, Finding
from reflet.manifests.applying import read_applied
from reflet.podconfig.gather_lint import subjects_of

Linted = Callable[..., tuple[Finding, ...]]


@pytest.fixture
def linted(tmp_path: Path) -> Linted:
    """Give the findings in a text; unused objects only when asked for."""

    def linted(text: str, *, live: Live | None = None, unused: bool = False) -> tuple[Finding, ...]:
        path = tmp_path / "a.yaml"
        path.write_text(text)
        findings = lint(subjects_of(read_applied([str(path)])), live=live or {})
        return tuple(each for each in findings if unused or each.rule is not UNUSED)

    return linted
