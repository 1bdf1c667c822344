"""``reflet crd``: what a CustomResourceDefinition gives a program."""

from __future__ import annotations

import click

from reflet.cli import lazy
from reflet.cli.command import GroupWithHelpPage, WithHelpPage
from reflet.cli.options.arguments import FILE_NAME


@click.group(cls=GroupWithHelpPage, no_args_is_help=True)
def crd() -> None:
    """Write Python classes from CustomResourceDefinitions."""


@crd.command(
    name="to-python",
    cls=WithHelpPage,
    examples={"reflet crd to-python -f widgets.yaml > widgets.py": "classes of one definition"},
)
@click.option(
    "-f",
    "--filename",
    "paths",
    multiple=True,
    required=True,
    type=FILE_NAME,
    metavar="FILE|-",
    help="Read the definitions of this file, YAML or JSON; may be repeated.",
)
@click.option(
    "--version",
    default="",
    metavar="VERSION",
    help="Only this version.  [default: all that are served]",
)
def to_python(paths: tuple[str, ...], version: str) -> None:
    """Write structs for the objects of CustomResourceDefinitions.

    The output is a Python module.  Its classes are kinds for cluster.resource and cluster.mirror:
    objects are decoded to them, and checked against them before they are written.  A class has
    the name of its kind; with several versions, of both: WidgetV1beta1.
    """
    names: list[str] = []
    classes = []
    for path in paths:
        text = lazy.manifest_files.read_text(lazy.manifest_files.FoundFile(path))
        values = list(lazy.yaml_text.read_values(text.content, source=text.name))
        definitions = [
            each.value for each in values if each.value.get("kind") == "CustomResourceDefinition"
        ]
        if not definitions:
            raise click.UsageError(f"{text.name} has no CustomResourceDefinition")
        for definition in definitions:
            found = list(lazy.custom_structs.classes_of(definition, version=version))
            names.append(_name(definition))
            classes += found
    click.echo(lazy.struct_source.source_of(classes, ", ".join(names)), nl=False)


def _name(definition: dict[str, object]) -> str:
    metadata = definition.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else ""
    return str(name or "a CustomResourceDefinition")
