"""Whoever may use a ConfigMap or Secret, asked of a server.

Lists that are refused are left out, and said so: half an answer is worth having, as long as it
says that it is half.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from reflet.api import resources
from reflet.api.core.config import ConfigMap, Secret
from reflet.api.options import ListOptions
from reflet.api.resources import Resource
from reflet.api.unstructured import AnyObject
from reflet.client.client import ALL_NAMESPACES, Client
from reflet.client.rest import OnPage
from reflet.errors import DecodeError, NotFound, RefletError
from reflet.insight.custom_workloads import workload_in
from reflet.insight.possible_users import Candidates, PossibleUsers, keys_by_object
from reflet.insight.reference_table import kinds_that_name
from reflet.podconfig.gather_objects import SERVER_FAILURES, read_object
from reflet.resolution.objects import ConfigKind
from reflet.resolution.templates import WORKLOADS, CustomWorkload

PODS_AND_THEIR_MAKERS: Final = (
    *(resources.PODS, resources.DEPLOYMENTS, resources.STATEFUL_SETS, resources.DAEMON_SETS),
    *(resources.REPLICA_SETS, resources.REPLICATION_CONTROLLERS),
    *(resources.JOBS, resources.CRON_JOBS),
)


async def possible_users(
    cluster: Client,
    kind: ConfigKind,
    name: str = "",
    *,
    everywhere: bool,
    on_pages: Callable[[], OnPage] | None = None,
) -> PossibleUsers:
    """Ask a server for the lists that the kind of object needs, and for the object, all at once.

    *on_pages* gives for each list whom to tell of its pages.  Kinds of the reference table that the
    server does not have are left out.  Raises the first
    error when not one list could be had, or the server cannot be asked.
    """
    lists: dict[Resource, tuple[Any, ...]] = {}
    failures: dict[Resource, RefletError] = {}
    there: list[ConfigMap | Secret] | RefletError = []
    namespace = ALL_NAMESPACES if everywhere else None

    async def read(resource: Resource) -> None:
        raw = resource not in PODS_AND_THEIR_MAKERS
        client = cluster.resource(resource, namespace=namespace, raw=raw)
        try:
            listing = await client.list(on_page=on_pages() if on_pages else None)
            lists[resource] = listing.items
        except RefletError as error:
            failures[resource] = error

    async def look() -> None:
        nonlocal there
        try:
            there = await _objects_called(cluster, kind, name, everywhere=everywhere)
        except RefletError as error:
            there = error

    wanted, unknown = await kinds_to_list(cluster, kind)
    async with asyncio.TaskGroup() as tasks:
        for resource in wanted:
            tasks.create_task(read(resource), name=f"list {resource}")
        if name:
            tasks.create_task(look(), name=f"get {kind}/{name}")
    for error in failures.values():
        if isinstance(error, SERVER_FAILURES) or not lists:
            raise error
    notes = [*unknown]
    notes += (
        f"{resource} could not be listed, so they are left out: {failures[resource]}"
        for resource in wanted
        if resource in failures
    )
    if isinstance(there, RefletError):
        notes.append(f"whether {kind} {name} exists could not be asked: {there}")
    every = [item for items in lists.values() for item in items]
    objects = tuple(item for item in every if isinstance(item, AnyObject))
    custom = tuple(_workloads_among(objects, notes))
    return PossibleUsers(
        candidates=Candidates(
            pods=lists.get(resources.PODS, ()),
            workloads=(*(item for item in every if isinstance(item, WORKLOADS)), *custom),
            objects=objects,
        ),
        namespace=cluster.namespace,
        notes=tuple(notes),
        keys_there=None if isinstance(there, RefletError) or not name else keys_by_object(there),
    )


async def kinds_to_list(
    cluster: Client, *used: ConfigKind
) -> tuple[tuple[Resource, ...], tuple[str, ...]]:
    """Return what may use kinds of objects and the server has, and what is not known about it."""
    kinds = frozenset[tuple[str, str]]().union(*map(kinds_that_name, used))
    unknown: tuple[str, ...] = ()
    served: tuple[Resource, ...] = resources.BUILT_IN
    try:
        served = await cluster.resources()
    except SERVER_FAILURES:
        raise
    except RefletError as error:
        unknown = (f"custom resources are left out: what the server has is not known: {error}",)
    found: dict[tuple[str, str], Resource] = {}
    for resource in served:
        # The preferred version comes first.
        if (resource.group, resource.kind) in kinds:
            found.setdefault((resource.group, resource.kind), resource)
    return (*PODS_AND_THEIR_MAKERS, *found.values()), unknown


async def _objects_called(
    cluster: Client, kind: ConfigKind, name: str, *, everywhere: bool
) -> list[ConfigMap | Secret]:
    """Return the object of that name if it exists, or all of them in all namespaces."""
    if everywhere:
        resource = resources.CONFIG_MAPS if kind == "ConfigMap" else resources.SECRETS
        client = cluster.resource(resource, namespace=ALL_NAMESPACES)
        listing = await client.list(ListOptions(field_selector=f"metadata.name={name}"))
        return list(listing.items)
    try:
        return [await read_object(cluster, (kind, cluster.namespace, name))]
    except NotFound:
        return []


def _workloads_among(objects: Iterable[AnyObject], notes: list[str]) -> Iterator[CustomWorkload]:
    for item in objects:
        try:
            workload = workload_in(item)
        except DecodeError as error:
            notes.append(str(error))
        else:
            if workload is not None:
                yield workload
