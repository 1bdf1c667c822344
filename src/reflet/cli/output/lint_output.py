"""Findings of lint, for people, for programs and for GitHub's checks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, final

from reflet.cli.output.lint_excerpts import MARGIN, Excerpts
from reflet.cli.output.output import API_VERSION, counted, page_address, paragraph, visible
from reflet.cli.output.palette import LEVELS, paint
from reflet.insight.lint.rules import RULES, Finding, Severity
from reflet.insight.lint.suppressions import Suppressed
from reflet.manifests.rendering import RENDERED

_GITHUB_LEVELS: Final = {
    Severity.ERROR: "error",
    Severity.WARNING: "warning",
    Severity.NOTE: "notice",
}


@final
@dataclass(frozen=True, slots=True)
class LintReport:
    """What a run of lint found, and what it is to be told with.

    ``suppressed`` findings do not count.  ``prints`` are the fingerprints of all findings,
    ``failing`` the severities that fail, ``files`` those that were read.  A run is not
    ``complete`` when objects could not be read that it should have compared with.
    """

    findings: Sequence[Finding]
    suppressed: Sequence[Suppressed] = ()
    prints: Mapping[Finding, str] = field(default_factory=dict)
    notes: Sequence[str] = ()
    unused: Sequence[str] = ()
    files: Sequence[str] = ()
    objects: int = 0
    failing: frozenset[Severity] = frozenset({Severity.ERROR})
    complete: bool = True
    excerpts: Excerpts = field(default_factory=Excerpts)

    def fails(self, finding: Finding) -> bool:
        """Say whether a finding makes the run fail."""
        return finding.severity in self.failing


def text_lines(report: LintReport) -> Iterator[str]:
    """Yield a paragraph for each finding, with its line of the file, and how many there are."""
    for finding in report.findings:
        meaning = LEVELS[finding.severity.value]
        # A line that begins with :: is a command to GitHub's runners.
        apart = "./" if finding.file.startswith("::") else ""
        place = paint(visible(f"{apart}{finding.file}:{finding.line}"), "title")
        rule = paint(f"{finding.rule.id} {finding.rule.name}", "name")
        yield f"{place}: {paint(finding.severity.value, meaning)} {rule}"
        yield from report.excerpts.lines(finding, meaning)
        yield from paragraph(finding.message, first=MARGIN)
        facts = []
        if finding.said and finding.said not in finding.message:
            facts.append((f"{finding.by}:", finding.said))
        if finding.fix:
            facts.append(("fix:", finding.fix))
        for label, text in facts:
            lines = paragraph(text, first=f"{MARGIN}{label} ")
            yield from (paint(line, "good" if label == "fix:" else "dim") for line in lines)
        yield paint(f"{MARGIN}see: {page_address(finding.rule.page)}", "dim")
        yield ""
    numbers = _counts(report.findings) or "no findings"
    said = f"{numbers} in {counted(report.objects, 'object')}{_left_out(report)}"
    failing = any(map(report.fails, report.findings))
    yield paint(said, "wrong" if failing else None if report.findings else "good")


def _counts(findings: Sequence[Finding]) -> str:
    numbers = {
        severity: sum(finding.severity is severity for finding in findings) for severity in Severity
    }
    return ", ".join(
        counted(number, severity.value) for severity, number in numbers.items() if number
    )


def _left_out(report: LintReport) -> str:
    known = sum(each.manner == "baseline" for each in report.suppressed)
    others = len(report.suppressed) - known
    parts = [f"{known} known from the baseline"] if known else []
    parts += [f"{others} suppressed"] if others else []
    return f" ({', '.join(parts)})" if parts else ""


def json_document(report: LintReport) -> dict[str, Any]:
    """Return the findings for programs."""
    return {
        "apiVersion": API_VERSION,
        "kind": "LintReport",
        "findings": [_document(finding, report) for finding in report.findings],
        "suppressed": [
            {
                **_document(each.finding, report),
                "suppressedBy": each.manner,
                "reason": each.reason or None,
            }
            for each in report.suppressed
        ],
        "unusedSuppressions": list(report.unused),
        "notes": list(report.notes),
    }


def _document(finding: Finding, report: LintReport) -> dict[str, Any]:
    said = {finding.by: finding.said or None}
    return {
        "rule": finding.rule.id,
        "name": finding.rule.name,
        "severity": finding.severity.value,
        "message": finding.message,
        "file": finding.file,
        "line": finding.line,
        "object": finding.subject,
        "path": finding.path or None,
        "kubelet": said.get("kubelet"),
        "apiServer": said.get("API server"),
        "fix": finding.fix or None,
        "fingerprint": report.prints.get(finding),
    }


def rules_document() -> list[dict[str, Any]]:
    """Return the rules for programs."""
    return [
        {
            "id": rule.id,
            "name": rule.name,
            "severity": rule.severity.value,
            "summary": rule.summary,
            "usual": rule.usual,
        }
        for rule in RULES
    ]


def github_lines(report: LintReport) -> Iterator[str]:
    """Yield GitHub's workflow commands, which put findings beside the lines of a change."""
    for finding in report.findings:
        level = _GITHUB_LEVELS[finding.severity]
        title = f"{finding.rule.id} {finding.rule.name}"
        fix = f"\nfix: {finding.fix}" if finding.fix else ""
        file, line = source_of(finding)
        yield (
            f"::{level} file={_property(file)},line={line},"
            f"title={_property(title)}::{_data(finding.message + fix)}"
        )


def source_of(finding: Finding) -> tuple[str, int]:
    """Return the file and line for tools that open it: of what was rendered, its source."""
    if finding.file.endswith(RENDERED):
        return finding.file.removesuffix(RENDERED), 1
    return finding.file, max(finding.line, 1)


def _data(text: str) -> str:
    return visible(text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A"))


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
