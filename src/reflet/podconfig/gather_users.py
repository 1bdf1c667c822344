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
from reflet.api.frozen import EMPTY
from reflet.api.options import ListOptions
from reflet.api.resources import Resource
from reflet.api.unstructured import AnyObject
from reflet.client.client import ALL_NAMESPACES, Client
from reflet.client.rest import OnPage
from reflet.errors import DecodeError, NotFound, RefletError
from reflet.insight.custom_workloads import workload_in
from reflet.insight.possible_users import (
    Candidates,
    PossibleUsers,
    keys_by_object,
    labels_by_object,
)
from reflet.insight.reference_table import kinds_that_name
from reflet.insight.sidecars import has_sidecar, may_be_selected
from reflet.podconfig.gather_objects import SERVER_FAILURES, read_object
from reflet.resolution.objects import ConfigKind
from reflet.resolution.templates.templates import WORKLOADS, CustomWorkload, Workload

PODS_AND_THEIR_MAKERS: Final = (
    *(resources.PODS, resources.DEPLOYMENTS, resources.STATEFUL_SETS, resources.DAEMON_SETS),
    *(resources.REPLICA_SETS, resources.REPLICATION_CONTROLLERS),
    *(resources.JOBS, resources.CRON_JOBS),
)
_MAKERS_OF_SIDECARS: Final = (
    *(resources.DEPLOYMENTS, resources.STATEFUL_SETS, resources.DAEMON_SETS),
)
"""What runs for ever, and so may watch other namespaces than its own."""


async def possible_users(
    cluster: Client,
    kind: ConfigKind,
    name: str = "",
    *,
    everywhere: bool,
    on_pages: Callable[[], OnPage] | None = None,
) -> PossibleUsers:
    """Ask a server for the lists that the kind of object needs, and for the object, all at once.

    *on_pages* gives for each list what to call after each page.  Kinds of the reference table that
    the server does not have are left out.  Of an object whose labels may be a sidecar's, workloads
    of other namespaces are candidates if they hold one.  Raises the first error when not one list
    could be had, or the server cannot be asked.

    - *kind*: ConfigMap or Secret
    - *name*: name of the object; empty is all of the kind
    - *everywhere*: whether to list all namespaces, not only the connection's own
    """
    lists: dict[Resource, tuple[Any, ...]] = {}
    failures: dict[Resource, RefletError] = {}
    there: list[ConfigMap | Secret] | RefletError = []
    elsewhere: list[Workload] = []
    unseen: dict[Resource, RefletError] = {}
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
            return
        if not everywhere and any(may_be_selected(item.metadata.labels) for item in there):
            for resource in _MAKERS_OF_SIDECARS:
                tasks.create_task(look_elsewhere(resource), name=f"list {resource} everywhere")

    async def look_elsewhere(resource: Resource) -> None:
        client = cluster.resource(resource, namespace=ALL_NAMESPACES)
        try:
            listing = await client.list(on_page=on_pages() if on_pages else None)
        except RefletError as error:
            unseen[resource] = error
        else:
            elsewhere.extend(
                item
                for item in listing.items
                if item.metadata.namespace != cluster.namespace and has_sidecar(item)
            )

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
    for resource in _MAKERS_OF_SIDECARS:
        if resource in unseen:
            notes.append(
                f"{resource} of other namespaces are left out, and the sidecars in them, which "
                f"may pick it up by label: {unseen[resource]}"
            )
            break  # all for the same reason, mostly
    every = [item for items in lists.values() for item in items]
    objects = tuple(item for item in every if isinstance(item, AnyObject))
    custom = tuple(_workloads_among(objects, notes))
    return PossibleUsers(
        candidates=Candidates(
            pods=lists.get(resources.PODS, ()),
            workloads=(
                *(item for item in every if isinstance(item, WORKLOADS)),
                *(*custom, *elsewhere),
            ),
            objects=objects,
            labels=EMPTY if isinstance(there, RefletError) else labels_by_object(there),
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
