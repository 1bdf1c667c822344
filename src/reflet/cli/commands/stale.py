"""``reflet stale``: which running containers still hold an old value."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

import click

from reflet.cli import lazy
from reflet.cli.command import command
from reflet.cli.options.arguments import ObjectWord, host_and_port, parse_targets
from reflet.cli.options.connection_options import ConnectionChoice, connection_options
from reflet.cli.options.pod_options import pod_target
from reflet.cli.options.restart_options import RestartChoice, restart_options
from reflet.cli.output.output import ends_with, print_document
from reflet.cli.output.progress import progress
from reflet.errors import NotFound

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from reflet.client.rest import OnPage
    from reflet.insight.stale.stale_workloads import RunningPods
    from reflet.transport.config.settings import ConnectionSettings

FORMS: Final = ("table", "wide", "json", "yaml", "prometheus")


@command(
    examples={
        "reflet stale": "stale containers of this namespace",
        "reflet stale -A --watch": "report what becomes stale, everywhere",
        "reflet stale deploy/web --restart": "restart it if it is stale; asks first",
    }
)
@click.argument(
    "arguments", nargs=-1, metavar="[TYPE/NAME... | TYPE NAME... | POD]", type=ObjectWord("pods")
)
@click.option("-A", "--all-namespaces", is_flag=True, help="Pods of all namespaces.")
@click.option("-l", "--selector", default="", help="Only pods with these labels: a=b,c!=d.")
@click.option(
    "--all",
    "everything",
    is_flag=True,
    help="Show containers that are current or not known as well.",
)
@click.option("-o", "--output", type=click.Choice(FORMS), default="table", show_default=True)
@click.option("--no-headers", is_flag=True, help="Print no headings.")
@click.option("--watch", is_flag=True, help="Report what becomes stale, until Ctrl-C.")
@click.option(
    "--metrics-address",
    default="",
    metavar="HOST:PORT",
    help="With --watch: serve /metrics there, over HTTP, for Prometheus.",
)
@restart_options
@connection_options
def stale(
    arguments: tuple[str, ...],
    all_namespaces: bool,
    selector: str,
    everything: bool,
    output: str,
    no_headers: bool,
    watch: bool,
    metrics_address: str,
    restart: RestartChoice,
    connection: ConnectionChoice,
) -> int | None:
    """Show which running containers still hold an old value.

    Variables, and files mounted with subPath, keep the value from when their container started;
    other files of volumes are updated.  With --watch, changes are observed.  Otherwise they are
    inferred from managedFields and start times: "is current" is then certain, and "may be stale"
    means that the owner of the key wrote to the object after the container started, this key or
    another one.

    --restart restarts the workloads that are or may be stale, as kubectl rollout restart does:
    it lists them, tries a dry run, asks, and restarts one after the other.  -o prometheus prints
    the metric reflet_stale_containers for the textfile collector of a node exporter;
    --watch --metrics-address serves it.

    Exit code 1: something is or may be stale.
    """
    targets = _targets(arguments)
    if targets and all_namespaces:
        raise click.UsageError("a name is of one namespace: leave out -A, or the name")
    if targets and selector:
        raise click.UsageError("a name needs no selector: leave out one of them")
    if metrics_address and not watch:
        raise click.UsageError("--metrics-address serves what --watch sees: give both")
    if watch and (restart.wanted or output != "table"):
        raise click.UsageError("--watch prints lines: leave out --restart and -o")
    settings = connection()
    if watch:
        place = host_and_port(metrics_address, "--metrics-address") if metrics_address else None
        return lazy.event_loop.run(
            lazy.stale_watching.watch_stale(
                settings, targets, selector, place, everywhere=all_namespaces, now=_now
            )
        )
    with progress("asking the server") as told:
        running = lazy.event_loop.run(
            _ask(settings, targets, selector, told.listing, everywhere=all_namespaces)
        )
    now = _now()
    current = everything and output != "prometheus"
    found = lazy.stale_workloads.stale_workloads(running, now=now, current=current)
    code = ends_with(1 if any(each.is_stale for each in found) else 0)
    shown = lazy.stale_output
    if output in {"json", "yaml"}:
        print_document(
            shown.stale_document(found, pods=len(running.pods), notes=running.notes), output
        )
    else:
        for note in running.notes:
            lazy.problem_output.tell("note", note)
    if output == "prometheus":
        click.echo(shown.metrics_text(found), nl=False)
    elif output in {"table", "wide"}:
        shown.print_stale(
            found,
            pods=len(running.pods),
            everything=everything,
            everywhere=all_namespaces,
            no_headers=no_headers,
            wide=output == "wide",
        )
    return restart.carry_out(settings, found, now=now) if restart.wanted and code else code


def _now() -> datetime:
    return datetime.now(UTC)


def _targets(arguments: Sequence[str]) -> tuple[str, ...]:
    """Read several of ``TYPE/NAME``, names behind one type, or the name of a pod."""
    if len(arguments) == 1 and "/" not in arguments[0]:
        return (pod_target(arguments),)
    if not arguments:
        return ()
    return tuple(f"{each.type}/{each.name}" for each in parse_targets(arguments))


async def _ask(
    settings: ConnectionSettings,
    targets: Sequence[str],
    selector: str,
    on_pages: Callable[[], OnPage],
    *,
    everywhere: bool,
) -> RunningPods:
    async with lazy.cluster.Cluster(settings) as cluster:
        try:
            return await lazy.gather_staleness.running_pods(
                cluster, targets, selector=selector, everywhere=everywhere, on_pages=on_pages
            )
        except NotFound as error:
            if len(targets) != 1:
                raise
            raise await lazy.missing_targets.missing_target(cluster, targets[0]) from error
