"""Every rule of lint has a page, and its examples do what it says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final

import pytest

from reflet.api.core.config import ConfigMap
from reflet.api.yaml.text import read_manifests
from reflet.insight.lint.linting import lint
from reflet.insight.lint.rules import RULES, UNUSED, Rule
from reflet.manifests.applying import read_applied
from reflet.podconfig.gather_lint import subjects_of

DOCS: Final = Path(__file__).parents[2] / "docs"
EVERY_RULE: Final = [pytest.param(rule, id=rule.id) for rule in RULES]


def section(rule: Rule, heading: str) -> str:
    """Return the example below a heading; "… 9 letters …" stands for a long value."""
    text = (DOCS / rule.page).read_text()
    found = re.search(rf"^## {heading}\n\n```yaml\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    if found is None:
        return ""
    return re.sub(
        r"… ([\d,]+) letters …", lambda size: "x" * int(size[1].replace(",", "")), found[1]
    )


def broken_rules(rule: Rule, heading: str, folder: Path) -> set[str]:
    path = folder / "example.yaml"
    path.write_text(section(rule, heading))
    live: dict[Any, Any] = {}
    for manifest in read_manifests(section(rule, "In the cluster")):
        assert isinstance(manifest.object, ConfigMap)
        live["ConfigMap", "default", manifest.object.metadata.name] = manifest.object
    # Examples are small: that nothing uses their objects matters on one page only.
    chosen = [each for each in RULES if each is rule or each is not UNUSED]
    findings = lint(subjects_of(read_applied([str(path)])), live=live, chosen=chosen)
    return {finding.rule.id for finding in findings}


@pytest.mark.parametrize("rule", EVERY_RULE)
def test_a_page_says_what_the_table_says(rule: Rule) -> None:
    text = (DOCS / rule.page).read_text()

    off = "" if rule.usual else ", off by default"
    assert text.startswith(f"# {rule.id}: {rule.name}\n\nLevel: {rule.severity.value}{off}\n")
    assert re.findall(r"^## (.*)$", text, re.MULTILINE) in (
        ["What", "Why", "Bad", "Good"],
        ["What", "Why", "In the cluster", "Bad", "Good"],
    )


@pytest.mark.parametrize("rule", EVERY_RULE)
def test_the_bad_example_breaks_exactly_its_rule(rule: Rule, tmp_path: Path) -> None:
    assert broken_rules(rule, "Bad", tmp_path) == {rule.id}


@pytest.mark.parametrize("rule", EVERY_RULE)
def test_the_good_example_does_not_break_its_rule(rule: Rule, tmp_path: Path) -> None:
    assert rule.id not in broken_rules(rule, "Good", tmp_path)


def test_there_are_no_pages_without_a_rule() -> None:
    pages = {path.stem for path in (DOCS / "reference/lint").glob("RFL*.md")}

    assert pages == {rule.id for rule in RULES}
