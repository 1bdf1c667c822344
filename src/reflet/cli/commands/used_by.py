"""``reflet used-by``: who uses a ConfigMap or Secret, and who must be restarted after a change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import click

from reflet.cli import lazy
from reflet.cli.options.arguments import FILE_NAME, ObjectTarget, ObjectWord, parse_targets
from reflet.cli.options.connection_options import ConnectionChoice, connection_options
from reflet.cli.output.output import (
    API_VERSION,
    counted,
    paragraph,
    print_fitting_table,
    print_json,
)
from reflet.cli.output.progress import Progress, progress

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reflet.insight.used_by import PossibleUsers, Use, UsedBy, User
    from reflet.resolution.objects import ConfigKind
    from reflet.transport.config.settings import ConnectionSettings

HEADINGS: Final = ("USER", "KEYS", "CHANGE")
EVERY_KEY: Final = "*"


@click.command()
@click.argument(
    "arguments", nargs=-1, metavar="TYPE/NAME | TYPE NAME", type=ObjectWord("configuration")
)
@click.option(
    "-A", "--all-namespaces", is_flag=True, help="Objects of that name in all namespaces."
)
@click.option("--key", default="", help="Only users of this key.")
@click.option(
    "-f",
    "--filename",
    "files",
    multiple=True,
    type=FILE_NAME,
    metavar="FILE|FOLDER|-",
    help="Look for users in these files, and ask no server; may be repeated.",
)
@click.option(
    "-o", "--output", type=click.Choice(("table", "json")), default="table", show_default=True
)
@click.option("--no-headers", is_flag=True, help="Leave out the headings of tables.")
@connection_options
def used_by(
    arguments: tuple[str, ...],
    all_namespaces: bool,
    key: str,
    files: tuple[str, ...],
    output: str,
    no_headers: bool,
    connection: ConnectionChoice,
) -> None:
    """Show who uses a ConfigMap or Secret, and who needs a restart.

    Pods, templates of workloads, pull secrets of service accounts and TLS of Ingresses count.
    CHANGE says when a user sees a change: live, after a restart, at the next pull of an image
    or mount of a volume.  A container that mounts with subPath needs a restart.
    """
    target = _one_target(arguments)
    kind = _config_kind(target.type)
    if files:
        with progress("reading files"):
            found = lazy.gather_files.possible_users_from_files(
                files, namespace=connection.namespace
            )
    else:
        settings = connection()
        with progress("asking the server") as told:
            found = lazy.event_loop.run(_ask(settings, kind, told, everywhere=all_namespaces))
    namespaces = found.namespaces() if all_namespaces else (found.namespace,)
    answers = _answers(kind, str(target.name), namespaces, found, key)
    if output == "json":
        namespace = None if all_namespaces else found.namespace
        print_json(_document(kind, namespace, str(target.name), answers, found.notes))
        return
    for note in found.notes:
        lazy.problem_output.tell("note", note)
    where = "" if all_namespaces else f" in namespace {found.namespace}"
    what = f"{kind} {target.name}{where}" + (f", key {key}" if key else "")
    _print(what, answers, everywhere=all_namespaces, no_headers=no_headers)


async def _ask(
    settings: ConnectionSettings, kind: ConfigKind, told: Progress, *, everywhere: bool
) -> PossibleUsers:
    async with lazy.cluster.Cluster(settings) as cluster:
        return await lazy.gather.possible_users(
            cluster, kind, everywhere=everywhere, on_pages=told.listing
        )


def _one_target(arguments: Sequence[str]) -> ObjectTarget:
    if not arguments:
        raise click.UsageError("name a ConfigMap or Secret, as in: cm/NAME, secret NAME")
    targets = parse_targets(arguments)
    if len(targets) != 1 or not targets[0].name:
        raise click.UsageError("one object at a time: cm/NAME or secret/NAME")
    return targets[0]


def _config_kind(text: str) -> ConfigKind:
    resource = lazy.resources.find(text)
    if resource == lazy.resources.CONFIG_MAPS:
        return "ConfigMap"
    if resource == lazy.resources.SECRETS:
        return "Secret"
    raise click.UsageError(f"{resource} hold no configuration: name a configmap or a secret")


def _answers(
    kind: ConfigKind, name: str, namespaces: Sequence[str], found: PossibleUsers, key: str
) -> list[UsedBy]:
    answers = [
        lazy.used_by.used_by(kind, namespace, name, found.candidates, key=key)
        for namespace in namespaces
    ]
    return [answer for answer in answers if answer.users]


def _print(what: str, answers: list[UsedBy], *, everywhere: bool, no_headers: bool) -> None:
    if not answers:
        click.echo(f"nobody uses {what}")
        return
    rows = [
        ([answer.namespace] if everywhere else []) + row
        for answer in answers
        for user in answer.users
        for row in _rows(user)
    ]
    headings = ("NAMESPACE", *HEADINGS) if everywhere else HEADINGS
    print_fitting_table(headings, rows, flexible=headings.index("KEYS"), no_headers=no_headers)
    click.echo()
    for line in paragraph(_totals_text(what, answers)):
        click.echo(line)


def _rows(user: User) -> Iterator[list[str]]:
    """Yield the user, and below it each of its uses."""
    pods = f" ({counted(len(user.pods), 'pod')})" if user.pods else ""
    older = ", older pods only" if user.outdated else ""
    yield [f"{user.kind.lower()}/{user.name}{pods}{older}", "", ""]
    for use in user.uses:
        keys = EVERY_KEY if use.keys is None else ", ".join(use.keys)
        yield [f"  {_usage_text(use)}", keys, use.effect.value]


def _usage_text(use: Use) -> str:
    place = use.place
    by = f"{place.container}: " if place.container else ""
    optional = ", optional" if use.optional else ""
    match use.usage:
        case "env":
            what = f"env {place.variable}"
        case "volume":
            what = f"volume {place.volume}" + (", subPath" if use.sub_path else "")
        case "imagePullSecret":
            what = "pull secret"
        case "volumeCredentials":
            what = f"credentials of volume {place.volume}"
        case _:
            what = use.usage
    return f"{by}{what}{optional}"


def _totals(answers: list[UsedBy]) -> dict[str, int]:
    return {
        "workloads": sum(answer.workloads for answer in answers),
        "pods": sum(answer.pods for answer in answers),
        "others": sum(answer.others for answer in answers),
        "workloadsToRestart": sum(answer.workloads_to_restart for answer in answers),
        "podsToRestart": sum(answer.pods_to_restart for answer in answers),
    }


def _totals_text(what: str, answers: list[UsedBy]) -> str:
    totals = _totals(answers)
    users = _counts(
        (totals["workloads"], "workload"),
        (totals["pods"], "pod"),
        (totals["others"], "other object"),
    )
    to_restart = _counts(
        (totals["workloadsToRestart"], "workload"), (totals["podsToRestart"], "pod")
    )
    one = totals["workloadsToRestart"] + totals["podsToRestart"] == 1
    restarts = f"{to_restart or 'none'} need{'s' if one or not to_restart else ''} a restart"
    return f"{what} is used by {users}; after a change, {restarts}"


def _counts(*numbers: tuple[int, str]) -> str:
    return " and ".join(counted(number, noun) for number, noun in numbers if number)


def _document(
    kind: str, namespace: str | None, name: str, answers: list[UsedBy], notes: Sequence[str]
) -> dict[str, Any]:
    return {
        "apiVersion": API_VERSION,
        "kind": "UsedBy",
        "object": {"kind": kind, "namespace": namespace, "name": name},
        "users": [_user_document(user) for answer in answers for user in answer.users],
        "totals": _totals(answers),
        "notes": list(notes),
    }


def _user_document(user: User) -> dict[str, Any]:
    return {
        "kind": user.kind,
        "namespace": user.namespace,
        "name": user.name,
        "pods": list(user.pods),
        "outdated": user.outdated,
        "restart": user.needs_restart,
        "uses": [_use_document(use) for use in user.uses],
    }


def _use_document(use: Use) -> dict[str, Any]:
    return {
        "as": use.usage,
        "keys": None if use.keys is None else list(use.keys),
        "optional": use.optional,
        "change": use.effect.value,
        "container": use.place.container or None,
        "variable": use.place.variable or None,
        "volume": use.place.volume or None,
        "mountPath": use.mount_path or None,
        "subPath": use.sub_path or None,
        "path": use.place.path,
    }
