"""``reflet ps``: what runs on this machine, as the pod status cache sees it."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

import click

from reflet.cli import lazy
from reflet.cli.command import command
from reflet.cli.output.output import (
    json_text,
    print_document,
    print_fitting_table,
    print_yaml,
    say,
)
from reflet.errors import (
    ConfigurationError,
    DeadlineExceeded,
    Forbidden,
    RefletError,
    RpcError,
    RpcUnimplemented,
    TransportError,
)

if TYPE_CHECKING:
    from reflet.cli.output.runtime_output import Observed
    from reflet.cri.cri_client import CriClient
    from reflet.pleg.status_cache import StatusCache

FORMS: Final = ("table", "wide", "json", "yaml")
SETTING: Final = "--runtime-endpoint"
PROCESSES: Final = "processes of reflet node are at its health port: curl 127.0.0.1:10248/pods"
TIMEOUT: Final = 10.0  # seconds that a person waits for a runtime that hangs


@command(
    examples={
        "reflet ps": "containers that run on this machine",
        "reflet ps -a -o wide": "those that have ended as well, with addresses and images",
        "reflet ps -w": "what happens to them, and when it was observed",
    },
)
@click.option(
    "--runtime-endpoint",
    default="",
    envvar="CONTAINER_RUNTIME_ENDPOINT",
    metavar="unix:///PATH",
    help="Socket of the container runtime; otherwise containerd's, CRI-O's or cri-dockerd's.",
)
@click.option("-a", "--all", "everything", is_flag=True, help="Show what has ended as well.")
@click.option("-w", "--watch", is_flag=True, help="Show what happens next, until Ctrl-C.")
@click.option("-o", "--output", type=click.Choice(FORMS), default="table", show_default=True)
@click.option("--no-headers", is_flag=True, help="Print no headings.")
def ps(runtime_endpoint: str, everything: bool, watch: bool, output: str, no_headers: bool) -> None:
    """Show what runs on this machine, and what happens to it.

    Asks the container runtime over its socket (CRI), and no API server: shows what a kubelet's
    pod status cache has.  OBSERVED is how old it is, counted from the question, not
    from the answer.

    With --watch, first what runs and then every change is a line: when it was observed, and how
    long after it had happened (LAG).  The runtime's events are followed where it has them
    (containerd 1.7 and later), with a relist every five minutes; otherwise the runtime is asked
    every second.  With -o json and yaml, each change is a document {"type": EVENT, "containerID":
    ID, "object": POD}.
    """
    endpoint = runtime_endpoint or _found_endpoint()
    lazy.endpoints.socket_path(endpoint, setting=SETTING)
    lazy.event_loop.run(
        _watch(endpoint, output, no_headers=no_headers)
        if watch
        else _show(endpoint, output, everything=everything, no_headers=no_headers)
    )


def _found_endpoint() -> str:
    try:
        return lazy.endpoints.find_endpoint(setting=SETTING)
    except TransportError as error:
        # Whoever runs processes has no such runtime, and may well look for them here.
        raise TransportError(f"{error}; {PROCESSES}") from error


async def _show(endpoint: str, output: str, *, everything: bool, no_headers: bool) -> None:
    async with _asked(endpoint) as (cri, runtime):
        cache = lazy.status_cache.StatusCache()
        pleg = lazy.relist.Pleg(lazy.cri_runtime.CriRuntime(cri.runtime), cache)
        await pleg.relist()
        problem = pleg.why_unhealthy()
        if problem is not None:
            raise TransportError(f"{endpoint}: PLEG is not healthy: {problem}")
        pods = [_observed(cache, uid) for uid in cache.uids()]
    if output in {"json", "yaml"}:
        print_document(lazy.runtime_output.document(pods, runtime, everything=everything), output)
        return
    wide = output == "wide"
    now = datetime.now(UTC)
    rows = [*lazy.runtime_output.rows(pods, now, everything=everything, wide=wide)]
    if not rows:
        hidden = "" if everything or not pods else "; -a shows what has ended"
        say(f"nothing runs in {runtime['name']} at {endpoint}{hidden}")
        return
    headings = lazy.runtime_output.WIDE_HEADINGS if wide else lazy.runtime_output.HEADINGS
    print_fitting_table(headings, rows, flexible=(0, 2, 1), no_headers=no_headers, wide=wide)


async def _watch(endpoint: str, output: str, *, no_headers: bool) -> None:
    output_of = lazy.runtime_output
    async with _asked(endpoint) as (cri, _):
        cache = lazy.status_cache.StatusCache()
        lines = output_of.EventLines()
        with _said_on_stderr():
            if output in {"table", "wide"} and not no_headers:
                click.echo(output_of.in_columns(output_of.EVENT_HEADINGS))
            async with lazy.evented.EventedPleg(
                lazy.cri_runtime.CriRuntime(cri.runtime), cache
            ) as pleg:
                async for event in pleg.events:
                    pod = _observed(cache, event.uid)
                    match output:
                        case "json":
                            click.echo(json_text(output_of.event_document(event, pod)))
                        case "yaml":
                            click.echo("---")
                            print_yaml(output_of.event_document(event, pod))
                        case _:
                            click.echo(lines.line(event, pod))


@asynccontextmanager
async def _asked(endpoint: str) -> AsyncIterator[tuple[CriClient, dict[str, str]]]:
    """A client of a runtime that answers, and what the runtime says of itself."""
    async with lazy.cri_client.CriClient(endpoint, timeout=TIMEOUT) as cri:
        try:
            version = await cri.runtime.version()
        except RpcError as error:
            raise _explained(error, endpoint) from error
        yield (
            cri,
            {
                "endpoint": endpoint,
                "name": version.runtime_name,
                "version": version.runtime_version,
            },
        )


def _explained(error: RpcError, endpoint: str) -> RefletError:
    """Why the runtime does not say what it is, for people."""
    why = error.__cause__
    if isinstance(why, PermissionError):
        return Forbidden(
            f"{endpoint}: permission denied: the socket of a container runtime is root's"
        )
    if isinstance(error, RpcUnimplemented):
        return ConfigurationError(f"{endpoint} does not serve CRI v1: {error.description}")
    if isinstance(error, DeadlineExceeded) or isinstance(why, TimeoutError):
        words = "it takes connections and says nothing"
    else:
        words = getattr(why, "strerror", None) or error.description
    return TransportError(
        f"no container runtime answers at {endpoint}: {words}; --runtime-endpoint names another"
    )


def _observed(cache: StatusCache, uid: str) -> Observed:
    """A pod as it is known, and the wall time of the moment that it is as new as."""
    inspection = cache.get(uid)
    # A pod that is gone has been looked at just now: that is how its going is known.
    as_of = cache.as_of(uid) if inspection.status.sandboxes else None
    now = lazy.asyncio.get_running_loop().time()
    age = 0.0 if as_of is None else now - as_of
    at = datetime.now(UTC) - timedelta(seconds=age)
    return lazy.runtime_output.Observed(inspection.status, at, inspection.error)


@contextmanager
def _said_on_stderr() -> Iterator[None]:
    """Let it be known when the runtime cannot be asked, and when events come again."""
    handler = _Saying(logging.INFO)
    logger = logging.getLogger("reflet.pleg")
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before)


class _Saying(logging.Handler):
    """Says what is logged, in this command's way."""

    def emit(self, record: logging.LogRecord) -> None:
        """Say one record."""
        level = "warning" if record.levelno >= logging.WARNING else "note"
        say(record.getMessage(), level=level)
