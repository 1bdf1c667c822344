"""``reflet version``: what runs here and what answers there."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from reflet._version import __version__
from reflet.cli import lazy
from reflet.cli.command import command
from reflet.cli.options.connection_options import connection_options
from reflet.cli.output.output import print_document, visible

if TYPE_CHECKING:
    from reflet.client.discovery import ServerVersion
    from reflet.transport.config.settings import ConnectionSettings


@command(
    examples={
        "reflet version": "here and on the server",
        "reflet version --client": "asks no server",
    }
)
@click.option("--client", is_flag=True, help="Only Reflet's own version; asks no server.")
@click.option("-o", "--output", type=click.Choice(["text", "json", "yaml"]), default="text")
@connection_options
def version(client: bool, output: str, connection: Callable[[], ConnectionSettings]) -> None:
    """Show the versions of Reflet and of the server."""
    document: dict[str, dict[str, str]] = {"clientVersion": {"version": __version__}}
    if not client:
        server = lazy.event_loop.run(_ask(connection()))
        document["serverVersion"] = {"version": server.git_version, "platform": server.platform}
    if output == "text":
        click.echo(f"Reflet: {__version__}")
        if not client:
            click.echo(visible(f"Server: {document['serverVersion']['version']}"))
    else:
        print_document(document, output)


async def _ask(settings: ConnectionSettings) -> ServerVersion:
    async with lazy.cluster.Cluster(settings) as cluster:
        return await cluster.version()
