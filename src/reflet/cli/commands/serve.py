"""``reflet serve``: a Kubernetes API for development, in this process.

Owns: the command: its options, what it prints, and that it ends when it is told to.  Must not
know how requests are answered.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

import click

from reflet.cli.options.file_names import FILE_NAME

if TYPE_CHECKING:
    from reflet.devserver.server import DevServer


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="0 takes a free one.")
@click.option(
    "--data-dir",
    type=click.Path(file_okay=False, path_type=Path),
    help="Keep everything here; without it, everything is gone at the end.",
)
@click.option(
    "-f",
    "--filename",
    "sources",
    multiple=True,
    type=FILE_NAME,
    metavar="FILE|FOLDER|-",
    help="Objects to begin with, YAML or JSON; may be repeated.",
)
@click.option(
    "--kubeconfig-out",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Where to write the kubeconfig; by default beside the data, or to a temporary file.",
)
@click.option(
    "--tls/--no-tls",
    default=True,
    show_default=True,
    help="HTTPS with an own CA; plain HTTP asks this machine's programs for no token.",
)
def serve(
    host: str,
    port: int,
    data_dir: Path | None,
    sources: tuple[str, ...],
    kubeconfig_out: Path | None,
    tls: bool,
) -> None:
    """Serve a Kubernetes API from this process, for development and tests.

    Good enough for kubectl and the usual clients.  No controllers run: objects are stored, and
    nothing happens to them.  Never for production.
    """
    from reflet.devserver.server import DevServer  # noqa: PLC0415 - not needed for --help

    server = DevServer(
        host=host,
        port=port,
        data_dir=data_dir,
        kubeconfig=kubeconfig_out,
        tls=tls,
        load=sources,
    )
    asyncio.run(_run(server))


async def _run(server: DevServer) -> None:
    import gc  # noqa: PLC0415 - not needed for --help

    from reflet.cli.options.stop_signals import when_told_to_stop  # noqa: PLC0415 - not needed for --help
    from reflet.runtime.descriptors import (  # noqa: PLC0415 - not needed for --help
        raise_descriptor_limit,
    )

    # Each watch is a connection of its own.
    raise_descriptor_limit()
    stopped = asyncio.Event()
    when_told_to_stop(lambda _: stopped.set())
    async with server:
        # What is there now stays: looking through it again and again would only cost pauses.
        gc.freeze()
        _introduce(server)
        await stopped.wait()


def _introduce(server: DevServer) -> None:
    click.echo("Kubernetes API for development only, never for production")
    click.echo(f"serving at {server.url}")
    for line in server.loaded:
        click.echo(line)
    if not server.needs_token:
        click.echo("without TLS no token is needed: every program on this machine is administrator")
    click.echo(f"export KUBECONFIG={server.kubeconfig_path}")
