"""Findings for code scanning, for reports of tests and for GitLab."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

import pytest

from reflet.cli.output.lint_exchange import gitlab_document, junit_text, sarif_document
from reflet.cli.output.lint_output import LintReport
from reflet.insight.lint.rules import (
    MISSING_KEY,
    NEVER_REFRESHED,
    RULES,
    SHADOWED,
    Finding,
    Severity,
)
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


def suppressed(manner: Any, reason: str = "") -> Suppressed:
    return Suppressed(finding=finding(message=manner), manner=manner, reason=reason)


def test_sarif_has_what_its_schema_requires() -> None:
    """The document of this shape was checked with the schema that it names."""
    found = finding(path="spec", fix="add it")

    document = sarif_document(LintReport([found], prints={found: "f00"}, notes=["a note"]))

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
            "partialFingerprints": {"refletFinding/v1": "f00"},
        }
    ]
    assert run["invocations"] == [
        {
            "executionSuccessful": True,
            "toolExecutionNotifications": [{"level": "note", "message": {"text": "a note"}}],
        }
    ]


def test_sarif_describes_the_tool_and_every_rule() -> None:
    (run,) = sarif_document(LintReport([]))["runs"]

    driver = run["tool"]["driver"]
    assert driver["informationUri"].startswith("https://")
    assert [rule["id"] for rule in driver["rules"]] == [rule.id for rule in RULES]
    assert driver["rules"][18]["defaultConfiguration"] == {"enabled": False, "level": "note"}
    assert driver["rules"][18]["helpUri"].endswith("/reference/lint/RFL019.html")
    assert "invocations" not in run


def test_sarif_has_what_is_suppressed_and_then_says_of_each_result_whether_it_is() -> None:
    hidden = [suppressed("comment"), suppressed("baseline", "known from b.json")]

    (run,) = sarif_document(LintReport([finding()], hidden))["runs"]

    assert [result["suppressions"] for result in run["results"]] == [
        [],
        [{"kind": "inSource", "justification": "comment"}],
        [{"kind": "external", "justification": "known from b.json"}],
    ]


def test_sarif_says_that_a_run_is_not_complete() -> None:
    (run,) = sarif_document(LintReport([], complete=False))["runs"]

    assert run["invocations"] == [{"executionSuccessful": False, "toolExecutionNotifications": []}]


def test_an_absolute_path_is_a_file_address() -> None:
    (run,) = sarif_document(LintReport([finding(file="/tmp/ä.yaml")]))["runs"]

    location = run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]
    assert location == {"uri": "file:///tmp/%C3%A4.yaml"}


def test_gitlab_gets_a_list_of_issues() -> None:
    findings = [finding(fix="add it", line=0), finding(SHADOWED), finding(NEVER_REFRESHED)]
    prints = {each: each.rule.id for each in findings}

    issues = gitlab_document(LintReport(findings, [suppressed("comment")], prints))

    assert issues[0] == {
        "description": "no key; fix: add it",
        "check_name": "RFL003 missing-key",
        "fingerprint": "RFL003",
        "severity": "major",
        "location": {"path": "shop/a b.yaml", "lines": {"begin": 1}},
    }
    assert [issue["severity"] for issue in issues] == ["major", "minor", "info"]


def junit(report: LintReport) -> ElementTree.Element:
    return ElementTree.fromstring(junit_text(report).encode())


def test_junit_has_a_suite_for_each_file_and_a_case_for_each_finding() -> None:
    findings = [finding(path="spec", fix="x", said="word", by="API server"), finding(SHADOWED)]

    root = junit(LintReport(findings, [suppressed("comment")], files=["good.yaml"]))

    assert root.attrib == {"name": "reflet lint", "tests": "4", "failures": "1", "errors": "0"}
    good, bad = root
    assert good.attrib == {
        "name": "good.yaml",
        "tests": "1",
        "failures": "0",
        "errors": "0",
        "skipped": "0",
    }
    assert [(case.get("name"), len(case)) for case in good] == [("no findings", 0)]
    assert (bad.get("name"), bad.get("tests"), bad.get("skipped")) == ("shop/a b.yaml", "3", "1")
    failure, warning, skipped = (case[0] for case in bad)
    assert bad[0].attrib == {
        "classname": "shop/a b.yaml",
        "name": "RFL003 missing-key: Pod shop/web spec",
    }
    assert (failure.tag, failure.attrib) == ("failure", {"message": "no key", "type": "error"})
    assert failure.text == "shop/a b.yaml:7: no key\nAPI server: word\nfix: x"
    assert (warning.tag, warning.text) == ("system-out", "shop/a b.yaml:7: no key")
    assert (skipped.tag, skipped.attrib) == ("skipped", {"message": "comment"})


def test_what_fails_the_run_fails_in_junit() -> None:
    failing = frozenset({Severity.ERROR, Severity.WARNING})

    assert junit(LintReport([finding(SHADOWED)], failing=failing)).get("failures") == "1"


@pytest.mark.parametrize("odd", ["\x00", "\x1b[31m", "\ud800", "\uffff", "\x0b"])
def test_junit_is_xml_whatever_the_files_hold(odd: str) -> None:
    report = LintReport([finding(message=f"<&\"'{odd}]]>", file=f"{odd}.yaml")], files=[odd])

    failure = junit(report).find(".//failure")

    assert failure is not None
    assert (failure.get("message") or "").startswith("<&\"'\\u")


def test_what_was_rendered_is_placed_in_the_file_that_it_was_made_from() -> None:
    rendered = finding(file="web/templates/a.yaml (rendered)", line=12)
    report = LintReport([rendered], prints={rendered: "x"})

    (result,) = sarif_document(report)["runs"][0]["results"]
    physical = result["locations"][0]["physicalLocation"]
    assert physical == {
        "artifactLocation": {"uri": "web/templates/a.yaml"},
        "region": {"startLine": 1},
    }
    (issue,) = gitlab_document(report)
    assert issue["location"] == {"path": "web/templates/a.yaml", "lines": {"begin": 1}}
