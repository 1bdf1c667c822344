"""The table of rules."""

from __future__ import annotations

import msgspec
import pytest

from reflet.errors import ConfigurationError
from reflet.insight.lint import rules
from reflet.insight.lint.rules import RULES, Finding, Severity, chosen_rules


def test_rules_are_numbered_without_gaps() -> None:
    assert [rule.id for rule in RULES] == [f"RFL{number:03}" for number in range(1, len(RULES) + 1)]


def test_names_are_not_used_twice() -> None:
    assert len({rule.name for rule in RULES}) == len(RULES)


def test_usual_rules_are_chosen_without_being_asked_for() -> None:
    assert chosen_rules() == frozenset(RULES) - {rules.UNUSED}


def test_rules_are_selected_by_id_name_or_all() -> None:
    assert chosen_rules(["rfl002", "missing-key"]) == {rules.MISSING_OBJECT, rules.MISSING_KEY}
    assert chosen_rules(["ALL"]) == frozenset(RULES)


def test_ignored_rules_are_left_out_of_those_selected() -> None:
    assert chosen_rules(["RFL002", "RFL003"], ["RFL003"]) == {rules.MISSING_OBJECT}


def test_an_unknown_rule_is_a_mistake() -> None:
    with pytest.raises(ConfigurationError, match="there is no rule 'RFL999': reflet lint --rules"):
        chosen_rules(["RFL999"])


def test_a_finding_is_as_bad_as_its_rule_unless_it_says_otherwise() -> None:
    found = Finding(rule=rules.MISSING_OBJECT, message="m", file="f", line=1, subject="s")

    assert found.severity is Severity.ERROR
    assert msgspec.structs.replace(found, own_severity=Severity.NOTE).severity is Severity.NOTE
