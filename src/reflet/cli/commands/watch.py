"""``reflet watch``: objects as they come, change and go, whatever happens to the server."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import AsyncExitStack, ExitStack
from datetime import datetime
from typing import TYPE_CHECKING

import click

from reflet.cli import lazy
from reflet.cli.command import command
from reflet.cli.options.arguments import ObjectTarget, parse_targets
from reflet.cli.options.object_options import object_options
from reflet.cli.output.output import columns, say
from reflet.cli.output.progress import progress

if TYPE_CHECKING:
    from reflet.api.resources import Resource
    from reflet.cli.output.change_output import ChangeOutput
    from reflet.transport.config.settings import ConnectionSettings

FORMS = ("table", "json", "yaml", "jsonl")


@command(
    examples={
        "reflet watch cm": "ConfigMaps of this namespace",
        "reflet watch pods -A -l app=web": "some pods of all namespaces",
        "reflet watch secret/db -o jsonl": "one object, for programs; it may come later",
    },
)
@object_options("TYPE[/NAME] [NAME]", FORMS)
def watch(
    targets: tuple[str, ...],
    all_namespaces: bool,
    selector: str,
    field_selector: str,
    output: str,
    no_headers: bool,
    reveal: bool,
    show_managed_fields: bool,
    connection: Callable[[], ConnectionSettings],
) -> None:
    """Show objects as they change, through every outage.

    First come the existing objects, as ADDED, then one line SYNCED, then every change as ADDED,
    UPDATED or DELETED until Ctrl-C.  After an outage, objects that did not change are not
    repeated, and objects that were deleted meanwhile are shown as DELETED.  Loss and return of
    the server are reported on stderr.

    TYPE is a plural, singular or short name (configmaps, cm), with its group where needed
    (deployments.apps).  The other forms are documents {"type": TYPE, "object": OBJECT}; the object
    of SYNCED is null; jsonl has one document per line.  Values of Secrets are masked; --reveal
    shows them.  managedFields are left out; --show-managed-fields keeps them.
    """
    wanted = parse_targets(targets)
    if len(wanted) > 1:
        raise click.UsageError("one type, or one object, at a time")
    (target,) = wanted
    if target.name and all_namespaces:
        raise click.UsageError("a name is of one namespace: leave out -A, or the name")
    if target.name and (selector or field_selector):
        raise click.UsageError("a name needs no selector: leave out one of them")
    if target.name:
        field_selector = f"metadata.name={target.name}"
    _check_selectors(selector, field_selector)

    def form(resource: Resource) -> ChangeOutput:
        with_namespace = all_namespaces and resource.namespaced
        if output != "table":
            return lazy.change_output.DocumentOutput(
                output, reveal=reveal, managed_fields=show_managed_fields
            )
        return lazy.change_output.TableOutput(
            with_namespace=with_namespace,
            no_headers=no_headers,
            columns=columns(),
            now=lambda: datetime.now().astimezone(),
        )

    lazy.event_loop.run(
        _watch(
            connection(),
            target,
            form,
            everywhere=all_namespaces,
            label_selector=selector,
            field_selector=field_selector,
        )
    )


def _check_selectors(label_selector: str, field_selector: str) -> None:
    """Refuse, before anything is asked, what no server would accept."""
    lazy.options.WatchOptions(label_selector=label_selector, field_selector=field_selector)


async def _watch(
    settings: ConnectionSettings,
    target: ObjectTarget,
    form: Callable[[Resource], ChangeOutput],
    *,
    everywhere: bool,
    label_selector: str,
    field_selector: str,
) -> None:
    """Print changes until cancelled, or until something makes it pointless to go on."""
    # The same things are said on stderr in this command's own words.
    logging.getLogger("reflet").addHandler(logging.NullHandler())
    async with AsyncExitStack() as stack:
        # Until there is something to read: then the line goes away for good.
        waiting = stack.enter_context(ExitStack())
        waiting.enter_context(progress(f"listing {target.type}"))
        write, report = (_after(waiting, tell) for tell in (_write, _say))
        cluster = await stack.enter_async_context(lazy.cluster.Cluster(settings))
        resource = await lazy.following.find_patiently(cluster, target.type, say=report)
        namespace = lazy.client.ALL_NAMESPACES if everywhere else None
        following = lazy.following.Following(resource, form(resource), write=write, say=report)
        reflector = lazy.reflector.Reflector(
            cluster.resource(resource, namespace=namespace, raw=True),
            following,
            name=str(resource),
            label_selector=label_selector,
            field_selector=field_selector,
            on_error=following.failed,
            on_connection=following.connection_changed,
        )
        await following.run(reflector.run())


def _after(waiting: ExitStack, tell: Callable[[str], None]) -> Callable[[str], None]:
    def told(text: str) -> None:
        waiting.close()
        tell(text)

    return told


def _write(text: str) -> None:
    click.echo(text, nl=False)


def _say(text: str) -> None:
    say(text, meaning="good" if text == lazy.following.IS_BACK else None)
