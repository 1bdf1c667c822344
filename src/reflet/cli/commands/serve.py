"""``reflet serve``: a Kubernetes API for development, in this process."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import TYPE_CHECKING

import click

from reflet.cli import lazy
from reflet.cli.command import command
from reflet.cli.options.file_options import file_options

if TYPE_CHECKING:
    from reflet.devserver.server import DevServer
    from reflet.devserver.verbs.loading import LoadedDocument
    from reflet.manifests.files import Sources


@command(
    examples={
        "reflet serve": "an empty API server on a free port",
        "reflet serve -f deploy/ --play all": "with objects, and controllers that act",
        "reflet serve --data-dir data --port 6443": "keep everything between runs",
    }
)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Port; 0 takes a free one.")
@click.option(
    "--data-dir",
    type=click.Path(file_okay=False, path_type=Path),
    help="Keep everything in this folder; without it, everything is gone at the end.",
)
@file_options("Objects to begin with, YAML or JSON; repeatable.")
@click.option(
    "--kubeconfig-out",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Where to write the kubeconfig; by default beside the data, or to a temporary file.",
)
@click.option(
    "--tls/--no-tls",
    default=True,
    show_default=True,
    help="HTTPS with its own CA; with --no-tls, programs on this machine need no token.",
)
@click.option(
    "--play",
    default="",
    metavar="NAMES",
    help="Controllers to run, separated by commas, or all.",
)
@click.option(
    "--play-nodes",
    type=click.IntRange(0),
    default=1,
    show_default=True,
    help="With --play: how many simulated nodes there are.",
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
    """Serve a Kubernetes API for development and tests.

    It works with kubectl and the usual clients, and is never for production.  Objects are stored,
    and no controllers run without --play: nodes, pods, replicasets, deployments, statefulsets,
    daemonsets, jobs, endpoints, volumes, serviceaccounts, garbage, namespaces, or all.

    Objects of folders, kustomizations and charts that have an unknown kind or are refused are
    reported and left out.
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
