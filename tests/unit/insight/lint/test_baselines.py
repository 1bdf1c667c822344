"""Findings that are known."""

from __future__ import annotations

import json

import pytest

from reflet.errors import ConfigurationError
from reflet.insight.lint.baselines import Baseline, KnownFinding, known_findings
from reflet.insight.lint.rules import MASKED, Finding


def known(print_: str, file: str = "a.yaml", rule: str = "RFL002") -> KnownFinding:
    return KnownFinding(fingerprint=print_, rule=rule, file=file, object="Pod shop/ä")


def test_there_is_a_line_for_each_finding_in_a_steady_order() -> None:
    text = Baseline.of([known("2", "b.yaml"), known("1"), known("0", "b.yaml")]).text()

    assert text == (
        '{\n  "apiVersion": "reflet.dev/v1alpha1",\n  "kind": "LintBaseline",\n  "findings": [\n'
        '    {"file": "a.yaml", "object": "Pod shop/ä", "rule": "RFL002", "fingerprint": "1"},\n'
        '    {"file": "b.yaml", "object": "Pod shop/ä", "rule": "RFL002", "fingerprint": "0"},\n'
        '    {"file": "b.yaml", "object": "Pod shop/ä", "rule": "RFL002", "fingerprint": "2"}\n'
        "  ]\n}\n"
    )


@pytest.mark.parametrize("findings", [[], [known("1")]])
def test_what_is_written_is_read_again(findings: list[KnownFinding]) -> None:
    baseline = Baseline.of(findings)

    assert Baseline.parse(baseline.text(), source="b") == baseline
    assert json.loads(baseline.text())["kind"] == "LintBaseline"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "Input data was truncated"),
        ("[]", "Expected `object`, got `array`"),
        ('{"apiVersion": "v1", "kind": "ConfigMap"}', "it is ConfigMap of v1"),
        (
            '{"apiVersion": "reflet.dev/v1alpha1", "kind": "LintBaseline", "findings": [{}]}',
            "missing required field `fingerprint` - at `$.findings[0]`",
        ),
        (b'"\xff"', "b.json is no baseline of lint: "),
    ],
)
def test_anything_else_is_a_mistake(text: str | bytes, words: str) -> None:
    with pytest.raises(ConfigurationError, match=r"^b\.json is no baseline of lint: ") as caught:
        Baseline.parse(text, source="b.json")

    assert words in str(caught.value)


def test_a_finding_that_could_have_been_found_and_was_not_is_gone() -> None:
    baseline = Baseline.of([known("1"), known("2"), known("3", "unread.yaml")])

    gone = baseline.gone(["1"], lambda each: each.file == "a.yaml")

    assert gone == (known("2"),)


def test_a_baseline_keeps_what_nobody_looked_for() -> None:
    baseline = Baseline.of([known("1"), known("3", "unread.yaml")])

    renewed = baseline.renewed([known("2")], lambda each: each.file == "a.yaml")

    assert renewed == Baseline.of([known("2"), known("3", "unread.yaml")])


def test_findings_become_known_by_the_name_of_their_file() -> None:
    finding = Finding(rule=MASKED, message="m", file="/x/a.yaml", line=1, subject="Pod shop/ä")

    assert known_findings([finding], ["1"], lambda _: "a.yaml") == (known("1", rule="RFL004"),)
