"""``reflet rbac``: the least rights that reading a pod's configuration takes.

Owns: the command, and roles as YAML with a reason beside each rule.  Must not know which rights
a pod needs.
"""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any, Final

import click

from reflet.cli.options.pod_options import PodChoice, pod_options
from reflet.cli.output.output import print_json
from reflet.cli.output.report_text import WIDTH

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reflet.insight.rbac import Grant, PodSource, Subject

VERBS: Final = ("get", "list", "watch")
EXPLANATION: Final = "reflet.dev/explanation"
_SUBJECTS: Final = "user:NAME, group:NAME, serviceaccount:NAME or serviceaccount:NAMESPACE:NAME"


@click.command()
@pod_options
@click.option(
    "--subject",
    "subjects",
    multiple=True,
    metavar="KIND:NAME",
    help=f"Bind the rights too, to {_SUBJECTS}; may be repeated.",
)
@click.option(
    "--verbs",
    default=",".join(VERBS),
    show_default=True,
    help="What may be done with ConfigMaps and Secrets; get is enough to read them once.",
)
@click.option("--name", default="", help="Name of the roles; reflet-NAME when not given.")
@click.option(
    "-o", "--output", type=click.Choice(("yaml", "json")), default="yaml", show_default=True
)
def rbac(choice: PodChoice, subjects: tuple[str, ...], verbs: str, name: str, output: str) -> None:
    """Print the least rights that reading a pod's configuration takes.

    A Role, with --subject bound to somebody, allows to read exactly what the pod needs:
    ConfigMaps and Secrets by name.  With -f and without a target, one Role for each namespace
    covers all pods of the files.
    """
    from reflet.insight.rbac import grants_for  # noqa: PLC0415 - not needed for --help

    wanted = _verbs(verbs)
    bound = [_subject(text) for text in subjects]
    grants = grants_for(_sources(choice), name=name, verbs=wanted, subjects=bound)
    if output == "json":
        items = [document for grant in grants for document in _explained(grant)]
        print_json({"apiVersion": "v1", "kind": "List", "metadata": {}, "items": items})
        return
    click.echo("---\n".join(document for grant in grants for document in _written(grant)), nl=False)


def _verbs(text: str) -> list[str]:
    verbs = [verb.strip() for verb in text.split(",") if verb.strip()]
    unknown = [verb for verb in verbs if verb not in VERBS]
    if unknown or not verbs:
        raise click.UsageError(f"--verbs takes some of {', '.join(VERBS)}, not {text!r}")
    return verbs


def _subject(text: str) -> Subject:
    from reflet.insight.rbac import Subject  # noqa: PLC0415 - not needed for --help

    kind, _, name = text.partition(":")
    namespace, colon, short = name.partition(":")
    match kind.lower():
        case "user" if name:
            return Subject(kind="User", name=name)
        case "group" if name:
            return Subject(kind="Group", name=name)
        case "serviceaccount" | "sa" if name and not colon:
            return Subject(kind="ServiceAccount", name=name)
        case "serviceaccount" | "sa" if namespace and short and ":" not in short:
            return Subject(kind="ServiceAccount", name=short, namespace=namespace)
        case _:
            raise click.UsageError(f"--subject takes {_SUBJECTS}, not {text!r}")


def _sources(choice: PodChoice) -> Sequence[PodSource]:
    from reflet.cli.pod_gathering import Needs, nothing  # noqa: PLC0415 - not for --help
    from reflet.insight.rbac import PodSource  # noqa: PLC0415 - as above

    if choice.files and choice.target is None:
        return _every_pod(choice)
    hand = choice.gather(Needs(references=nothing, services=False, node=False))
    namespace = hand.pod.metadata.namespace
    return [PodSource(kind=hand.kind, namespace=namespace, name=hand.name, pod=hand.pod)]


def _every_pod(choice: PodChoice) -> Sequence[PodSource]:
    from reflet.cli.output import problem_output  # noqa: PLC0415 - not needed for --help
    from reflet.cli.pod_gathering import FILES_NAMESPACE  # noqa: PLC0415 - as above
    from reflet.insight.rbac import PodSource  # noqa: PLC0415 - as above
    from reflet.manifests.applied import read_applied  # noqa: PLC0415 - as above
    from reflet.manifests.pod_targets import no_pods, pod_targets  # noqa: PLC0415 - as above

    namespace = choice.connection.namespace
    applied = read_applied(choice.files, namespace=namespace or FILES_NAMESPACE)
    for refusal in applied.refusals:
        problem_output.tell("warning", f"{refusal}; so it is left out")
    sources = [
        PodSource(kind=each.kind, namespace=each.namespace, name=each.name, pod=each.pod)
        for each in pod_targets(applied)
        if not namespace or each.namespace == namespace
    ]
    if not sources:
        raise no_pods(applied)
    return sources


def _explained(grant: Grant) -> Iterator[dict[str, Any]]:
    """Yield the role, which says its reasons in an annotation, and its binding."""
    role = grant.role()
    reasons = "; ".join(f"{_what(rule)}: {rule.why}" for rule in grant.rules)
    role["metadata"] = {**role["metadata"], "annotations": {EXPLANATION: reasons}}
    yield role
    binding = grant.binding()
    if binding is not None:
        yield binding


def _what(rule: Any) -> str:
    return ", ".join(rule.resources)


def _comment(text: str) -> str:
    return textwrap.fill(text, WIDTH, initial_indent="# ", subsequent_indent="# ")


def _written(grant: Grant) -> Iterator[str]:
    """Yield the role and its binding as YAML, the role with a comment above each rule."""
    from reflet.api.yaml.text import write_yaml  # noqa: PLC0415 - YAML costs start-up time

    role = grant.role()
    del role["rules"]
    rules = [f"{_comment(rule.why)}\n{write_yaml([rule.document()])}" for rule in grant.rules]
    yield f"{write_yaml(role)}rules:\n{''.join(rules)}"
    binding = grant.binding()
    if binding is not None:
        yield write_yaml(binding)
