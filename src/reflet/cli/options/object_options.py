"""The flags of the commands that show objects of a server: which objects, and in which form."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import click

from reflet.cli.command import Function, with_options
from reflet.cli.options.arguments import ObjectWord
from reflet.cli.options.connection_options import connection_options


def object_options(names: str, forms: Sequence[str]) -> Callable[[Function], Function]:
    """Give a command the flags; *names* is how the help page calls what is named."""
    options = (
        click.argument("targets", nargs=-1, metavar=names, type=ObjectWord("any")),
        click.option("-A", "--all-namespaces", is_flag=True, help="Objects of all namespaces."),
        click.option(
            "-l", "--selector", default="", help="Only objects with these labels: a=b,c!=d."
        ),
        click.option(
            "--field-selector", default="", help="Only objects with these fields: type=Opaque."
        ),
        click.option(
            "-o", "--output", type=click.Choice(forms), default="table", show_default=True
        ),
        click.option("--no-headers", is_flag=True, help="Print no headings."),
        click.option("--reveal", is_flag=True, help="Show the values of Secrets."),
        click.option(
            "--show-managed-fields",
            is_flag=True,
            help="Keep metadata.managedFields in JSON and YAML.",
        ),
        connection_options,
    )
    return lambda command: with_options(command, options)
