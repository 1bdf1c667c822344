"""``reflet get``: objects as the server has them now."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from reflet.cli import lazy
from reflet.cli.options.arguments import ObjectTarget, parse_targets
from reflet.cli.options.connection_options import connection_options
from reflet.cli.output.masking import masked
from reflet.cli.output.output import print_json, print_table, print_yaml
from reflet.errors import NotAcceptable

if TYPE_CHECKING:
    from reflet.api.options import ListOptions
    from reflet.api.tables import Table
    from reflet.api.unstructured import AnyObject
    from reflet.client.resource_client import ResourceClient
    from reflet.cluster import Cluster
    from reflet.transport.config.settings import ConnectionSettings

FORMS = ("table", "wide", "json", "yaml", "name")


@click.command()
@click.argument("targets", nargs=-1, metavar="TYPE[/NAME] [NAME…]")
@click.option("-A", "--all-namespaces", is_flag=True, help="Objects of all namespaces.")
@click.option("-l", "--selector", default="", help="Only objects with these labels: a=b,c!=d.")
@click.option("--field-selector", default="", help="Only objects with these fields: type=Opaque.")
@click.option("-o", "--output", type=click.Choice(FORMS), default="table", show_default=True)
@click.option("--no-headers", is_flag=True, help="Leave out the headings of tables.")
@click.option("--reveal", is_flag=True, help="Show the values of Secrets.")
@connection_options
def get(
    targets: tuple[str, ...],
    all_namespaces: bool,
    selector: str,
    field_selector: str,
    output: str,
    no_headers: bool,
    reveal: bool,
    connection: Callable[[], ConnectionSettings],
) -> None:
    """Show objects, as the server has them now.

    TYPE is a plural, singular or short name (configmaps, cm), with its group where needed
    (deployments.apps).  Values of Secrets are masked unless --reveal is given.
    """
    wanted = parse_targets(targets)
    named = any(target.name for target in wanted)
    if named and all_namespaces:
        raise click.UsageError("a name is of one namespace: leave out -A, or the name")
    if named and (selector or field_selector):
        raise click.UsageError("a name needs no selector: leave out one of them")
    options = lazy.options.ListOptions(label_selector=selector, field_selector=field_selector)
    settings = connection()
    if output in {"table", "wide"}:
        show = _show_tables(
            settings,
            wanted,
            options,
            everywhere=all_namespaces,
            wide=output == "wide",
            no_headers=no_headers,
        )
        lazy.asyncio.run(show)
        return
    found = lazy.asyncio.run(_fetch(settings, wanted, options, everywhere=all_namespaces))
    if output == "name":
        for resource, each in found:
            click.echo(f"{resource}/{each.metadata.name}")
        return
    documents = [each.to_dict() for _, each in found]
    document: dict[str, Any] = {
        "apiVersion": "v1",
        "items": documents,
        "kind": "List",
        "metadata": {"resourceVersion": ""},
    }
    if named and len(wanted) == 1:
        (document,) = documents
    (print_yaml if output == "yaml" else print_json)(document if reveal else masked(document))


async def _client(cluster: Cluster, kind: str, *, everywhere: bool) -> ResourceClient[AnyObject]:
    resource = await cluster.find(kind)
    namespace = lazy.client.ALL_NAMESPACES if everywhere else None
    return cluster.resource(resource, namespace=namespace, raw=True)


async def _fetch(
    settings: ConnectionSettings,
    wanted: list[ObjectTarget],
    options: ListOptions,
    *,
    everywhere: bool,
) -> list[tuple[str, AnyObject]]:
    """Every object that is meant, with the name of its resource."""
    found: list[tuple[str, AnyObject]] = []
    async with lazy.cluster.Cluster(settings) as cluster:
        for target in wanted:
            client = await _client(cluster, target.type, everywhere=everywhere)
            if target.name is None:
                objects: Sequence[AnyObject] = (await client.list(options)).items
            else:
                objects = [await client.get(target.name)]
            found += [(client.resource.type_name, each) for each in objects]
    return found


async def _show_tables(
    settings: ConnectionSettings,
    wanted: list[ObjectTarget],
    options: ListOptions,
    *,
    everywhere: bool,
    wide: bool,
    no_headers: bool,
) -> None:
    types = list(dict.fromkeys(target.type for target in wanted))
    shown = 0
    namespaced = False
    async with lazy.cluster.Cluster(settings) as cluster:
        for kind in types:
            client = await _client(cluster, kind, everywhere=everywhere)
            namespaced = namespaced or client.resource.namespaced
            names = [target.name for target in wanted if target.type == kind and target.name]
            if names:
                tables = [await client.table_of(name) for name in names]
            else:
                tables = [await client.table(options)]
            if any(table.kind != "Table" for table in tables):
                raise NotAcceptable(
                    f"the server makes no table of {client.resource}: use -o name, json or yaml"
                )
            if not any(table.rows for table in tables):
                continue
            if shown:
                click.echo()
            shown += 1
            _show(
                tables,
                wide=wide,
                no_headers=no_headers,
                prefix=f"{client.resource.type_name}/" if len(types) > 1 else "",
                with_namespace=everywhere and client.resource.namespaced,
            )
    if not shown:
        where = f" in {cluster.namespace} namespace" if namespaced and not everywhere else ""
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
