"""``reflet rbac``: the least rights that reading a pod's configuration takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import click

from reflet.cli import lazy
from reflet.cli.options.pod_options import PodChoice, pod_options
from reflet.cli.output.output import USUAL_COLUMNS, print_json, wrapped

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reflet.insight.rbac import Grant, Subject
    from reflet.resolution.pod_inputs import PodInputs

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
    wanted = _verbs(verbs)
    bound = [_subject(text) for text in subjects]
    grants = lazy.rbac.grants_for(_pods(choice), name=name, verbs=wanted, subjects=bound)
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
    kind, _, name = text.partition(":")
    subject = lazy.rbac.Subject
    namespace, colon, short = name.partition(":")
    match kind.lower():
        case "user" if name:
            return subject(kind="User", name=name)
        case "group" if name:
            return subject(kind="Group", name=name)
        case "serviceaccount" | "sa" if name and not colon:
            return subject(kind="ServiceAccount", name=name)
        case "serviceaccount" | "sa" if namespace and short and ":" not in short:
            return subject(kind="ServiceAccount", name=short, namespace=namespace)
        case _:
            raise click.UsageError(f"--subject takes {_SUBJECTS}, not {text!r}")


def _pods(choice: PodChoice) -> Sequence[PodInputs]:
    if choice.target or not choice.files:
        inputs = choice.gather(lazy.pod_inputs.ONLY_THE_POD, refused=True)
        said = [refusal for refusal in inputs.refusals if refusal.place == inputs.place]
        for refused in said:
            lazy.problem_output.tell("warning", str(refused))
        return [inputs]
    namespace = choice.connection.namespace
    applied = lazy.applying.read_applied(
        choice.files, namespace=namespace or lazy.gather_files.FILES_NAMESPACE
    )
    for refusal in applied.refusals:
        left_out = "; so it is left out" if refusal.object is None else ""
        lazy.problem_output.tell("warning", f"{refusal}{left_out}")
    return lazy.gather_files.inputs_of_every_pod(applied, namespace=namespace, refused=True)


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
    return "\n".join(wrapped(text, USUAL_COLUMNS, first="# ", indent="# "))


def _written(grant: Grant) -> Iterator[str]:
    """Yield the role and its binding as YAML, the role with a comment above each rule."""
    role = grant.role()
    del role["rules"]
    rules = [
        f"{_comment(rule.why)}\n{lazy.yaml_text.write_yaml([rule.document()])}"
        for rule in grant.rules
    ]
    yield f"{lazy.yaml_text.write_yaml(role)}rules:\n{''.join(rules)}"
    binding = grant.binding()
    if binding is not None:
        yield lazy.yaml_text.write_yaml(binding)
