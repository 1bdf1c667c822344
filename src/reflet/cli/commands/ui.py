"""``reflet ui``: a live page of who gets which configuration, and of what is not current."""

from __future__ import annotations

import logging
import secrets
import webbrowser
from contextlib import AsyncExitStack
from datetime import datetime
from typing import TYPE_CHECKING, Final

import click

from reflet.cli import lazy
from reflet.cli.command import command
from reflet.cli.options.connection_options import ConnectionChoice, connection_options_of_namespaces
from reflet.cli.options.file_options import file_options
from reflet.cli.output.progress import progress
from reflet.errors import RefletError

if TYPE_CHECKING:
    from collections.abc import Callable

    from reflet.manifests.files import Sources
    from reflet.transport.config.settings import ConnectionSettings
    from reflet.ui.board import Board
    from reflet.ui.page import Page

FORMS: Final = ("html", "json")
FILES_EVERY: Final = 1.0  # seconds between two looks at files
FIRST_ANSWER: Final = 60.0  # seconds for the first lists


@command(
    examples={
        "reflet ui --open": "this namespace, in a browser",
        "reflet ui -f deploy/": "files, as if they were applied",
        "reflet ui --once > report.html": "a report, as one file",
    }
)
@click.option("-A", "--all-namespaces", is_flag=True, help="All namespaces.")
@file_options("Show these objects, as if they were applied, and ask no server; repeatable.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Port; 0 takes a free one.")
@click.option("--open/--no-open", "opens", default=False, help="Open the page in a browser.")
@click.option("--once", is_flag=True, help="Write the page as it is now, and exit.")
@click.option(
    "-o",
    "--output",
    type=click.Choice(FORMS),
    help="With --once: a file that any browser shows by itself, or the document behind it.  "
    "[default: html]",
)
@connection_options_of_namespaces
def ui(
    all_namespaces: bool,
    files: Sources,
    port: int,
    opens: bool,
    once: bool,
    output: str | None,
    connection: ConnectionChoice,
) -> None:
    """Show a live page of who gets which configuration.

    Three columns: keys of ConfigMaps and Secrets, how each arrives (variables, files, subPath
    files, pull secrets), and containers.  Each line shows whether the container has the current
    value, will get it, needs a restart for it, or cannot have it; below is what to do.  Equal pods
    of a workload share a row.

    The page is served on loopback only, and the printed address ends in a token that it needs.
    Values of Secrets never leave the command, and nothing is changed.  --once writes a report
    instead.
    """
    if once and opens:
        raise click.UsageError("--once writes a file: there is nothing to open")
    if output and not once:
        raise click.UsageError("-o is for --once, which writes a report: add it, or leave out -o")
    if files and (all_namespaces or len(connection.namespaces) > 1):
        raise click.UsageError("files are of one namespace: leave out -A, and -n but for one")
    if all_namespaces and connection.namespaces:
        raise click.UsageError("-A is all namespaces: leave out -A, or -n")
    form = (output or FORMS[0]) if once else ""
    if files:
        lazy.event_loop.run(
            _of_files(files, connection.namespace, form=form, port=port, opens=opens)
        )
        return
    settings = connection()
    namespaces = () if all_namespaces else connection.namespaces or (settings.namespace,)
    lazy.event_loop.run(_of_cluster(settings, namespaces, form=form, port=port, opens=opens))


async def _of_cluster(
    settings: ConnectionSettings,
    namespaces: tuple[str, ...],
    *,
    form: str,
    port: int,
    opens: bool,
) -> None:
    # What is said about the server is said on the page.
    logging.getLogger("reflet").addHandler(logging.NullHandler())
    board = lazy.board.Board(
        ", ".join(namespaces) or "all namespaces",
        "live",
        salt=secrets.token_bytes(16),
        began=_now(),
    )
    page = lazy.page.Page(board, port=port)
    async with AsyncExitStack() as stack:
        cluster = await stack.enter_async_context(lazy.cluster.Cluster(settings))
        filling = await stack.enter_async_context(
            lazy.cluster_board.ClusterBoard(
                cluster, board, namespaces=namespaces, on_change=page.changed
            )
        )
        with progress("listing pods, configmaps and secrets"):
            await filling.ready(FIRST_ANSWER)
        if form:
            board.refresh(_now())
            _write(board, form)
        else:
            await stack.enter_async_context(page)
            await _show(page, opens=opens)


async def _of_files(files: Sources, namespace: str, *, form: str, port: int, opens: bool) -> None:
    salt = secrets.token_bytes(16)

    def read() -> Board:
        return lazy.file_board.board_of_files(files, namespace=namespace, salt=salt, now=_now())

    with progress("reading files"):
        board = read()
    if form:
        board.refresh(_now())
        _write(board, form)
        return
    page = lazy.page.Page(board, port=port)
    async with page, lazy.asyncio.TaskGroup() as tasks:
        following = tasks.create_task(_follow_files(files, page, read), name="files")
        await _show(page, opens=opens)
        following.cancel()


async def _follow_files(files: Sources, page: Page, read: Callable[[], Board]) -> None:
    """Read the files again when they are edited; a mistake in them is said on the page."""
    if "-" in files.paths:
        return  # what was typed cannot be read twice
    mark = lazy.gather_files.fingerprint(files)
    while True:
        await lazy.asyncio.sleep(FILES_EVERY)
        latest = await lazy.asyncio.to_thread(lazy.gather_files.fingerprint, files)
        if latest == mark:
            continue
        mark = latest
        try:
            page.replace(await lazy.asyncio.to_thread(read))
        except RefletError as error:
            page.board.note("files", f"The files cannot be read as they are now: {error}")
            page.changed()


async def _show(page: Page, *, opens: bool) -> None:
    stopped = lazy.asyncio.Event()
    lazy.stop_signals.when_told_to_stop(lambda _: stopped.set())
    click.echo(f"the page is at {page.url}")
    click.echo("it ends with this command: Ctrl-C", err=True)
    if opens and not await lazy.asyncio.to_thread(webbrowser.open, page.url):
        click.echo("no browser was found: open the address yourself", err=True)
    await stopped.wait()


def _write(board: Board, form: str) -> None:
    document = board.document(_now())
    if form == "html":
        click.echo(lazy.report.report(document), nl=False)
    else:
        click.echo(lazy.msgspec.json.format(lazy.msgspec.json.encode(document)).decode())


def _now() -> datetime:
    return datetime.now().astimezone()
