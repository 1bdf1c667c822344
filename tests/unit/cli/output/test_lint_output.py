"""Findings for code scanning, for GitHub and for programs."""

from __future__ import annotations

from typing import Any

from reflet.cli.output.lint_output import github_lines, json_document, sarif_document, text_lines
from reflet.insight.lint.rules import MASKED, MISSING_KEY, NEVER_REFRESHED, RULES, Finding


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
    findings = [finding(), finding(MASKED), finding(NEVER_REFRESHED)]

    assert list(github_lines(findings)) == [
        "::error file=shop/a b.yaml,line=7,title=RFL003 missing-key::no key",
        "::warning file=shop/a b.yaml,line=7,title=RFL004 masked-by-optional::no key",
        "::notice file=shop/a b.yaml,line=7,title=RFL017 never-refreshed::no key",
    ]


def test_githubs_commands_are_escaped() -> None:
    odd = finding(file="a,b:c%.yaml", message="100% of\r\n::error::it", fix="x")

    (line,) = github_lines([odd])

    head, _, data = line.partition("missing-key::")
    assert head == "::error file=a%2Cb%3Ac%25.yaml,line=7,title=RFL003 "
    assert data == "100%25 of%0D%0A::error::it%0Afix: x"


def test_sarif_has_what_its_schema_requires() -> None:
    """The document of this shape was checked with the schema that it names."""
    document = sarif_document([finding(path="spec", fix="add it")], ["a note"])

    assert set(document) == {"$schema", "version", "runs"}
    assert document["version"] == "2.1.0"
    (run,) = document["runs"]
    assert set(run) == {"tool", "columnKind", "results", "invocations"}
    assert run["results"] == [
        {
            "ruleId": "RFL003",
            "ruleIndex": 2,
            "level": "error",
            "message": {"text": "no key; fix: add it"},
            "locations": [
                {
                    "physicalLocation": {
                        "artifactLocation": {"uri": "shop/a%20b.yaml"},
                        "region": {"startLine": 7},
                    },
                    "logicalLocations": [{"fullyQualifiedName": "Pod shop/web spec"}],
                }
            ],
        }
    ]
    assert run["invocations"] == [
        {
            "executionSuccessful": True,
            "toolExecutionNotifications": [{"level": "note", "message": {"text": "a note"}}],
        }
    ]


def test_sarif_describes_every_rule() -> None:
    (run,) = sarif_document([])["runs"]

    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == [rule.id for rule in RULES]
    assert rules[18]["defaultConfiguration"] == {"enabled": False, "level": "note"}
    assert "invocations" not in run


def test_an_absolute_path_is_a_file_address() -> None:
    (run,) = sarif_document([finding(file="/tmp/ä.yaml")])["runs"]

    location = run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]
    assert location == {"uri": "file:///tmp/%C3%A4.yaml"}


def test_programs_get_null_for_what_is_not_there() -> None:
    (found,) = json_document([finding()], [])["findings"]

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
        "fix": None,
    }


def test_the_servers_words_are_not_told_twice() -> None:
    lines = list(text_lines([finding(message="no: key", kubelet="key")], objects=1))

    assert lines == [
        "shop/a b.yaml:7: error RFL003 missing-key",
        "    no: key",
        "",
        "1 error in 1 object",
    ]


def test_file_names_have_no_power_over_a_terminal() -> None:
    assert "\x1b" not in "".join(text_lines([finding(file="\x1b[31m.yaml")], objects=1))
