"""``reflet api-resources``: the kinds that a server serves."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from reflet.cli import lazy
from reflet.cli.command import command
from reflet.cli.options.connection_options import connection_options
from reflet.cli.output.output import print_document, print_table, visible

if TYPE_CHECKING:
    from reflet.api.resources import Resource
    from reflet.transport.config.settings import ConnectionSettings

HEADINGS = ("NAME", "SHORTNAMES", "APIVERSION", "NAMESPACED", "KIND")


@command(
    "api-resources",
    examples={
        "reflet api-resources": "every kind",
        "reflet api-resources --api-group apps -o name": "the names of one group",
    },
)
@click.option("--api-group", default=None, help="Only this group; an empty text is the core group.")
@click.option(
    "--namespaced", type=bool, default=None, help="Only those with, or without, namespaces."
)
@click.option(
    "-o", "--output", type=click.Choice(["table", "name", "json", "yaml"]), default="table"
)
@click.option("--no-headers", is_flag=True, help="Print no headings.")
@connection_options
def api_resources(
    api_group: str | None,
    namespaced: bool | None,
    output: str,
    no_headers: bool,
    connection: Callable[[], ConnectionSettings],
) -> None:
    """List the kinds that the server has."""
    served = [
        resource
        for resource in lazy.event_loop.run(_ask(connection()))
        if (api_group is None or resource.group == api_group)
        and (namespaced is None or resource.namespaced == namespaced)
    ]
    if output == "name":
        for resource in served:
            click.echo(visible(str(resource)))
    elif output in {"json", "yaml"}:
        print_document([_described(resource) for resource in served], output)
    else:
        rows = [
            (
                resource.plural,
                ",".join(resource.short_names),
                resource.api_version,
                str(resource.namespaced).lower(),
                resource.kind,
            )
            for resource in served
        ]
        print_table(HEADINGS, rows, no_headers=no_headers)


def _described(resource: Resource) -> dict[str, object]:
    return {
        "name": resource.plural,
        "shortNames": list(resource.short_names),
        "apiVersion": resource.api_version,
        "namespaced": resource.namespaced,
        "kind": resource.kind,
    }


async def _ask(settings: ConnectionSettings) -> tuple[Resource, ...]:
    async with lazy.cluster.Cluster(settings) as cluster:
        return await cluster.resources()
