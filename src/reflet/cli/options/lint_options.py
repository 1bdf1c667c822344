"""Which findings of lint count: rules, what is assumed, suppressed and known, by flags and file.

Flags win over ``.reflet.yaml``; lists of both add up, except for the rules that are selected.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, final

import click

from reflet.cli import lazy
from reflet.cli.command import Function, with_options
from reflet.cli.options.arguments import FILE_NAME
from reflet.cli.options.project_options import project_options
from reflet.cli.output.output import counted
from reflet.errors import ConfigurationError

if TYPE_CHECKING:
    from reflet.cli.options.project_file import ProjectFile
    from reflet.cli.output.lint_output import LintReport
    from reflet.insight.lint.assumptions import Assumptions
    from reflet.insight.lint.baselines import Baseline, KnownFinding
    from reflet.insight.lint.linting import Live, Others
    from reflet.manifests.files import Sources
    from reflet.podconfig.gather_lint import LintSubjects

MOST_NAMED: Final = 8  # unused suppressions in one line

_OPTIONS = (
    click.option("--select", multiple=True, metavar="RULE", help="Only these rules, or ALL."),
    click.option("--ignore", multiple=True, metavar="RULE", help="Not these rules."),
    click.option("--strict/--no-strict", default=None, help="Fail on warnings as well."),
    click.option(
        "--assume",
        multiple=True,
        metavar="TYPE/NAME[:KEY]",
        help="Assume that it exists: secret/db, cm/web-*:color or shop/sa/web; repeatable.",
    ),
    click.option(
        "--baseline",
        default="",
        type=FILE_NAME,
        metavar="FILE",
        help="Known findings, which do not fail.",
    ),
    click.option(
        "--write-baseline",
        is_flag=False,
        flag_value="",
        default=None,
        type=FILE_NAME,
        metavar="[FILE]",
        help="Write all findings to this file, or that of --baseline.",
    ),
)
_NAMES = ("select", "ignore", "strict", "assume", "baseline", "write_baseline")


def lint_options(command: Function) -> Function:
    """Give *command* the flags; it is called with ``choice``, a LintChoice."""

    @functools.wraps(command)
    def with_choice(*arguments: Any, project: ProjectFile, **values: Any) -> Any:
        chosen = {name: values.pop(name) for name in _NAMES}
        return command(*arguments, choice=LintChoice(project, **chosen), **values)

    return with_options(project_options(with_choice), _OPTIONS)


@final
class LintChoice:
    """What the flags and the project's file say about findings."""

    def __init__(
        self,
        project: ProjectFile,
        *,
        select: Sequence[str] = (),
        ignore: Sequence[str] = (),
        strict: bool | None = None,
        assume: Sequence[str] = (),
        baseline: str = "",
        write_baseline: str | None = None,
    ) -> None:
        """Raises ConfigurationError for rules that there are not."""
        settings, severity = project.lint, lazy.lint_rules.Severity
        self.project = project
        self.chosen = lazy.lint_rules.chosen_rules(
            _split(select) or settings.select, [*settings.ignore, *_split(ignore)]
        )
        is_strict = settings.strict if strict is None else strict
        self.failing = frozenset(
            {severity.ERROR, severity.WARNING} if is_strict else {severity.ERROR}
        )
        self._assume = (*settings.assume, *assume)
        self._assumed_by_flags = frozenset(assume)
        self._baseline = write_baseline or baseline or settings.baseline
        self._is_written = write_baseline is not None
        if self._is_written and not self._baseline:
            raise click.UsageError("--write-baseline needs a file: its own, or that of --baseline")
        self._names = lazy.project_file.ProjectNames(project, Path.cwd())

    def sources(self, files: Sources, arguments: Sequence[str]) -> Sources:
        """Return what is read: what flags and arguments name, without what the project excludes."""
        return self.project.sources(files, arguments)

    def report(
        self,
        gathered: LintSubjects,
        live: Live,
        others: Others,
        *,
        is_whole: bool,
        complete: bool = True,
    ) -> LintReport:
        """Look at what was gathered, and tell what counts of it.

        Unless *is_whole*, what the project's file suppresses may be meant for other files.
        Raises ConfigurationError for assumptions and baselines that are none.
        """
        assume = lazy.assumptions.Assumptions(self._assume)
        baseline = self._read_baseline()
        found = lazy.linting.lint(
            gathered.subjects,
            live=live,
            others=others,
            chosen=self.chosen,
            assume=assume,
            more=self.project.tables(),
        )
        prints = lazy.fingerprints.fingerprints(found, self._names.name_of)
        sifted = lazy.suppressions.Suppressions(
            gathered.subjects,
            comments=gathered.comments,
            entries=self.project.lint.suppress,
            name_of=self._names.name_of,
        ).sift(found, chosen=self.chosen)
        unused = [each.text for each in sifted.unused if is_whole or each.manner != "configuration"]
        unused += self._needless(assume, is_whole=is_whole)
        report = lazy.lint_output.LintReport(
            findings=sifted.findings,
            suppressed=sifted.suppressed,
            prints=dict(zip(found, prints, strict=True)),
            notes=[
                *gathered.remarks,
                *filter(None, [gathered.documented.remark()]),
                *_remark_on(unused),
            ],
            unused=unused,
            files=tuple(gathered.comments),
            objects=len(gathered.subjects),
            failing=self.failing,
            complete=complete,
            excerpts=lazy.lint_excerpts.Excerpts(gathered.texts, gathered.subjects, found),
        )
        return report if baseline is None else self._judged(report, baseline)

    def _needless(self, assume: Assumptions, *, is_whole: bool) -> list[str]:
        rules = lazy.lint_rules
        missing = {
            *(rules.MISSING_OBJECT, rules.MISSING_KEY, rules.MASKED, rules.MISSING_PULL_SECRET),
            *(rules.MISSING_SERVICE_ACCOUNT, rules.MISSING_PRIORITY_CLASS),
            *(rules.MISSING_CLAIM, rules.MISSING_RUNTIME_CLASS),
        }
        if not missing <= self.chosen:
            return []  # nobody has asked
        return [
            f"assumption {text}"
            for text in assume.unused()
            if is_whole or text in self._assumed_by_flags
        ]

    def _read_baseline(self) -> Baseline | None:
        """Read the baseline, if there is to be one; one that is to be written may be missing."""
        if not self._baseline:
            return None
        path = Path(self._baseline)
        if self._is_written and not path.exists():
            return lazy.baselines.Baseline.of(())
        try:
            text = path.read_bytes()
        except OSError as error:
            hint = "" if path.exists() else "; --write-baseline writes it"
            raise ConfigurationError(f"cannot read {path}: {error.strerror}{hint}") from error
        # A file that is something else is not overwritten either.
        return lazy.baselines.Baseline.parse(text, source=str(path))

    def _judged(self, report: LintReport, baseline: Baseline) -> LintReport:
        """Leave out what is known, after writing it if that is asked for."""
        read = {self._names.name_of(file) for file in report.files}
        ids = {rule.id for rule in self.chosen}

        def is_judged(known: KnownFinding) -> bool:
            was_read = known.file in read or not self._names.has(known.file)
            return was_read and known.rule in ids

        notes = [*report.notes]
        if self._is_written:
            prints = [report.prints[finding] for finding in report.findings]
            known = lazy.baselines.known_findings(report.findings, prints, self._names.name_of)
            baseline = baseline.renewed(known, is_judged)
            _write(Path(self._baseline), baseline.text())
            words = counted(len(baseline.findings), "finding")
            notes.append(f"{self._baseline} is written, with {words}")
        gone = baseline.gone(report.prints.values(), is_judged)
        if gone:
            words = counted(len(gone), "finding")
            notes.append(
                f"{words} of {self._baseline} {'is' if len(gone) == 1 else 'are'} gone: "
                "write it again with --write-baseline"
            )
        there = {known.fingerprint for known in baseline.findings}
        known_here = [each for each in report.findings if report.prints[each] in there]
        suppressed = [
            lazy.suppressions.Suppressed(
                finding=each, manner="baseline", reason=f"known from {self._baseline}"
            )
            for each in known_here
        ]
        return dataclasses.replace(
            report,
            findings=[each for each in report.findings if report.prints[each] not in there],
            suppressed=[*report.suppressed, *suppressed],
            notes=notes,
        )


def _split(texts: Iterable[str]) -> list[str]:
    return [name for text in texts for name in text.split(",") if name.strip()]


def _remark_on(unused: Sequence[str]) -> list[str]:
    """Say in one line what suppresses nothing."""
    if not unused:
        return []
    more = len(unused) - MOST_NAMED
    named = "; ".join(unused[:MOST_NAMED]) + (f"; and {more} more" if more > 0 else "")
    return [f"{counted(len(unused), 'unused suppression')}: {named}"]


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ConfigurationError(f"cannot write {path}: {error.strerror}") from error
