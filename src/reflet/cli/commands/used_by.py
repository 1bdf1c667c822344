"""``reflet used-by``: who uses a ConfigMap or Secret, and who must be restarted after a change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import click

from reflet.cli import lazy
from reflet.cli.command import command
from reflet.cli.options.arguments import ObjectTarget, ObjectWord, parse_targets
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
from reflet.cli.output.progress import Progress, progress

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reflet.cli.options.project_file import ProjectFile
    from reflet.cli.output.palette import Meaning
    from reflet.insight.pod_uses import Use
    from reflet.insight.possible_users import PossibleUsers
    from reflet.insight.used_by import UsedBy, User
    from reflet.manifests.files import Sources
    from reflet.resolution.objects import ConfigKind, ObjectKey
    from reflet.transport.config.settings import ConnectionSettings

HEADINGS: Final = ("USER", "KEYS", "CHANGE")
EVERY_KEY: Final = "*"
_CHANGES: Final[dict[str, Meaning]] = {"live": "good", "restart": "caution"}
FORMS: Final = ("table", "wide", "json", "yaml")


@command(
    examples={
        "reflet used-by cm/settings": "users, keys, and what a change needs",
        "reflet used-by secret/db --key password": "users of one key",
        "reflet used-by cm/settings -f deploy/": "users in files",
    }
)
@click.argument(
    "arguments", nargs=-1, metavar="TYPE/NAME | TYPE NAME", type=ObjectWord("configuration")
)
@click.option(
    "-A", "--all-namespaces", is_flag=True, help="Objects of that name in all namespaces."
)
@click.option("--key", default="", help="Only users of this key.")
@file_options("Look for users in these files, and ask no server; repeatable.")
@click.option("-o", "--output", type=click.Choice(FORMS), default="table", show_default=True)
@click.option("--no-headers", is_flag=True, help="Print no headings.")
@project_options
@connection_options
def used_by(
    arguments: tuple[str, ...],
    all_namespaces: bool,
    key: str,
    files: Sources,
    output: str,
    no_headers: bool,
    project: ProjectFile,
    connection: ConnectionChoice,
) -> int:
    """Show who uses a ConfigMap or Secret, and who needs a restart.

    Users are pods, templates of workloads, custom ones included, and what the reference table
    lists: service accounts, Ingresses, Gateways, volumes, objects of operators; also sidecars
    that select the object by label.  CHANGE is when a user gets a change: live, after a restart,
    or when an image is pulled or a volume mounted next.  Mounts with subPath need a restart.

    Exit code 1: the object or the key does not exist; its users are shown all the same.
    """
    target = _one_target(arguments)
    kind = _config_kind(target.type)
    if files:
        with progress("reading files") as told:
            found = lazy.gather_files.possible_users_from_files(
                project.sources(files), namespace=connection.namespace, on_file=told.add
            )
    else:
        settings = connection()
        with progress("asking the server") as told:
            found = lazy.event_loop.run(
                _ask(settings, kind, str(target.name), told, everywhere=all_namespaces)
            )
    namespaces = found.namespaces() if all_namespaces else (found.namespace,)
    answers = _answers(kind, str(target.name), namespaces, found, key, project)
    absences = list(_absences(kind, namespaces, str(target.name), found, key))
    code = ends_with(1 if absences and not files else 0)
    if output in {"json", "yaml"}:
        namespace = None if all_namespaces else found.namespace
        document = _document(kind, namespace, str(target.name), answers, found)
        print_document(document, output)
        return code
    for note in found.notes:
        lazy.problem_output.tell("note", note)
    for warning in absences:
        lazy.problem_output.tell("warning", warning)
    where = "" if all_namespaces else f" in namespace {found.namespace}"
    what = f"{kind} {target.name}{where}" + (f", key {key}" if key else "")
    if not answers:
        _print_nobody(what, found)
        return code
    wide = output == "wide"
    _print(what, answers, everywhere=all_namespaces, no_headers=no_headers, wide=wide)
    return code


async def _ask(
    settings: ConnectionSettings, kind: ConfigKind, name: str, told: Progress, *, everywhere: bool
) -> PossibleUsers:
    async with lazy.cluster.Cluster(settings) as cluster:
        return await lazy.gather_users.possible_users(
            cluster, kind, name, everywhere=everywhere, on_pages=told.listing
        )


def _absences(
    kind: ConfigKind, namespaces: Sequence[str], name: str, found: PossibleUsers, key: str
) -> Iterator[str]:
    """Say that the object itself, or the key of it, is not there."""
    if found.keys_there is None:
        return
    there = {
        namespace: keys
        for (of_kind, namespace, of_name), keys in found.keys_there.items()
        if (of_kind, of_name) == (kind, name) and namespace in namespaces
    }
    if not there:
        where = f"in namespace {namespaces[0]}" if len(namespaces) == 1 else "in any namespace"
        near = lazy.difflib.get_close_matches(
            name, [other for of_kind, _, other in found.keys_there if of_kind == kind], n=1
        )
        hint = f"; did you mean {near[0]}?" if near else ""
        maker = next(filter(None, (found.maker_of(kind, each, name) for each in namespaces)), "")
        made = f": {maker} makes it" if maker else hint
        yield f"{kind} {name} does not exist {where}{made}"
    elif key and not any(key in keys for keys in there.values()):
        keys = sorted({each for keys in there.values() for each in keys})
        yield f"{kind} {name} has no key {key}; it has {', '.join(keys) or 'none at all'}"


def _print_nobody(what: str, found: PossibleUsers) -> None:
    """Say that nobody uses an object, what was looked at, and what was not."""
    pods, workloads, others = found.looked_at()
    looked = _counts((pods, "pod"), (workloads, "workload"), (others, "other object"))
    one = pods + workloads + others == 1
    said = f"nothing uses {what}: {looked or 'no pod and no workload'} {'was' if one else 'were'}"
    for line in paragraph(f"{said} checked"):
        click.echo(line)
    by_name = found.searched_by_name()
    if by_name:
        number = counted(sum(by_name.values()), "object")
        kinds = ", ".join(sorted(by_name))
        lazy.problem_output.tell(
            "note",
            f"in {number} of kinds that the reference table does not have, only the usual names "
            f"of fields were looked for: {kinds}",
        )
    if found.unread:
        number = counted(found.unread, "object")
        lazy.problem_output.tell(
            "note", f"not looked into, being of kinds that are not known here: {number}"
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
    kind: ConfigKind,
    name: str,
    namespaces: Sequence[str],
    found: PossibleUsers,
    key: str,
    project: ProjectFile,
) -> list[UsedBy]:
    more = project.tables().references
    rows = (*lazy.reference_table.built_in().references, *more) if more else None
    answers = lazy.used_by.used_by_each(
        kind, namespaces, name, found.candidates, key=key, rows=rows
    )
    return [answer for answer in answers if answer.users]


def _print(
    what: str, answers: list[UsedBy], *, everywhere: bool, no_headers: bool, wide: bool
) -> None:
    rows = [
        ([answer.namespace] if everywhere else []) + row
        for answer in answers
        for user in answer.users
        for row in _rows(user, answer.namespace)
    ]
    headings = ("NAMESPACE", *HEADINGS) if everywhere else HEADINGS
    flexible = (headings.index("KEYS"), headings.index("USER"))
    print_fitting_table(
        headings, rows, flexible=flexible, no_headers=no_headers, wide=wide, meaning=_cell_meaning
    )
    click.echo()
    for line in paragraph(_totals_text(what, answers)):
        click.echo(line)


def _cell_meaning(heading: str, cell: str) -> Meaning | None:
    if heading == "CHANGE":
        return _CHANGES.get(cell)
    return "name" if heading == "USER" and not cell.startswith(" ") else None


def _rows(user: User, namespace: str) -> Iterator[list[str]]:
    """Yield the user, and below it each of its uses."""
    elsewhere = f" in {user.namespace}" if user.namespace not in {"", namespace} else ""
    pods = f" ({counted(len(user.pods), 'pod')})" if user.pods else ""
    older = ", older pods only" if user.outdated else ""
    yield [f"{user.kind.lower()}/{user.name}{elsewhere}{pods}{older}", "", ""]
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
            what = f"credentials of {f'volume {place.volume}' if place.volume else 'the volume'}"
        case "sidecar":
            what = f"sidecar, {use.selection}"
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
    unknown = sum(answer.not_known for answer in answers)
    rest = f"; what {counted(unknown, 'user')} make{'s' * (unknown == 1)} of it is not known"
    return f"{what} is used by {users}; after a change, {restarts}{rest if unknown else ''}"


def _counts(*numbers: tuple[int, str]) -> str:
    *most, last = [counted(number, noun) for number, noun in numbers if number] or [""]
    return f"{', '.join(most)} and {last}" if most else last


def _document(
    kind: str, namespace: str | None, name: str, answers: list[UsedBy], found: PossibleUsers
) -> dict[str, Any]:
    there = found.keys_there
    pods, workloads, others = found.looked_at()
    return {
        "apiVersion": API_VERSION,
        "kind": "UsedBy",
        "object": {"kind": kind, "namespace": namespace, "name": name},
        "exists": None
        if there is None
        else any(_is_it(key, kind, namespace, name) for key in there),
        "users": [_user_document(user) for answer in answers for user in answer.users],
        "totals": _totals(answers),
        "lookedAt": {"pods": pods, "workloads": workloads, "others": others},
        "notes": list(found.notes),
    }


def _is_it(key: ObjectKey, kind: str, namespace: str | None, name: str) -> bool:
    return (key[0], key[2]) == (kind, name) and namespace in {None, key[1]}


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
        "selection": use.selection or None,
        "path": use.place.path,
    }
