"""``reflet lint``: what in files would fail at rollout."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from reflet.cli import lazy
from reflet.cli.options.arguments import FILE_NAME
from reflet.cli.options.connection_options import ConnectionChoice, connection_options
from reflet.cli.output.output import print_json, print_table
from reflet.cli.output.progress import Progress, progress

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reflet.insight.lint.linting import Live
    from reflet.insight.lint.rules import Finding
    from reflet.insight.lint.subjects import Subject
    from reflet.transport.config.settings import ConnectionSettings

FORMS: Final = ("text", "json", "sarif", "github")


@click.command()
@click.option(
    "-f",
    "--filename",
    "files",
    multiple=True,
    type=FILE_NAME,
    metavar="FILE|FOLDER|-",
    help="Check these files, YAML or JSON; may be repeated.",
)
@click.option(
    "--against",
    type=click.Choice(("cluster", "none")),
    default="none",
    show_default=True,
    help="Where to look for objects that are not in the files.",
)
@click.option("-o", "--output", type=click.Choice(FORMS), default="text", show_default=True)
@click.option("--select", multiple=True, metavar="RULE", help="Only these rules; ALL for all.")
@click.option("--ignore", multiple=True, metavar="RULE", help="Not these rules.")
@click.option("--strict", is_flag=True, help="Warnings fail too.")
@click.option("--rules", "list_rules", is_flag=True, help="List the rules and end.")
@connection_options
def lint(
    files: tuple[str, ...],
    against: str,
    output: str,
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    strict: bool,
    list_rules: bool,
    connection: ConnectionChoice,
) -> int:
    """Find in files what would fail at rollout.

    The files are read as if they were applied.  With --against cluster, objects that are not in
    the files are looked up, and immutable ones are compared.  Exit code 1: there are
    errors; with --strict, or warnings.
    """
    if list_rules:
        _print_rules(output)
        return 0
    if not files:
        raise click.UsageError("name the files to check: -f FILE, -f FOLDER or -f -")
    chosen = lazy.lint_rules.chosen_rules(_names(select), _names(ignore))
    subjects, live, notes = _gather(files, against=against, connection=connection)
    findings = lazy.linting.lint(subjects, live=live, chosen=chosen)
    _print(output, findings, notes, objects=len(subjects))
    severity = lazy.lint_rules.Severity
    failing = {severity.ERROR, severity.WARNING} if strict else {severity.ERROR}
    return 1 if any(finding.severity in failing for finding in findings) else 0


def _names(texts: Sequence[str]) -> list[str]:
    return [name for text in texts for name in text.split(",") if name.strip()]


def _print_rules(output: str) -> None:
    rules = lazy.lint_rules.RULES
    if output == "json":
        print_json(
            [
                {
                    "id": rule.id,
                    "name": rule.name,
                    "severity": rule.severity.value,
                    "summary": rule.summary,
                    "usual": rule.usual,
                }
                for rule in rules
            ]
        )
        return
    rows = [(rule.id, rule.severity.value if rule.usual else "off", rule.summary) for rule in rules]
    print_table(("RULE", "LEVEL", "FINDS"), rows, no_headers=False)


def _print(output: str, findings: tuple[Finding, ...], notes: list[str], *, objects: int) -> None:
    if output == "json":
        print_json(lazy.lint_output.json_document(findings, notes))
        return
    for note in notes:
        lazy.problem_output.tell("note", note)
    if output == "sarif":
        print_json(lazy.lint_output.sarif_document(findings, notes))
        return
    lines = (
        lazy.lint_output.github_lines(findings)
        if output == "github"
        else lazy.lint_output.text_lines(findings, objects=objects)
    )
    for line in lines:
        click.echo(line)


def _gather(
    files: Sequence[str], *, against: str, connection: ConnectionChoice
) -> tuple[list[Subject], Live, list[str]]:
    """Return the objects of the files, what a cluster has of what they name, and remarks."""
    settings = connection() if against == "cluster" else None
    namespace = connection.namespace or lazy.gather_files.FILES_NAMESPACE
    with progress("reading files"):
        subjects, notes = lazy.gather_files.lint_subjects_from_files(
            files, namespace=namespace if settings is None else settings.namespace
        )
    if settings is None:
        return subjects, {}, notes
    with progress("asking the server") as told:
        live = lazy.event_loop.run(_read(settings, subjects, told))
    return subjects, live, notes + lazy.gather_files.remarks_on_unread(live)


async def _read(settings: ConnectionSettings, subjects: Sequence[Subject], told: Progress) -> Live:
    wanted = lazy.linting.wanted_from_cluster(subjects)
    told.expect(len(wanted))
    async with lazy.cluster.Cluster(settings) as cluster:
        return await lazy.gather_objects.read_objects(cluster, wanted, on_answer=told.add)
