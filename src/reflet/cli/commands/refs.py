"""``reflet refs``: the ConfigMaps and Secrets that a pod names, and where.

Owns: the command.  Must not know which fields of a pod name an object.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import click

from reflet.cli.options.pod_options import PodChoice, pod_options
from reflet.cli.output.output import print_json, print_table, print_yaml

if TYPE_CHECKING:
    from reflet.cli.pod_gathering import PodInHand
    from reflet.resolution.references import Reference

API_VERSION: Final = "reflet.dev/v1alpha1"
HEADINGS: Final = ("OBJECT", "KEYS", "USED BY")
FORMS: Final = ("table", "json", "yaml")


@click.command()
@pod_options
@click.option("-o", "--output", type=click.Choice(FORMS), default="table", show_default=True)
@click.option("--no-headers", is_flag=True, help="Leave out the headings of tables.")
def refs(choice: PodChoice, output: str, no_headers: bool) -> None:
    """List the ConfigMaps and Secrets that a pod names, and where.

    Only the pod itself is read: whether the objects exist is not looked at.
    """
    from reflet.cli.output import problem_output  # noqa: PLC0415 - not needed for --help
    from reflet.cli.pod_gathering import Needs, nothing  # noqa: PLC0415 - as above
    from reflet.resolution.references import references_of  # noqa: PLC0415 - as above

    hand = choice.gather(Needs(references=nothing, services=False, node=False))
    references = list(references_of(hand.pod))
    if output != "table":
        document = references_document(hand, references)
        (print_json if output == "json" else print_yaml)(document)
        return
    for refusal in hand.refusals:
        problem_output.tell("warning", str(refusal))
    if not references:
        click.echo(f"{hand.target} names no ConfigMap and no Secret.", err=True)
        return
    rows = [(_object(each), _keys(each), _use(each)) for each in references]
    print_table(HEADINGS, rows, no_headers=no_headers)


def references_document(hand: PodInHand, references: list[Reference]) -> dict[str, Any]:
    """Return the references of a pod for programs: the names, and every use."""
    import msgspec  # noqa: PLC0415 - not needed for --help

    names: dict[str, dict[str, None]] = {"ConfigMap": {}, "Secret": {}}
    for each in references:
        names[each.kind][each.name] = None
    document: dict[str, Any] = {
        "apiVersion": API_VERSION,
        "kind": "References",
        "namespace": hand.pod.metadata.namespace,
        "pod": hand.pod.metadata.name or None,
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
    if hand.from_template:
        document["workload"] = {"kind": hand.kind, "name": hand.name}
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
