"""Findings of lint in the forms of other tools: SARIF, JUnit and GitLab's code quality."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote
from xml.etree import ElementTree

from reflet._version import __version__
from reflet.cli.output.lint_output import LintReport, source_of
from reflet.cli.output.output import HOME, page_address
from reflet.insight.lint.fingerprints import VERSION
from reflet.insight.lint.rules import RULES, Finding, Severity
from reflet.insight.lint.suppressions import Suppressed

SARIF_VERSION: Final = "2.1.0"
SARIF_SCHEMA: Final = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
_IN_SOURCE: Final = frozenset({"annotation", "comment"})
_GITLAB_LEVELS: Final = {
    Severity.ERROR: "major",
    Severity.WARNING: "minor",
    Severity.NOTE: "info",
}
# What XML 1.0 has no way to write, escaped or not.
_NOT_XML: Final = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def sarif_document(report: LintReport) -> dict[str, Any]:
    """Return the findings in the Static Analysis Results Interchange Format, version 2.1.0.

    Results that are suppressed are there and say so, and so do the others then, as it demands.
    """
    hidden = bool(report.suppressed)
    results = [_sarif_result(each, report, [] if hidden else None) for each in report.findings]
    results += [
        _sarif_result(each.finding, report, [_sarif_suppression(each)])
        for each in report.suppressed
    ]
    run: dict[str, Any] = {
        "tool": {
            "driver": {
                "name": "reflet",
                "informationUri": HOME,
                "semanticVersion": __version__,
                "rules": [
                    {
                        "id": rule.id,
                        "name": rule.name,
                        "shortDescription": {"text": rule.summary},
                        "help": {"text": f"{rule.summary}: docs/{rule.page}"},
                        "helpUri": page_address(rule.page),
                        "defaultConfiguration": {
                            "enabled": rule.usual,
                            "level": rule.severity.value,
                        },
                    }
                    for rule in RULES
                ],
            }
        },
        "columnKind": "unicodeCodePoints",
        "results": results,
    }
    if report.notes or not report.complete:
        run["invocations"] = [
            {
                "executionSuccessful": report.complete,
                "toolExecutionNotifications": [
                    {"level": "note", "message": {"text": note}} for note in report.notes
                ],
            }
        ]
    return {"$schema": SARIF_SCHEMA, "version": SARIF_VERSION, "runs": [run]}


def _sarif_result(
    finding: Finding, report: LintReport, suppressions: list[dict[str, str]] | None
) -> dict[str, Any]:
    file, line = source_of(finding)
    result: dict[str, Any] = {
        "ruleId": finding.rule.id,
        "ruleIndex": RULES.index(finding.rule),
        "level": finding.severity.value,
        "message": {"text": _message(finding)},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": _uri(file)},
                    "region": {"startLine": line},
                },
                "logicalLocations": [
                    {"fullyQualifiedName": f"{finding.subject} {finding.path}".rstrip()}
                ],
            }
        ],
    }
    if finding in report.prints:
        result["partialFingerprints"] = {f"refletFinding/{VERSION}": report.prints[finding]}
    if suppressions is not None:
        result["suppressions"] = suppressions
    return result


def _sarif_suppression(suppressed: Suppressed) -> dict[str, str]:
    kind = "inSource" if suppressed.manner in _IN_SOURCE else "external"
    return {"kind": kind, "justification": suppressed.reason or suppressed.manner}


def _message(finding: Finding) -> str:
    return f"{finding.message}; fix: {finding.fix}" if finding.fix else finding.message


def _uri(file: str) -> str:
    path = Path(file)
    return path.as_uri() if path.is_absolute() else quote(path.as_posix())


def gitlab_document(report: LintReport) -> list[dict[str, Any]]:
    """Return the findings as GitLab's code quality report has them."""
    return [
        {
            "description": _message(finding),
            "check_name": f"{finding.rule.id} {finding.rule.name}",
            "fingerprint": report.prints[finding],
            "severity": _GITLAB_LEVELS[finding.severity],
            "location": {"path": file, "lines": {"begin": line}},
        }
        for finding in report.findings
        for file, line in [source_of(finding)]
    ]


def junit_text(report: LintReport) -> str:
    """Return the findings as JUnit's XML: a suite for each file, a case for each finding.

    Only findings that fail the run are failures; a file without any is a case that passes.
    """
    cases: dict[str, list[Finding | Suppressed]] = {file: [] for file in report.files}
    for finding in report.findings:
        cases.setdefault(finding.file, []).append(finding)
    for each in report.suppressed:
        cases.setdefault(each.finding.file, []).append(each)
    suites = ElementTree.Element("testsuites", name="reflet lint")
    for file, inside in cases.items():
        suite = ElementTree.SubElement(suites, "testsuite", name=_legible(file))
        for found in inside:
            _add_case(suite, found, report)
        if not inside:
            ElementTree.SubElement(suite, "testcase", classname=_legible(file), name="no findings")
        suite.set("skipped", str(_count(suite, "skipped")))
    for element in suites.iter():
        if element.tag in {"testsuites", "testsuite"}:
            element.set("tests", str(_count(element, "testcase")))
            element.set("failures", str(_count(element, "failure")))
            element.set("errors", "0")
    ElementTree.indent(suites)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(
        suites, encoding="unicode"
    )


def _add_case(suite: ElementTree.Element, found: Finding | Suppressed, report: LintReport) -> None:
    finding = found.finding if isinstance(found, Suppressed) else found
    name = f"{finding.rule.id} {finding.rule.name}: {finding.subject} {finding.path}".rstrip()
    case = ElementTree.SubElement(
        suite, "testcase", classname=_legible(finding.file), name=_legible(name)
    )
    if isinstance(found, Suppressed):
        ElementTree.SubElement(case, "skipped", message=_legible(found.reason or found.manner))
        return
    if report.fails(finding):
        part = ElementTree.SubElement(
            case, "failure", message=_legible(finding.message), type=finding.severity.value
        )
    else:
        part = ElementTree.SubElement(case, "system-out")
    part.text = _legible(_details(finding))


def _details(finding: Finding) -> str:
    lines = [f"{finding.file}:{finding.line}: {finding.message}"]
    if finding.said and finding.said not in finding.message:
        lines.append(f"{finding.by}: {finding.said}")
    if finding.fix:
        lines.append(f"fix: {finding.fix}")
    return "\n".join(lines)


def _count(element: ElementTree.Element, tag: str) -> int:
    return sum(1 for _ in element.iter(tag))


def _legible(text: str) -> str:
    return _NOT_XML.sub(lambda found: f"\\u{ord(found.group()):04x}", text)
