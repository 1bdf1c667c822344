"""Findings of lint, for people, for programs, for code scanning and for GitHub's checks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import PurePath
from typing import Any, Final
from urllib.parse import quote

from reflet._version import __version__
from reflet.cli.output.output import API_VERSION, counted, paragraph, styled, visible
from reflet.insight.lint.rules import RULES, Finding, Severity

SARIF_VERSION: Final = "2.1.0"
SARIF_SCHEMA: Final = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
_COLOURS: Final = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.NOTE: "cyan"}
_GITHUB_LEVELS: Final = {
    Severity.ERROR: "error",
    Severity.WARNING: "warning",
    Severity.NOTE: "notice",
}


def text_lines(findings: Sequence[Finding], *, objects: int) -> Iterator[str]:
    """Yield a paragraph for each finding, and how many there are."""
    for finding in findings:
        level = styled(finding.severity.value, fg=_COLOURS[finding.severity], bold=True)
        place = styled(visible(f"{finding.file}:{finding.line}"), bold=True)
        yield f"{place}: {level} {finding.rule.id} {finding.rule.name}"
        yield from paragraph(finding.message, first="    ")
        if finding.kubelet and finding.kubelet not in finding.message:
            yield from paragraph(finding.kubelet, first="    kubelet: ", indent=13)
        if finding.fix:
            yield from paragraph(finding.fix, first="    fix: ", indent=9)
    if not findings:
        yield f"no findings in {counted(objects, 'object')}"
        return
    yield ""
    yield f"{_counts(findings)} in {counted(objects, 'object')}"


def _counts(findings: Sequence[Finding]) -> str:
    numbers = {
        severity: sum(finding.severity is severity for finding in findings) for severity in Severity
    }
    return ", ".join(
        counted(number, severity.value) for severity, number in numbers.items() if number
    )


def json_document(findings: Sequence[Finding], notes: Sequence[str]) -> dict[str, Any]:
    """Return the findings for programs."""
    return {
        "apiVersion": API_VERSION,
        "kind": "LintReport",
        "findings": [
            {
                "rule": finding.rule.id,
                "name": finding.rule.name,
                "severity": finding.severity.value,
                "message": finding.message,
                "file": finding.file,
                "line": finding.line,
                "object": finding.subject,
                "path": finding.path or None,
                "kubelet": finding.kubelet or None,
                "fix": finding.fix or None,
            }
            for finding in findings
        ],
        "notes": list(notes),
    }


def sarif_document(findings: Sequence[Finding], notes: Sequence[str] = ()) -> dict[str, Any]:
    """Return the findings in the Static Analysis Results Interchange Format, version 2.1.0."""
    run: dict[str, Any] = {
        "tool": {
            "driver": {
                "name": "reflet",
                "semanticVersion": __version__,
                "rules": [
                    {
                        "id": rule.id,
                        "name": rule.name,
                        "shortDescription": {"text": rule.summary},
                        "help": {"text": f"{rule.summary}: docs/{rule.page}"},
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
        "results": [_sarif_result(finding) for finding in findings],
    }
    if notes:
        run["invocations"] = [
            {
                "executionSuccessful": True,
                "toolExecutionNotifications": [
                    {"level": "note", "message": {"text": note}} for note in notes
                ],
            }
        ]
    return {"$schema": SARIF_SCHEMA, "version": SARIF_VERSION, "runs": [run]}


def _sarif_result(finding: Finding) -> dict[str, Any]:
    fix = f"; fix: {finding.fix}" if finding.fix else ""
    return {
        "ruleId": finding.rule.id,
        "ruleIndex": RULES.index(finding.rule),
        "level": finding.severity.value,
        "message": {"text": f"{finding.message}{fix}"},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": _uri(finding.file)},
                    "region": {"startLine": max(finding.line, 1)},
                },
                "logicalLocations": [
                    {"fullyQualifiedName": f"{finding.subject} {finding.path}".rstrip()}
                ],
            }
        ],
    }


def _uri(file: str) -> str:
    path = PurePath(file)
    return path.as_uri() if path.is_absolute() else quote(path.as_posix())


def github_lines(findings: Sequence[Finding]) -> Iterator[str]:
    """Yield GitHub's workflow commands, which put findings beside the lines of a change."""
    for finding in findings:
        level = _GITHUB_LEVELS[finding.severity]
        title = f"{finding.rule.id} {finding.rule.name}"
        fix = f"\nfix: {finding.fix}" if finding.fix else ""
        yield (
            f"::{level} file={_property(finding.file)},line={finding.line},"
            f"title={_property(title)}::{_data(finding.message + fix)}"
        )


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
