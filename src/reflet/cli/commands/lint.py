"""``reflet lint``: what in files would fail at rollout."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from reflet.cli import lazy
from reflet.cli.command import command
from reflet.cli.options.arguments import FILE_NAME
from reflet.cli.options.connection_options import ConnectionChoice, connection_options
from reflet.cli.options.file_options import file_options
from reflet.cli.options.lint_options import LintChoice, lint_options
from reflet.cli.output.output import ends_with, print_document, print_json, print_table
from reflet.cli.output.progress import Progress, progress
from reflet.errors import Forbidden, NotFound, RefletError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from reflet.cli.output.lint_output import LintReport
    from reflet.insight.lint.linting import Live, Others
    from reflet.insight.lint.subjects import Subjects
    from reflet.manifests.applying import Claims, ServerKinds
    from reflet.manifests.files import Sources
    from reflet.podconfig.gather_lint import LintSubjects
    from reflet.transport.config.settings import ConnectionSettings

FORMS: Final = ("text", "json", "yaml", "sarif", "junit", "github", "gitlab")
FINDINGS, FORBIDDEN = 1, 4


@command(
    examples={
        "reflet lint deploy/": "all manifests below a folder",
        "reflet lint deploy/ --against cluster": "compare with what the cluster has",
        "reflet lint deploy/ -o github": "annotations for a pull request",
    },
)
@click.argument("arguments", nargs=-1, type=FILE_NAME, metavar="[FILE|FOLDER|-]...")
@file_options("Check these files, YAML or JSON; the same as without -f; repeatable.")
@click.option(
    "--against",
    type=click.Choice(("cluster", "none")),
    default="none",
    show_default=True,
    help="Where to look for objects that are not in the files.",
)
@click.option(
    "--unreadable",
    type=click.Choice(("fail", "note")),
    default="fail",
    show_default=True,
    help="Objects of the cluster that may not be read: exit code 4, or only a note.",
)
@click.option("-o", "--output", type=click.Choice(FORMS), default="text", show_default=True)
@click.option("--rules", "list_rules", is_flag=True, help="List the rules and exit.")
@lint_options
@connection_options
def lint(
    arguments: tuple[str, ...],
    files: Sources,
    against: str,
    unreadable: str,
    output: str,
    list_rules: bool,
    choice: LintChoice,
    connection: ConnectionChoice,
) -> int:
    """Find in files what would fail at rollout.

    The files are read as if they were applied.  With --against cluster, objects that are not in
    the files are looked up in the cluster, and immutable objects are compared.

    To suppress a finding: the annotation reflet.dev/ignore: RULE,… on its object or pod
    template, the comment # reflet.dev/ignore: RULE,… on its line or the one above, or
    .reflet.yaml, which can set most of these flags for the whole repository.

    Exit code 1: there are errors; with --strict, errors or warnings.
    """
    if list_rules:
        _print_rules(output)
        return 0
    sources = choice.sources(files, arguments)
    if not sources:
        raise click.UsageError("name the files to check: FILE, FOLDER or - for standard input")
    gathered, live, others = _gather(sources, against=against, connection=connection)
    unread = [*_unread(live), *_unread(others)] if unreadable == "fail" else []
    report = choice.report(
        gathered,
        live,
        others,
        is_whole=any(Path(path).is_dir() for path in sources.paths),
        complete=not unread,
    )
    code = ends_with(_exit_code(report, unread))
    _print(output, report)
    return code


def _exit_code(report: LintReport, unread: Sequence[RefletError]) -> int:
    if any(isinstance(error, Forbidden) for error in unread):
        return FORBIDDEN
    return FINDINGS if unread or any(map(report.fails, report.findings)) else 0


def _print_rules(output: str) -> None:
    if output in {"json", "yaml"}:
        print_document(lazy.lint_output.rules_document(), output)
        return
    rows = [
        (rule.id, rule.severity.value if rule.usual else "off", rule.summary)
        for rule in lazy.lint_rules.RULES
    ]
    print_table(("RULE", "LEVEL", "FINDS"), rows, no_headers=False)


def _print(output: str, report: LintReport) -> None:
    if output not in {"json", "yaml"}:  # they have a place for notes
        for note in report.notes:
            lazy.problem_output.tell("note", note)
    match output:
        case "json" | "yaml":
            print_document(lazy.lint_output.json_document(report), output)
        case "sarif":
            print_json(lazy.lint_exchange.sarif_document(report))
        case "gitlab":
            print_json(lazy.lint_exchange.gitlab_document(report))
        case "junit":
            click.echo(lazy.lint_exchange.junit_text(report))
        case "github":
            _print_lines(lazy.lint_output.github_lines(report))
        case _:
            _print_lines(lazy.lint_output.text_lines(report))


def _print_lines(lines: Iterable[str]) -> None:
    for line in lines:
        click.echo(line)


def _gather(
    files: Sources, *, against: str, connection: ConnectionChoice
) -> tuple[LintSubjects, Live, Others]:
    """Return what is in the files, with remarks, and what a cluster has of what they name."""
    settings = connection() if against == "cluster" else None
    namespace = connection.namespace or lazy.gather_files.FILES_NAMESPACE

    def ask_server(claims: frozenset[Claims]) -> ServerKinds:
        return lazy.event_loop.run(_ask_kinds(connection(), claims))

    with progress("reading files") as told:
        gathered = lazy.gather_lint.lint_subjects_from_files(
            files,
            namespace=namespace if settings is None else settings.namespace,
            on_file=told.add,
            ask_server=None if settings is None else ask_server,
        )
    if settings is None:
        return gathered, {}, {}
    with progress("asking the server") as told:
        live, others = lazy.event_loop.run(_read(settings, gathered.subjects, told))
    for answers in (live, others):
        gathered.remarks.extend(lazy.gather_lint.remarks_on_unread(answers))
    return gathered, live, others


def _unread(live: Mapping[Any, object]) -> list[RefletError]:
    """Return why objects could not be read that may be there."""
    return [
        answer
        for answer in live.values()
        if isinstance(answer, RefletError) and not isinstance(answer, NotFound)
    ]


async def _ask_kinds(settings: ConnectionSettings, claims: frozenset[Claims]) -> ServerKinds:
    async with lazy.cluster.Cluster(settings) as cluster:
        return await lazy.gather_existence.server_kinds(cluster, claims)


async def _read(
    settings: ConnectionSettings, subjects: Subjects, told: Progress
) -> tuple[Live, Others]:
    wanted = lazy.linting.wanted_from_cluster(subjects)
    others = lazy.linting.others_wanted(subjects)
    told.expect(len(wanted))
    async with lazy.cluster.Cluster(settings) as cluster:
        live = await lazy.gather_objects.read_objects(cluster, wanted, on_answer=told.add)
        return live, await lazy.gather_existence.existing(cluster, others)
