"""Findings for people, for GitHub and for programs."""

from __future__ import annotations

from typing import Any

from reflet.cli.output.lint_output import (
    LintReport,
    github_lines,
    json_document,
    rules_document,
    text_lines,
)
from reflet.insight.lint.rules import MISSING_KEY, NEVER_REFRESHED, RULES, SHADOWED, Finding
from reflet.insight.lint.suppressions import Suppressed


def finding(rule: Any = MISSING_KEY, **facts: Any) -> Finding:
    return Finding(
        rule=rule,
        message=facts.pop("message", "no key"),
        file=facts.pop("file", "shop/a b.yaml"),
        line=facts.pop("line", 7),
        subject="Pod shop/web",
        **facts,
    )


def test_github_gets_a_command_for_each_finding() -> None:
    findings = [finding(), finding(SHADOWED), finding(NEVER_REFRESHED)]

    assert list(github_lines(LintReport(findings))) == [
        "::error file=shop/a b.yaml,line=7,title=RFL003 missing-key::no key",
        "::warning file=shop/a b.yaml,line=7,title=RFL007 shadowed-variable::no key",
        "::notice file=shop/a b.yaml,line=7,title=RFL017 never-refreshed::no key",
    ]


def test_githubs_commands_are_escaped() -> None:
    odd = finding(file="a,b:c%.yaml", message="100% of\r\n::error::it", fix="x")

    (line,) = github_lines(LintReport([odd]))

    head, _, data = line.partition("missing-key::")
    assert head == "::error file=a%2Cb%3Ac%25.yaml,line=7,title=RFL003 "
    assert data == "100%25 of%0D%0A::error::it%0Afix: x"


def suppressed(manner: Any) -> Suppressed:
    return Suppressed(finding=finding(message=manner), manner=manner, reason="")


def test_programs_get_null_for_what_is_not_there() -> None:
    (found,) = json_document(LintReport([finding()]))["findings"]

    assert found == {
        "rule": "RFL003",
        "name": "missing-key",
        "severity": "error",
        "message": "no key",
        "file": "shop/a b.yaml",
        "line": 7,
        "object": "Pod shop/web",
        "path": None,
        "kubelet": None,
        "apiServer": None,
        "fix": None,
        "fingerprint": None,
    }


def test_programs_learn_who_says_it() -> None:
    said = [finding(said="a", by="kubelet"), finding(said="b", by="API server")]

    found = json_document(LintReport(said))["findings"]

    assert [(each["kubelet"], each["apiServer"]) for each in found] == [("a", None), (None, "b")]


def test_programs_learn_what_is_suppressed_and_what_need_not_be() -> None:
    hidden = suppressed("comment")

    document = json_document(
        LintReport([], [hidden], {hidden.finding: "f00"}, notes=["n"], unused=["u"])
    )

    assert document["findings"] == []
    (found,) = document["suppressed"]
    assert (found["suppressedBy"], found["reason"], found["fingerprint"]) == (
        "comment",
        None,
        "f00",
    )
    assert (document["notes"], document["unusedSuppressions"]) == (["n"], ["u"])


SEE = "    see: https://reflet.dev/reference/lint/RFL003.html"


def test_words_are_told_as_those_of_who_says_them() -> None:
    findings = [finding(said="a"), finding(said="b", by="API server")]

    lines = list(text_lines(LintReport(findings, objects=1)))

    assert lines == [
        "shop/a b.yaml:7: error RFL003 missing-key",
        "    no key",
        "    kubelet: a",
        SEE,
        "",
        "shop/a b.yaml:7: error RFL003 missing-key",
        "    no key",
        "    API server: b",
        SEE,
        "",
        "2 errors in 1 object",
    ]


def test_words_that_the_message_has_are_not_told_twice() -> None:
    lines = list(text_lines(LintReport([finding(message="no: key", said="key")], objects=1)))

    assert lines == [
        "shop/a b.yaml:7: error RFL003 missing-key",
        "    no: key",
        SEE,
        "",
        "1 error in 1 object",
    ]


def test_what_is_left_out_is_counted() -> None:
    left_out = [suppressed("baseline"), suppressed("comment"), suppressed("annotation")]

    assert list(text_lines(LintReport([], left_out, objects=3))) == [
        "no findings in 3 objects (1 known from the baseline, 2 suppressed)"
    ]


def test_file_names_have_no_power_over_a_terminal() -> None:
    report = LintReport([finding(file="\x1b[31m.yaml", message="\x1b[0m")], objects=1)

    assert "\x1b" not in "".join((*text_lines(report), *github_lines(report)))


def test_a_file_name_is_no_command_to_a_runner() -> None:
    lines = list(text_lines(LintReport([finding(file="::error::x.yaml")], objects=1)))

    assert lines[0] == "./::error::x.yaml:7: error RFL003 missing-key"


def test_every_rule_is_there_for_programs() -> None:
    assert [rule["id"] for rule in rules_document()] == [rule.id for rule in RULES]
