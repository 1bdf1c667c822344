"""``reflet get``: objects as the server has them now."""

from __future__ import annotations

import sys
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import click

from reflet.cli import lazy
from reflet.cli.command import command
from reflet.cli.options.arguments import ObjectTarget, parse_targets
from reflet.cli.options.object_options import object_options
from reflet.cli.output.output import print_table, visible
from reflet.cli.output.progress import Progress, progress
from reflet.errors import NotAcceptable

if TYPE_CHECKING:
    from reflet.api.options import ListOptions
    from reflet.api.resources import Resource
    from reflet.api.tables import Table
    from reflet.api.unstructured import AnyObject
    from reflet.client.resource_client import ResourceClient
    from reflet.cluster import Cluster
    from reflet.transport.config.settings import ConnectionSettings

T = TypeVar("T")

FORMS = ("table", "wide", "json", "yaml", "name")


@command(
    examples={
        "reflet get pods": "as kubectl get pods",
        "reflet get cm,secret -A": "several types, in all namespaces",
        "reflet get secret/db -o yaml": "values are masked without --reveal",
    },
)
@object_options("TYPE[/NAME] [NAME…]", FORMS)
def get(
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
    """Show objects, as the server has them now.

    TYPE is a plural, singular or short name (configmaps, cm), with its group where needed
    (deployments.apps).  Values of Secrets are masked; --reveal shows them.  JSON and YAML leave
    out managedFields; --show-managed-fields keeps them.
    """
    wanted = parse_targets(targets)
    named = any(target.name for target in wanted)
    if named and all_namespaces:
        raise click.UsageError("a name is of one namespace: leave out -A, or the name")
    if named and (selector or field_selector):
        raise click.UsageError("a name needs no selector: leave out one of them")
    options = lazy.options.ListOptions(label_selector=selector, field_selector=field_selector)
    asking = _Asking(connection(), wanted, options, everywhere=all_namespaces)
    if output in {"table", "wide"}:
        _show_tables(asking, wide=output == "wide", no_headers=no_headers)
    elif output == "name":
        for line in asking.objects(lambda resource, item: f"{resource}/{item.metadata.name}"):
            click.echo(visible(line))
    else:
        one = named and len(wanted) == 1
        show_all = partial(
            lazy.server_objects.shown, reveal=reveal, managed_fields=show_managed_fields
        )
        _show_documents(asking, output, show_all, one=one)


class _Asking:
    """What is to be asked of a server, and how: nothing is printed before all of it has come."""

    def __init__(
        self,
        settings: ConnectionSettings,
        wanted: list[ObjectTarget],
        options: ListOptions,
        *,
        everywhere: bool,
    ) -> None:
        self.namespace = settings.namespace
        self.everywhere = everywhere
        self._settings = settings
        self._wanted = wanted
        self._options = options
        self._types = list(dict.fromkeys(target.type for target in wanted))

    def objects(self, take: Callable[[str, AnyObject], T]) -> list[T]:
        """What *take* makes of each object and the name of its type."""
        return self._run(partial(self._fetch, take))

    def tables(self) -> list[tuple[Resource, list[Table]]]:
        """The tables of each type."""
        return self._run(self._fetch_tables)

    def _run(self, fetch: Callable[[Cluster, Progress], Coroutine[Any, Any, T]]) -> T:
        async def ask(told: Progress) -> T:
            async with lazy.cluster.Cluster(self._settings) as cluster:
                return await fetch(cluster, told)

        with progress(f"listing {', '.join(self._types)}") as told:
            return lazy.event_loop.run(ask(told))

    async def _client(self, cluster: Cluster, kind: str) -> ResourceClient[AnyObject]:
        resource = await cluster.find(kind)
        namespace = lazy.client.ALL_NAMESPACES if self.everywhere else None
        return cluster.resource(resource, namespace=namespace, raw=True)

    async def _fetch(
        self, take: Callable[[str, AnyObject], T], cluster: Cluster, told: Progress
    ) -> list[T]:
        found: list[T] = []
        for target in self._wanted:
            client = await self._client(cluster, target.type)
            take_one = partial(take, client.resource.type_name)
            if target.name is None:
                listing = await client.list_as(take_one, self._options, on_page=told.listing())
                found += listing.items
            else:
                found.append(take_one(await client.get(target.name)))
        return found

    async def _fetch_tables(
        self, cluster: Cluster, told: Progress
    ) -> list[tuple[Resource, list[Table]]]:
        found = []
        for kind in self._types:
            client = await self._client(cluster, kind)
            names = [target.name for target in self._wanted if target.type == kind and target.name]
            if names:
                tables = [await client.table_of(name) for name in names]
            else:
                tables = [await client.table(self._options, on_page=told.listing())]
            if any(table.kind != "Table" for table in tables):
                raise NotAcceptable(
                    f"the server makes no table of {client.resource}: use -o name, json or yaml"
                )
            found.append((client.resource, tables))
        return found


def _show_documents(
    asking: _Asking, output: str, show: Callable[[AnyObject], dict[str, Any]], *, one: bool
) -> None:
    forms = lazy.server_objects
    packed = asking.objects(lambda _, item: forms.packed(show(item)))
    if one:
        (document,) = packed
        text = forms.yaml_text if output == "yaml" else forms.json_text
        click.echo(text(document))
        return
    write = forms.write_yaml_list if output == "yaml" else forms.write_json_list
    # Whoever reads along on the terminal sees how far it is.
    seen = nullcontext(Progress()) if sys.stdout.isatty() else progress("printing")
    with seen as told:
        told.expect(len(packed))
        # As if it had colours: to look for some to take away costs more than to write.
        write(_counted(packed, told), partial(click.echo, nl=False, color=True))


def _counted(documents: Sequence[bytes], told: Progress) -> Iterator[bytes]:
    for document in documents:
        yield document
        told.add()


def _show_tables(asking: _Asking, *, wide: bool, no_headers: bool) -> None:
    found = asking.tables()
    shown = 0
    for resource, tables in found:
        if not any(table.rows for table in tables):
            continue
        if shown:
            click.echo()
        shown += 1
        _show(
            tables,
            wide=wide,
            no_headers=no_headers,
            prefix=f"{resource.type_name}/" if len(found) > 1 else "",
            with_namespace=asking.everywhere and resource.namespaced,
        )
    if not shown:
        namespaced = any(resource.namespaced for resource, _ in found)
        here = namespaced and not asking.everywhere
        where = f" in {asking.namespace} namespace" if here else ""
        click.echo(f"No resources found{where}.", err=True)


def _show(
    tables: list[Table], *, wide: bool, no_headers: bool, prefix: str, with_namespace: bool
) -> None:
    columns = tables[0].column_definitions
    kept = [index for index, column in enumerate(columns) if wide or column.priority == 0]
    rows = []
    for table in tables:
        for row in table.rows:
            cells = [_cell(row.cells[index]) if index < len(row.cells) else "" for index in kept]
            cells[:1] = [prefix + cell for cell in cells[:1]]
            rows.append([row.object.metadata.namespace, *cells] if with_namespace else cells)
    headings = [columns[index].name.upper() for index in kept]
    if with_namespace:
        headings.insert(0, "NAMESPACE")
    print_table(headings, rows, no_headers=no_headers)


def _cell(value: object) -> str:
    if value is None or value == "":
        return "<none>" if value is None else ""
    if isinstance(value, bool):
        return str(value).lower()
    return " ".join(str(value).split())
