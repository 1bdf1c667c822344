"""``reflet refs``: the ConfigMaps and Secrets that a pod names, and where."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import click
import msgspec

from reflet.cli import lazy
from reflet.cli.command import command
from reflet.cli.options.pod_options import PodChoice, pod_options
from reflet.cli.options.remark_options import verbose_option
from reflet.cli.output.output import API_VERSION, print_document, print_table, visible

if TYPE_CHECKING:
    from reflet.insight.sidecars import SidecarContainer, SidecarSelection
    from reflet.resolution.places import PodLike
    from reflet.resolution.pod_inputs import PodInputs
    from reflet.resolution.references.references import Reference

HEADINGS: Final = ("OBJECT", "KEYS", "USED BY")
FORMS: Final = ("table", "json", "yaml")


@command(
    examples={
        "reflet refs deploy/web": "objects, keys, and where each is used",
        "reflet refs -f web.yaml -o json": "for programs",
    },
)
@pod_options
@click.option("-o", "--output", type=click.Choice(FORMS), default="table", show_default=True)
@click.option("--no-headers", is_flag=True, help="Print no headings.")
@verbose_option
def refs(choice: PodChoice, output: str, no_headers: bool, verbose: bool) -> None:
    """List the ConfigMaps and Secrets that a pod names.

    Each is listed with its keys and where it is used.  For a sidecar that selects objects by
    label, the selector is listed.  Only the pod is read, and what configures a sidecar; whether
    the objects exist is not checked.  A pod of a file that the server would refuse is listed as
    well, with a warning.
    """
    inputs = choice.gather(lazy.sidecars.POD_AND_SIDECARS, refused=True)
    pods: list[PodLike] = [inputs.pod, *(placed.template for placed in inputs.other_templates)]
    references = [each for pod in pods for each in lazy.references.references_of(pod)]
    sidecars = [
        each
        for pod in pods
        for each in lazy.sidecars.sidecars_of(pod, inputs.namespace, inputs.objects)
    ]
    if output != "table":
        print_document(references_document(inputs, references, sidecars), output)
        return
    said = lazy.problem_output
    refusals = [said.Notice("warning", str(refusal)) for refusal in inputs.refusals]
    said.tell_few(refusals, verbose=verbose)
    if not references and not sidecars:
        click.echo(visible(f"{inputs.target} names no ConfigMap and no Secret."), err=True)
        return
    rows = [(_object(each), _keys(each), _use(each)) for each in references]
    rows += [(_selected(each.selection), "all", _picking(each)) for each in sidecars]
    print_table(HEADINGS, rows, no_headers=no_headers)


def references_document(
    inputs: PodInputs, references: list[Reference], sidecars: list[SidecarContainer]
) -> dict[str, Any]:
    """Return the references of a pod for programs: the names, every use, and what is selected."""
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
        "selections": [_selection_document(each) for each in sidecars],
    }
    if inputs.from_template:
        document["workload"] = {"kind": inputs.kind, "name": inputs.name}
    return document


def _selection_document(sidecar: SidecarContainer) -> dict[str, Any]:
    selection = sidecar.selection
    return {
        "kinds": list(selection.kinds),
        "labelSelector": None if selection.names else selection.label or None,
        "names": ["/".join(filter(None, each)) for each in selection.names],
        "namespaces": None if selection.namespaces is None else list(selection.namespaces),
        "folder": selection.folder or None,
        "notKnown": list(selection.unknown),
        "place": msgspec.to_builtins(sidecar.place),
    }


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


def _selected(selection: SidecarSelection) -> str:
    """Write a selection as kubectl would be asked for it."""
    kinds = ",".join(kind.lower() for kind in selection.kinds)
    if selection.namespaces is None:
        where = "-A"
    else:
        where = " ".join(f"-n {namespace}" for namespace in selection.namespaces)
    if selection.names:
        what = " ".join("/".join(filter(None, each)) for each in selection.names)
    else:
        label = selection.label or "?"
        what = f"-l '{label}'" if " " in label else f"-l {label}"
    return f"{kinds} {what} {where}"


def _picking(sidecar: SidecarContainer) -> str:
    unknown = sidecar.selection.unknown
    rest = f"; not known: {', '.join(unknown)}" if unknown else ""
    return f"{sidecar.place}, sidecar{rest}"
