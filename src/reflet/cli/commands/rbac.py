"""``reflet rbac``: the least rights that reading a pod's configuration takes, or a sidecar."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

import click

from reflet.cli import lazy
from reflet.cli.command import command
from reflet.cli.options.pod_options import PodChoice, pod_options
from reflet.cli.output.output import USUAL_COLUMNS, print_json, wrapped
from reflet.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reflet.insight.rbac import Grant, Subject
    from reflet.insight.sidecars import SidecarSelection
    from reflet.resolution.pod_inputs import Needs, PodInputs

VERBS: Final = ("get", "list", "watch")
DECISIVE: Final = frozenset({"NAMESPACE", "RESOURCE", "RESOURCE_NAME"})
"""The variables of a sidecar that say what it must be allowed to read."""
EXPLANATION: Final = "reflet.dev/explanation"
_SUBJECTS: Final = "user:NAME, group:NAME, serviceaccount:NAME or serviceaccount:NAMESPACE:NAME"


@command(
    examples={
        "reflet rbac deploy/web": "a Role for reading what the pod needs",
        "reflet rbac deploy/web --subject user:jane": "and a RoleBinding",
        "reflet rbac -f deploy/": "for all pods of the files",
    }
)
@pod_options
@click.option(
    "--sidecar",
    is_flag=True,
    help="What the pod's sidecars need; without a pod, one with this command's variables.",
)
@click.option(
    "--forward",
    is_flag=True,
    help="What reflet run --forward needs, too: Services, and ports of the pods behind them.",
)
@click.option(
    "--subject",
    "subjects",
    multiple=True,
    metavar="KIND:NAME",
    help=f"Bind the rights to {_SUBJECTS}; repeatable.",
)
@click.option(
    "--verbs",
    show_default=f"{','.join(VERBS)}; for a sidecar what it needs",
    help="Verbs for ConfigMaps and Secrets; get is enough to read them once.",
)
@click.option("--name", default="", help="Name of the roles.  [default: reflet-NAME]")
@click.option(
    "-o", "--output", type=click.Choice(("yaml", "json")), default="yaml", show_default=True
)
def rbac(
    choice: PodChoice,
    sidecar: bool,
    forward: bool,
    subjects: tuple[str, ...],
    verbs: str | None,
    name: str,
    output: str,
) -> None:
    """Print the least rights that reading a pod's settings needs.

    The Role allows reading exactly the ConfigMaps and Secrets that the pod needs, by name;
    --subject adds a RoleBinding.  With -f and without a target, one Role for each namespace covers
    all pods of the files.

    With --sidecar, it is what the k8s-sidecar or reflet sidecar in the pod needs: a Role for each
    of its namespaces, or a ClusterRole for all.  Without a pod and without -f, the sidecar is
    described by variables of this command: LABEL, FOLDER, NAMESPACE, RESOURCE, RESOURCE_NAME.
    """
    wanted = () if verbs is None else _verbs(verbs)
    bound = [_subject(text) for text in subjects]
    if sidecar and forward:
        raise click.UsageError("--forward is about reflet run: leave it out, or --sidecar")
    if sidecar:
        grants = _sidecar_grants(choice, name, wanted, bound)
    else:
        pods = _pods(choice, lazy.pod_inputs.ONLY_THE_POD)
        grants = lazy.rbac.grants_for(
            pods, name=name, verbs=wanted or VERBS, subjects=bound, forward=forward
        )
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


def _sidecar_grants(
    choice: PodChoice, name: str, verbs: Sequence[str], subjects: Sequence[Subject]
) -> Sequence[Grant]:
    if choice.names_a_pod:
        pods = _pods(choice, lazy.sidecars.POD_AND_SIDECARS)
        found = [selection for inputs in pods for selection in _selections(inputs)]
        if not found:
            raise ConfigurationError(
                f"no sidecar in {', '.join(inputs.target for inputs in pods)}: that is a container "
                "with LABEL and FOLDER in its environment"
            )
        owner, namespace = pods[0].name.rstrip("-"), pods[0].namespace
    else:
        namespace = choice.connection.namespace
        selection = _selection_here(namespace)
        if selection.namespaces == ("",):  # its own, which the context knows
            namespace = choice.connection().namespace
            selection = _selection_here(namespace)
        found, owner = [selection], "sidecar"
    return lazy.rbac.grants_for_sidecars(
        found,
        name=name or f"reflet-{owner}",
        namespace=namespace,
        verbs=verbs,
        subjects=subjects,
    )


def _selection_here(namespace: str) -> SidecarSelection:
    found = lazy.sidecars.selection_of(os.environ, own_namespace=namespace)
    if isinstance(found, str):
        raise click.UsageError(
            f"the variables are not those of a sidecar: {found}; set them, or name a pod, as in: "
            "deploy/NAME"
        )
    return found


def _selections(inputs: PodInputs) -> Iterator[SidecarSelection]:
    for each in lazy.sidecars.sidecars_of(inputs.pod, inputs.namespace, inputs.objects):
        open_ones = [name for name in each.selection.unknown if name in DECISIVE]
        if open_ones:
            raise ConfigurationError(
                f"{inputs.target}, {each.place}: {', '.join(open_ones)} not known: the object that "
                "holds it cannot be read, or it is a Secret; set the variables of the sidecar in "
                "the environment, and leave out the pod"
            )
        yield each.selection


def _pods(choice: PodChoice, needs: Needs) -> Sequence[PodInputs]:
    if choice.target or not choice.files:
        inputs = choice.gather(needs, refused=True)
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
