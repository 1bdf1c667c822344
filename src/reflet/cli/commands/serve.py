"""``reflet serve``: a Kubernetes API for development, in this process."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import TYPE_CHECKING

import click

from reflet.cli import lazy
from reflet.cli.options.file_options import file_options

if TYPE_CHECKING:
    from reflet.devserver.server import DevServer
    from reflet.devserver.verbs.loading import LoadedDocument
    from reflet.manifests.files import Sources


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="0 takes a free one.")
@click.option(
    "--data-dir",
    type=click.Path(file_okay=False, path_type=Path),
    help="Keep everything here; without it, everything is gone at the end.",
)
@file_options("Objects to begin with, YAML or JSON; may be repeated.")
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
@click.option(
    "--play",
    default="",
    metavar="NAMES",
    help="Let things happen: names of controllers with commas between them, or all.",
)
@click.option(
    "--play-nodes",
    type=click.IntRange(0),
    default=1,
    show_default=True,
    help="How many pretend nodes there are to play on.",
)
def serve(
    host: str,
    port: int,
    data_dir: Path | None,
    files: Sources,
    kubeconfig_out: Path | None,
    tls: bool,
    play: str,
    play_nodes: int,
) -> None:
    """Serve a Kubernetes API from this process, for development and tests.

    Good enough for kubectl and the usual clients.  Objects are stored, and nothing happens to them
    unless --play says who acts: nodes, pods, replicasets, deployments, statefulsets, daemonsets,
    jobs, endpoints, volumes, serviceaccounts, garbage, namespaces, or all.  Of folders,
    kustomizations and charts, objects that the server has no kind for or refuses are told of and
    left out.  Never for production.
    """
    server = lazy.devserver.DevServer(
        host=host,
        port=port,
        data_dir=data_dir,
        kubeconfig=kubeconfig_out,
        tls=tls,
        load=_documents(files),
        play=lazy.play.Play.parse(play, nodes=play_nodes) if play else None,
    )
    lazy.event_loop.run(_run(server))


def _documents(files: Sources) -> list[LoadedDocument]:
    """Return what the files hold, and say what is left out of it."""
    documents = lazy.manifest_documents
    reader = documents.DocumentReader(files)
    loaded = [
        lazy.loading.LoadedDocument(
            each.place, each.placed.value, optional=bool(each.folder) or each.is_rendered
        )
        for each in reader.documents()
    ]
    for text in reader.unreadable:
        lazy.problem_output.tell("warning", f"{text.file}:{text.line}: {text.message}")
    summary = documents.skipped_summary(reader.skipped)
    if summary:
        lazy.problem_output.tell("note", summary)
    return loaded


async def _run(server: DevServer) -> None:
    # Each watch is a connection of its own.
    lazy.descriptors.raise_descriptor_limit()
    stopped = lazy.asyncio.Event()
    lazy.stop_signals.when_told_to_stop(lambda _: stopped.set())
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
