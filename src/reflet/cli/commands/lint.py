"""``reflet lint``: what in files would fail at rollout.

Owns: the command: which files, which cluster, which rules, which exit code.  Its forms are
lint_forms.py's.  Must not know what a rule checks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import click

from reflet.cli.options.connection_options import ConnectionChoice, connection_options
from reflet.cli.options.file_names import FILE_NAME
from reflet.cli.output.output import print_json, print_table

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from reflet.api.core.config import ConfigMap, Secret
    from reflet.errors import RefletError
    from reflet.insight.lint.rules import Finding
    from reflet.insight.lint.subjects import Subject
    from reflet.manifests.applied import AppliedManifests
    from reflet.resolution.objects import ObjectKey
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
    the files are looked up, one by one, and immutable ones are compared.  Exit code 1: there are
    errors; with --strict, or warnings.
    """
    from reflet.insight.lint.linting import lint as check  # noqa: PLC0415 - not for --help
    from reflet.insight.lint.rules import Severity, chosen_rules  # noqa: PLC0415 - as above

    if list_rules:
        _print_rules(output)
        return 0
    if not files:
        raise click.UsageError("name the files to check: -f FILE, -f FOLDER or -f -")
    chosen = chosen_rules(_names(select), _names(ignore))
    subjects, live, notes = _gather(files, connection if against == "cluster" else None, connection)
    findings = check(subjects, live=live, chosen=chosen)
    _print(output, findings, notes, objects=len(subjects))
    failing = {Severity.ERROR, Severity.WARNING} if strict else {Severity.ERROR}
    return 1 if any(finding.severity in failing for finding in findings) else 0


def _names(texts: Sequence[str]) -> list[str]:
    return [name for text in texts for name in text.split(",") if name.strip()]


def _print_rules(output: str) -> None:
    from reflet.insight.lint.rules import RULES  # noqa: PLC0415 - not needed for --help

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
                for rule in RULES
            ]
        )
        return
    rows = [(rule.id, rule.severity.value if rule.usual else "off", rule.summary) for rule in RULES]
    print_table(("RULE", "LEVEL", "FINDS"), rows, no_headers=False)


def _print(output: str, findings: tuple[Finding, ...], notes: list[str], *, objects: int) -> None:
    from reflet.cli.output import lint_forms, problem_output  # noqa: PLC0415 - not for --help

    if output == "json":
        print_json(lint_forms.json_document(findings, notes))
        return
    for note in notes:
        problem_output.tell("note", note)
    if output == "sarif":
        print_json(lint_forms.sarif_document(findings, notes))
        return
    lines = (
        lint_forms.github_lines(findings)
        if output == "github"
        else lint_forms.text_lines(findings, objects=objects)
    )
    for line in lines:
        click.echo(line)


def _gather(
    files: Sequence[str], cluster: ConnectionChoice | None, connection: ConnectionChoice
) -> tuple[list[Subject], dict[ObjectKey, ConfigMap | Secret | RefletError], list[str]]:
    from reflet.api.core.services import Service  # noqa: PLC0415 - not needed for --help
    from reflet.cli.output.progress import progress  # noqa: PLC0415 - as above
    from reflet.cli.pod_gathering import FILES_NAMESPACE  # noqa: PLC0415 - as above
    from reflet.errors import ConfigurationError  # noqa: PLC0415 - as above
    from reflet.manifests.applied import read_applied  # noqa: PLC0415 - as above

    settings = None if cluster is None else cluster()
    namespace = connection.namespace or FILES_NAMESPACE
    with progress("reading files"):
        applied = read_applied(
            files, namespace=namespace if settings is None else settings.namespace
        )
    if not (applied.objects or applied.refusals or applied.remarks):
        # In a pipe, whoever was to write them has most likely failed.
        raise ConfigurationError("the files hold no objects: there is nothing to check")
    subjects = subjects_of(applied)
    # That a Service has no address yet is nothing that lint looks at.
    services = {item.place for item in applied.objects if isinstance(item.object, Service)}
    notes = [str(remark) for remark in applied.remarks if remark.place not in services]
    if settings is None:
        return subjects, {}, notes
    live = _look_up(settings, subjects)
    notes += _not_checked(live)
    return subjects, live, notes


def subjects_of(applied: AppliedManifests) -> list[Subject]:
    """Return the objects of the files, accepted or refused, as lint wants them."""
    from reflet.insight.lint.subjects import Subject  # noqa: PLC0415 - not needed for --help

    subjects = []
    for item in applied.objects:
        metadata = item.object.metadata
        file, line = _split(item.place)
        subjects.append(
            Subject(
                file=file,
                kind=item.object.kind,
                namespace=metadata.namespace,
                name=metadata.name or metadata.generate_name,
                line_of=item.line_of or _always(line),
                object=item.object,
            )
        )
    for refusal in applied.refusals:
        file, line = _split(refusal.place)
        subjects.append(
            Subject(
                file=file,
                kind=refusal.kind,
                namespace=refusal.namespace,
                name=refusal.name,
                line_of=refusal.line_of or _always(line),
                message=refusal.message,
                causes=refusal.causes,
            )
        )
    return subjects


def _always(line: int) -> Callable[[str], int]:
    return lambda _: line


def _split(place: str) -> tuple[str, int]:
    file, _, line = place.rpartition(":")
    return file, int(line)


def _look_up(
    settings: ConnectionSettings, subjects: Sequence[Subject]
) -> dict[ObjectKey, ConfigMap | Secret | RefletError]:
    import asyncio  # noqa: PLC0415 - not needed for files

    from reflet.cli.cluster_gathering import HOPELESS  # noqa: PLC0415 - as above
    from reflet.cli.output.progress import progress  # noqa: PLC0415 - as above
    from reflet.insight.lint.linting import wanted_from_cluster  # noqa: PLC0415 - as above

    with progress("asking the server"):
        live = asyncio.run(_read(settings, wanted_from_cluster(subjects)))
    for answer in live.values():
        if isinstance(answer, HOPELESS):
            raise answer
    return live


async def _read(
    settings: ConnectionSettings, wanted: Sequence[ObjectKey]
) -> dict[ObjectKey, ConfigMap | Secret | RefletError]:
    import asyncio  # noqa: PLC0415 - not needed for files

    from reflet.api.core.config import ConfigMap, Secret  # noqa: PLC0415 - as above
    from reflet.cluster import Cluster  # noqa: PLC0415 - as above
    from reflet.errors import RefletError  # noqa: PLC0415 - as above

    live: dict[ObjectKey, ConfigMap | Secret | RefletError] = {}

    async def read(cluster: Cluster, key: ObjectKey) -> None:
        kind, namespace, name = key
        client: Any = cluster.resource(
            ConfigMap if kind == "ConfigMap" else Secret, namespace=namespace
        )
        try:
            live[key] = await client.get(name)
        except RefletError as error:
            live[key] = error

    async with Cluster(settings) as cluster, asyncio.TaskGroup() as tasks:
        for key in wanted:
            tasks.create_task(read(cluster, key), name="get " + "/".join(key))
    return live


def _not_checked(live: dict[ObjectKey, ConfigMap | Secret | RefletError]) -> list[str]:
    from reflet.errors import NotFound, RefletError  # noqa: PLC0415 - not needed for --help

    return [
        f"{kind} {namespace}/{name} could not be read, so it is not checked: {answer}"
        for (kind, namespace, name), answer in live.items()
        if isinstance(answer, RefletError) and not isinstance(answer, NotFound)
    ]
