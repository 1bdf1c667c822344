"""Findings that were there when lint was switched on: only new ones count.

A baseline is a JSON text with one finding a line, sorted, so that its changes can be reviewed.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Final

import msgspec

from reflet.api.frozen import Frozen
from reflet.errors import ConfigurationError
from reflet.insight.lint.rules import Finding

API_VERSION: Final = "reflet.dev/v1alpha1"
KIND: Final = "LintBaseline"


class KnownFinding(Frozen, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One finding of a baseline; all but the fingerprint is for people."""

    fingerprint: str
    rule: str
    file: str
    object: str

    @property
    def rank(self) -> tuple[str, str, str, str]:
        """Sort key."""
        return self.file, self.object, self.rule, self.fingerprint


class Baseline(Frozen, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The findings that are known."""

    api_version: str
    kind: str
    findings: tuple[KnownFinding, ...] = ()

    @classmethod
    def of(cls, findings: Iterable[KnownFinding]) -> "Baseline":
        """Return the baseline with these findings."""
        ordered = tuple(sorted(findings, key=lambda known: known.rank))
        return cls(api_version=API_VERSION, kind=KIND, findings=ordered)

    @classmethod
    def parse(cls, text: str | bytes, *, source: str) -> "Baseline":
        """Read what ``text`` wrote.  Raises ConfigurationError, which names *source*."""
        try:
            found = msgspec.json.decode(text, type=cls)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise ConfigurationError(f"{source} is no baseline of lint: {error}") from None
        if (found.api_version, found.kind) != (API_VERSION, KIND):
            raise ConfigurationError(
                f"{source} is no baseline of lint: it is {found.kind} of {found.api_version}"
            )
        return found

    def text(self) -> str:
        """Return the baseline as JSON, one finding a line."""
        rows = ",\n".join(
            "    "
            + json.dumps(
                {
                    "file": known.file,
                    "object": known.object,
                    "rule": known.rule,
                    "fingerprint": known.fingerprint,
                },
                ensure_ascii=False,
            )
            for known in self.findings
        )
        inside = f"\n{rows}\n  " if rows else ""
        return (
            f'{{\n  "apiVersion": "{self.api_version}",\n  "kind": "{self.kind}",\n'
            f'  "findings": [{inside}]\n}}\n'
        )

    def gone(
        self, prints: Iterable[str], judged: Callable[[KnownFinding], bool]
    ) -> tuple[KnownFinding, ...]:
        """Return the findings that are no more, of those that could have been found."""
        there = frozenset(prints)
        return tuple(
            known for known in self.findings if known.fingerprint not in there and judged(known)
        )

    def renewed(
        self, findings: Iterable[KnownFinding], judged: Callable[[KnownFinding], bool]
    ) -> "Baseline":
        """Return the baseline with *findings* and, of its own, those that nobody looked for."""
        kept = {known.fingerprint: known for known in self.findings if not judged(known)}
        return Baseline.of({**kept, **{known.fingerprint: known for known in findings}}.values())


def known_findings(
    findings: Sequence[Finding], prints: Sequence[str], name_of: Callable[[str], str] = str
) -> tuple[KnownFinding, ...]:
    """Return findings, whose fingerprints are *prints*, as a baseline has them."""
    return tuple(
        KnownFinding(
            fingerprint=print_,
            rule=finding.rule.id,
            file=name_of(finding.file),
            object=finding.subject,
        )
        for finding, print_ in zip(findings, prints, strict=True)
    )
