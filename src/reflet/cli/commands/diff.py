"""``reflet diff``: what changes for the processes of pods, between two places."""

from __future__ import annotations

import dataclasses
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, NamedTuple

import click

from reflet.cli import lazy
from reflet.cli.command import command
from reflet.cli.options.arguments import FILE_NAME, KubeconfigName, NamespaceName, ObjectWord
from reflet.cli.options.connection_options import ConnectionChoice, connection_options
from reflet.cli.options.file_options import file_options
from reflet.cli.options.pod_options import pod_target
from reflet.cli.options.remark_options import verbose_option
from reflet.cli.output.output import ends_with, print_document
from reflet.cli.output.progress import progress
from reflet.errors import ConfigurationError, NotFound, RefletError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reflet.insight.pod_diff import PodDiff
    from reflet.manifests.files import Sources
    from reflet.podconfig.gather_files import PodName
    from reflet.resolution.pod_inputs import PodInputs

    Pods = dict[PodName, PodInputs]

FORMS: Final = ("text", "json", "yaml", "markdown", "github")
READ_THESE: Final = "Compare with these files, YAML or JSON; repeatable."


class Elsewhere(NamedTuple):
    """What the second side has that the first has not."""

    connection: ConnectionChoice
    has_connection: bool
    files: Sources


@command(
    examples={
        "reflet diff -f deploy/": "the cluster now, and with these files applied",
        "reflet diff deploy/web -f deploy/": "only this workload",
        "reflet diff -f deploy/ --rev main": "the files at a revision, and now",
        "reflet diff -f deploy/ --rev v1..v2": "the files at two revisions",
        "reflet diff -k dev --to-kustomize prod": "two sets of files",
        "reflet diff deploy/web --to-context prod": "two clusters",
        "reflet diff deploy/web --to-namespace stage": "two namespaces",
        "reflet diff pod/web-1 pod/web-2": "two pods",
    }
)
@click.argument("arguments", nargs=-1, metavar="[TYPE/NAME [TYPE/NAME]]", type=ObjectWord("pods"))
@file_options(READ_THESE)
@click.option(
    "--rev",
    default="",
    metavar="REV[..REV]",
    help="With files: since this revision of their git repository, or between two.",
)
@click.option(
    "--to-filename",
    "to_paths",
    multiple=True,
    type=FILE_NAME,
    metavar="FILE|FOLDER",
    help="The other side: these files; repeatable.",
)
@click.option(
    "--to-kustomize",
    "to_kustomizations",
    multiple=True,
    type=FILE_NAME,
    metavar="FOLDER",
    help="The other side: what kustomize makes of this folder.",
)
@click.option(
    "--to-context",
    default="",
    type=KubeconfigName("contexts"),
    help="The other side: the same in this context.",
)
@click.option(
    "--to-namespace",
    default="",
    type=NamespaceName(),
    help="The other side: the same in this namespace.",
)
@click.option(
    "--to-kubeconfig",
    default="",
    type=FILE_NAME,
    metavar="FILE",
    help="The other side: the same in the cluster of this file.",
)
@click.option("-o", "--output", type=click.Choice(FORMS), default="text", show_default=True)
@click.option("--reveal", is_flag=True, help="Show the values of Secrets.")
@click.option("--services", is_flag=True, help="Compare the variables of services as well.")
@verbose_option
@connection_options
def diff(
    arguments: tuple[str, ...],
    files: Sources,
    rev: str,
    to_paths: tuple[str, ...],
    to_kustomizations: tuple[str, ...],
    to_context: str,
    to_namespace: str,
    to_kubeconfig: str,
    output: str,
    reveal: bool,
    services: bool,
    verbose: bool,
    connection: ConnectionChoice,
) -> int:
    """Show what changes in the environment and files of pods.

    What is equal is only counted.  Values of Secrets are masked, equal values with the same
    mark; --reveal shows them.  -o markdown is a comment for a pull request, -o github annotates a
    workflow run.

    Exit code 1: something differs.
    """
    targets = _targets(arguments)
    other = Elsewhere(
        connection.other(context=to_context, namespace=to_namespace, kubeconfig=to_kubeconfig),
        bool(to_context or to_namespace or to_kubeconfig),
        lazy.manifest_files.Sources(paths=to_paths, kustomizations=to_kustomizations),
    )
    _check(targets, files, rev, other)
    before, after = _sides(targets, files, rev, other, connection)
    found = _compared(before, after, services=services, one=len(targets) > 0)
    code = ends_with(1 if any(found) else 0)
    remarks = [note for each in (*before.values(), *after.values()) for note in each.remarks]
    shown = lazy.diff_output.DiffOutput(reveal=reveal, verbose=verbose)
    if output in {"json", "yaml"}:
        print_document(shown.document(found, list(dict.fromkeys(remarks))), output)
        return code
    said = lazy.problem_output
    notices = [said.Notice("note", remark) for remark in dict.fromkeys(remarks)]
    refusals = [
        str(each) for side in (before, after) for pod in side.values() for each in pod.refusals
    ]
    notices += [said.Notice("warning", text) for text in dict.fromkeys(refusals)]
    said.tell_few(notices, verbose=verbose)
    lines = {"text": shown.lines, "markdown": shown.markdown, "github": shown.github}[output]
    for line in lines(found):
        click.echo(line)
    return code


def _targets(arguments: Sequence[str]) -> tuple[str, ...]:
    for each in arguments:
        if each.endswith((".yaml", ".yml", ".json")):  # as diff has it, but files have flags here
            raise click.UsageError(
                f"{each} is a file: name files with -f, those of the other side with --to-filename"
            )
    if len(arguments) == 2 and not all("/" in each for each in arguments):
        if not any("/" in each for each in arguments):
            return (pod_target(arguments),)
        raise click.UsageError("write TYPE/NAME for both")
    if len(arguments) > 2:
        raise click.UsageError("two at most: TYPE/NAME TYPE/NAME")
    return tuple(pod_target((each,)) for each in arguments)


def _check(targets: Sequence[str], files: Sources, rev: str, other: Elsewhere) -> None:
    """Refuse what has no second side, or two of them."""
    sides = {
        "--rev": bool(rev),
        "--to-filename or --to-kustomize": bool(other.files),
        "--to-context, --to-namespace or --to-kubeconfig": other.has_connection,
        "a second name": len(targets) == 2,
    }
    given = [name for name, is_given in sides.items() if is_given]
    if len(given) > 1:
        raise click.UsageError(f"one other side at a time: {' and '.join(given)} are given")
    if (rev or other.files) and not files:
        raise click.UsageError(f"{given[0]} compares files: name them with -f, -k or --helm")
    if other.has_connection and files:
        raise click.UsageError(
            "files are compared with one cluster: leave out --to-…, or the files"
        )
    if other.has_connection and not targets:
        raise click.UsageError("name what is compared, as in: deploy/web")
    if not given and not files:
        raise click.UsageError("with what? give -f, --rev, --to-context or a second TYPE/NAME")


def _sides(
    targets: Sequence[str],
    files: Sources,
    rev: str,
    other: Elsewhere,
    connection: ConnectionChoice,
) -> tuple[Pods, Pods]:
    target = targets[0] if targets else ""
    namespace = connection.namespace
    if rev:
        revisions = lazy.git_revisions.Revisions.parse(rev)
        before = _at(files, revisions.before, target, namespace)
        if revisions.after:
            return before, _at(files, revisions.after, target, namespace)
        return before, _read(files, target, namespace)
    if other.files:
        return _read(files, target, namespace), _read(other.files, target, namespace)
    if len(targets) == 2 and files:
        return _read(files, targets[0], namespace), _read(files, targets[1], namespace)
    with progress("asking the server"):
        if not files:
            second = targets[1] if len(targets) == 2 else target
            return lazy.event_loop.run(_two(connection, target, other.connection, second))
        return lazy.event_loop.run(_applied(connection, _read(files, target, namespace)))


def _read(files: Sources, target: str, namespace: str) -> Pods:
    if not files:
        return {}
    with progress("reading files") as told:
        return lazy.gather_files.named_pods(files, target, namespace=namespace, on_file=told.add)


def _at(files: Sources, revision: str, target: str, namespace: str) -> Pods:
    at_revision = lazy.git_revisions.sources_at(files, revision)
    with at_revision as (sources, folder), _renamed(folder, revision):
        found = _read(sources, target, namespace)

    def named(text: str) -> str:
        return text.replace(f"{folder}/", f"{revision}:")

    return {
        name: dataclasses.replace(inputs, remarks=tuple(map(named, inputs.remarks)), refusals=())
        for name, inputs in found.items()
    }


@contextmanager
def _renamed(folder: str, revision: str) -> Iterator[None]:
    """Let errors name the files of a revision as git names them."""
    try:
        yield
    except RefletError as error:
        raise ConfigurationError(str(error).replace(f"{folder}/", f"{revision}:")) from error


async def _two(
    first: ConnectionChoice, one: str, second: ConnectionChoice, another: str
) -> tuple[Pods, Pods]:
    """Ask for a pod, and for the other; one of them may be missing, if a name is the same."""
    found: list[Pods] = []
    missing: list[NotFound] = []
    for connection, target in ((first, one), (second, another)):
        async with lazy.cluster.Cluster(connection()) as cluster:
            try:
                inputs = await lazy.gather.pod_inputs(cluster, target, needs=lazy.gather_diff.NEEDS)
            except NotFound as error:
                if await lazy.missing_targets.has_no_namespace(cluster):
                    raise ConfigurationError(
                        f"namespace {cluster.namespace} does not exist"
                    ) from error
                if missing or one != another:
                    named = lazy.missing_targets.missing_target
                    raise await named(cluster, target) from error
                missing.append(error)
                found.append({})
            else:
                found.append({(inputs.kind, inputs.namespace, inputs.name): inputs})
    before, after = found
    return before, after


async def _applied(connection: ConnectionChoice, files: Pods) -> tuple[Pods, Pods]:
    async with lazy.cluster.Cluster(connection()) as cluster:
        there = await lazy.gather_diff.cluster_pods(cluster, files)
        return there, await lazy.gather_diff.applied_pods(cluster, files, there)


def _compared(before: Pods, after: Pods, *, services: bool, one: bool) -> list[PodDiff]:
    """Compare pods of the same name, of whichever namespace; or the one with the other."""
    if not before and not after:
        raise ConfigurationError(
            "neither side has it: no pod of that name, and nothing that makes one"
            if one
            else "neither side has a pod or anything that makes pods"
        )
    if one and len(before) <= 1 and len(after) <= 1:
        first, second = (next(iter(side.values()), None) for side in (before, after))
        return [lazy.pod_diff.pod_diff(first, second, services=services)]
    pairs = _paired(before, after)
    found = [lazy.pod_diff.pod_diff(*pair, services=services) for pair in pairs]
    if len({each.namespace for each in found}) > 1:
        replace = lazy.msgspec.structs.replace
        found = [replace(each, title=f"{each.title} in {each.namespace}") for each in found]
    return found


def _paired(before: Pods, after: Pods) -> list[tuple[PodInputs | None, PodInputs | None]]:
    sides = [{_short(name): name for name in side} for side in (before, after)]
    if all(len(short) == len(side) for short, side in zip(sides, (before, after), strict=True)):
        # Overlays are for namespaces of their own.
        before = {("", *_short(name)): each for name, each in before.items()}
        after = {("", *_short(name)): each for name, each in after.items()}
    return [(before.get(name), after.get(name)) for name in dict.fromkeys((*before, *after))]


def _short(name: PodName) -> tuple[str, str]:
    kind, _, own = name
    return kind, own
