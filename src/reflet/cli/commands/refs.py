"""``reflet refs``: the ConfigMaps and Secrets that a pod names, and where."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import click
import msgspec

from reflet.cli import lazy
from reflet.cli.options.pod_options import PodChoice, pod_options
from reflet.cli.options.remark_options import verbose_option
from reflet.cli.output.output import API_VERSION, print_document, print_table, visible

if TYPE_CHECKING:
    from reflet.resolution.pod_inputs import PodInputs
    from reflet.resolution.references import Reference

HEADINGS: Final = ("OBJECT", "KEYS", "USED BY")
FORMS: Final = ("table", "json", "yaml")


@click.command()
@pod_options
@click.option("-o", "--output", type=click.Choice(FORMS), default="table", show_default=True)
@click.option("--no-headers", is_flag=True, help="Leave out the headings of tables.")
@verbose_option
def refs(choice: PodChoice, output: str, no_headers: bool, verbose: bool) -> None:
    """List the ConfigMaps and Secrets that a pod names, and where.

    Only the pod itself is read: whether the objects exist is not looked at, and a pod of files
    that the server would refuse for something else is answered too, with a warning.
    """
    inputs = choice.gather(lazy.pod_inputs.ONLY_THE_POD, refused=True)
    references = list(lazy.references.references_of(inputs.pod))
    for placed in inputs.other_templates:
        references += lazy.references.references_of(placed.template)
    if output != "table":
        print_document(references_document(inputs, references), output)
        return
    said = lazy.problem_output
    refusals = [said.Notice("warning", str(refusal)) for refusal in inputs.refusals]
    said.tell_few(refusals, verbose=verbose)
    if not references:
        click.echo(visible(f"{inputs.target} names no ConfigMap and no Secret."), err=True)
        return
    rows = [(_object(each), _keys(each), _use(each)) for each in references]
    print_table(HEADINGS, rows, no_headers=no_headers)


def references_document(inputs: PodInputs, references: list[Reference]) -> dict[str, Any]:
    """Return the references of a pod for programs: the names, and every use."""
    names: dict[str, dict[str, None]] = {"ConfigMap": {}, "Secret": {}}
    for each in references:
        names[each.kind][each.name] = None
    document: dict[str, Any] = {
        "apiVersion": API_VERSION,
        "kind": "References",
        "namespace": inputs.namespace,
        "pod": inputs.pod.metadata.name or None,
        "configMaps": list(names["ConfigMap"]),
        "secrets": list(names["Secret"]),
        "uses": [
            {
                "kind": each.kind,
                "name": each.name,
                "usage": each.usage.value,
                "keys": None if each.keys is None else list(each.keys),
                "optional": each.optional,
                "place": msgspec.to_builtins(each.place),
            }
            for each in references
        ],
    }
    if inputs.from_template:
        document["workload"] = {"kind": inputs.kind, "name": inputs.name}
    return document


def _object(reference: Reference) -> str:
    return f"{reference.kind.lower()}/{reference.name}"


def _keys(reference: Reference) -> str:
    return "all" if reference.keys is None else ",".join(reference.keys)


def _use(reference: Reference) -> str:
    place = str(reference.place) if reference.place.container or reference.place.volume else ""
    use = {
        "imagePullSecret": "pulls images",
        "envFrom": f"{place}, all variables",
        "volumeCredentials": f"{place}, its driver",
    }.get(reference.usage.value, place)
    prefix = f" as {reference.prefix}…" if reference.prefix else ""
    return f"{use}{prefix}{' (optional)' if reference.optional else ''}"
