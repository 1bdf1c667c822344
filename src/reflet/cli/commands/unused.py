"""``reflet unused``: ConfigMaps, Secrets and single keys that nothing uses."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

import click

from reflet.cli import lazy
from reflet.cli.command import command
from reflet.cli.options.connection_options import ConnectionChoice, connection_options
from reflet.cli.options.file_options import file_options
from reflet.cli.options.project_options import project_options
from reflet.cli.output.output import (
    API_VERSION,
    counted,
    ends_with,
    paragraph,
    print_document,
    print_fitting_table,
)
from reflet.cli.output.progress import progress

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from reflet.cli.options.project_file import ProjectFile
    from reflet.client.rest import OnPage
    from reflet.insight.reference_table import Row
    from reflet.insight.unused import StoredConfig, UnusedPart
    from reflet.manifests.files import Sources
    from reflet.podconfig.many_pods.gather_unused import Inventory
    from reflet.transport.config.settings import ConnectionSettings

HEADINGS: Final = ("OBJECT", "KEYS", "SIZE", "AGE")
WHY: Final = "WHY"
FORMS: Final = ("table", "wide", "json", "yaml")
DAY: Final = 86400.0
MOST_KINDS: Final = 8  # named in one note


@command(
    examples={
        "reflet unused": "of this namespace",
        "reflet unused -A --older-than 30d": "of all namespaces, older than a month",
        "reflet unused -f deploy/ --show-reason": "of files, with the reason for each",
    }
)
@click.option("-A", "--all-namespaces", is_flag=True, help="Objects of all namespaces.")
@file_options("Look in these files, and ask no server; repeatable.")
@click.option(
    "--older-than", default="", metavar="TIME", help="Only what is older than this: 30d, 12h."
)
@click.option("--no-keys", is_flag=True, help="Whole objects only.")
@click.option(
    "--mentioned", is_flag=True, help="Show objects that are only mentioned by name as well."
)
@click.option("--show-reason", is_flag=True, help="Show why each counts as unused.")
@click.option("-o", "--output", type=click.Choice(FORMS), default="table", show_default=True)
@click.option("--no-headers", is_flag=True, help="Print no headings.")
@project_options
@connection_options
def unused(
    all_namespaces: bool,
    files: Sources,
    older_than: str,
    no_keys: bool,
    mentioned: bool,
    show_reason: bool,
    output: str,
    no_headers: bool,
    project: ProjectFile,
    connection: ConnectionChoice,
) -> int:
    """Show ConfigMaps, Secrets and keys that nothing uses.

    Users are those of used-by: pods, templates, service accounts, Ingresses, volumes and objects
    of operators; unknown custom kinds are searched by the usual names of fields.  Left out are
    objects that controllers own or make, tokens, Helm releases, and objects whose name appears in
    an argument, variable or annotation; --mentioned shows the latter.  With -A, kube-system and
    the like are left out; -n names them.

    A program may read an object through the API, which no manifest shows: check before you
    delete.

    Exit code 1: something is unused.
    """
    limit = _seconds(older_than)
    more = project.tables().references
    rows = (*lazy.reference_table.built_in().references, *more) if more else None
    if files:
        with progress("reading files") as told:
            found = lazy.gather_unused.inventory_of_files(
                project.sources(files),
                namespace=connection.namespace,
                rows=rows,
                on_file=told.add,
            )
    else:
        settings = connection()
        with progress("asking the server") as told:
            found = lazy.event_loop.run(
                _ask(settings, rows, told.listing, everywhere=all_namespaces)
            )
    now = datetime.now(UTC)
    objects = _chosen(found, everywhere=all_namespaces and not files)
    every = [
        part
        for part in lazy.unused.unused_parts(objects, found.seen)
        if (part.keys is None or not no_keys) and _is_old(part.object, now, limit)
    ]
    parts = [part for part in every if mentioned or not part.mentioned_by]
    code = ends_with(1 if parts else 0)
    if output in {"json", "yaml"}:
        print_document(_document(parts, found, len(objects)), output)
        return code
    for note in dict.fromkeys(_notes(found, len(found.objects) - len(objects))):
        lazy.problem_output.tell("note", note)
    _print(
        parts,
        everywhere=all_namespaces,
        reasons=show_reason or output == "wide",
        no_headers=no_headers,
        wide=output == "wide",
        now=now,
    )
    for line in paragraph(_totals(parts, len(every) - len(parts), found, len(objects))):
        click.echo(line)
    return code


async def _ask(
    settings: ConnectionSettings,
    rows: Iterable[Row] | None,
    on_pages: Callable[[], OnPage],
    *,
    everywhere: bool,
) -> Inventory:
    async with lazy.cluster.Cluster(settings) as cluster:
        return await lazy.gather_unused.take_inventory(
            cluster, everywhere=everywhere, rows=rows, on_pages=on_pages
        )


def _seconds(text: str) -> float:
    """Read ``30d``, or a duration as Go writes it; 0 for nothing."""
    if not text:
        return 0.0
    number, unit = text[:-1], text[-1:]
    if unit == "d" and number.replace(".", "", 1).isdecimal():
        return float(number) * DAY
    try:
        return lazy.durations.parse_duration(text)
    except ValueError:
        raise click.UsageError(f"--older-than: {text!r} is no time such as 30d or 12h") from None


def _chosen(found: Inventory, *, everywhere: bool) -> list[StoredConfig]:
    if not everywhere:
        return list(found.objects)
    system = lazy.unused.SYSTEM_NAMESPACES
    return [each for each in found.objects if each.namespace not in system]


def _is_old(item: StoredConfig, now: datetime, limit: float) -> bool:
    if not limit:
        return True
    return item.created is not None and now - item.created >= timedelta(seconds=limit)


def _print(
    parts: Sequence[UnusedPart],
    *,
    everywhere: bool,
    reasons: bool,
    no_headers: bool,
    wide: bool,
    now: datetime,
) -> None:
    if not parts:
        return
    rows = []
    for part in parts:
        item = part.object
        age = (
            ""
            if item.created is None
            else lazy.durations.human_duration((now - item.created).total_seconds())
        )
        row = [
            *([item.namespace] if everywhere else []),
            f"{item.kind.lower()}/{item.name}",
            "*" if part.keys is None else ", ".join(part.keys),
            _size_text(part.size),
            age,
        ]
        rows.append([*row, _reason(part)] if reasons else row)
    headings = (*(("NAMESPACE",) if everywhere else ()), *HEADINGS, *((WHY,) if reasons else ()))
    flexible = [headings.index(name) for name in (WHY, "KEYS", "OBJECT") if name in headings]
    print_fitting_table(headings, rows, flexible=flexible, no_headers=no_headers, wide=wide)
    click.echo()


def _reason(part: UnusedPart) -> str:
    mention = f"; {part.mentioned_by} mentions its name" if part.mentioned_by else ""
    return f"{part.reason}{mention}"


def _size_text(size: int) -> str:
    if size < 1024:
        return f"{size} B"
    return f"{size / 1024:.1f} KiB" if size < 1 << 20 else f"{size / (1 << 20):.1f} MiB"


def _totals(parts: Sequence[UnusedPart], hidden: int, found: Inventory, looked: int) -> str:
    whole = sum(part.keys is None for part in parts)
    keys = sum(len(part.keys) for part in parts if part.keys is not None)
    counts = [counted(whole, "object"), *([counted(keys, "key") + " of others"] if keys else [])]
    of = f"{counted(looked, 'object')} and {counted(found.users, 'possible user')} checked"
    size = _size_text(sum(part.size for part in parts))
    said = f"{' and '.join(counts)} unused, {size}: {of}" if parts else f"nothing is unused: {of}"
    return said + (f"; {hidden} more only mentioned by name (--mentioned)" if hidden else "")


def _notes(found: Inventory, system: int) -> list[str]:
    """Say what was not looked at, and what only half."""
    notes = list(found.notes)
    if system:
        notes.append(
            f"{counted(system, 'object')} of kube-system and its like left out: name it with -n"
        )
    if found.by_usual_names:
        kinds = sorted(found.by_usual_names)
        named = ", ".join(kinds[:MOST_KINDS]) + (" and others" if len(kinds) > MOST_KINDS else "")
        number = counted(sum(found.by_usual_names.values()), "object")
        notes.append(
            f"in {number} of kinds that the reference table does not have, only the usual names "
            f"of fields were looked for: {named}"
        )
    return notes


def _document(parts: Sequence[UnusedPart], found: Inventory, looked: int) -> dict[str, Any]:
    return {
        "apiVersion": API_VERSION,
        "kind": "Unused",
        "items": [_part_document(part) for part in parts],
        "lookedAt": {"objects": looked, "users": found.users},
        "byUsualNames": dict(found.by_usual_names),
        "notes": list(found.notes),
    }


def _part_document(part: UnusedPart) -> dict[str, Any]:
    item = part.object
    return {
        "kind": item.kind,
        "namespace": item.namespace,
        "name": item.name,
        "keys": None if part.keys is None else list(part.keys),
        "size": part.size,
        "created": None if item.created is None else lazy.times.time_text(item.created),
        "reason": part.reason,
        "mentionedBy": part.mentioned_by or None,
    }
