"""Pods that run, who made them, and the past of what they use, asked of a server.

Pods that have ended are not asked for, and of ReplicaSets and Jobs only the metadata.  No value of
a ConfigMap or Secret is kept.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Final

from reflet.api import resources
from reflet.api.core.pods import Pod
from reflet.api.meta import PartialObjectMetadata
from reflet.api.options import ListOptions
from reflet.api.resources import PODS
from reflet.client.client import ALL_NAMESPACES, Client
from reflet.client.rest import OnPage
from reflet.errors import ConfigurationError, ParseError, RefletError
from reflet.insight.owners import OwnerName, Owners
from reflet.insight.stale.stale_workloads import RunningPods
from reflet.podconfig.gather_objects import SERVER_FAILURES, read_histories
from reflet.resolution.objects import ObjectKey
from reflet.resolution.references.references import config_map_names, secret_names
from reflet.resolution.templates.templates import parse_target

OnPages = Callable[[], OnPage]
"""Gives for a list whom to tell of its pages."""

RUNNING: Final = "status.phase!=Succeeded,status.phase!=Failed"
"""Selects, by fields, pods that have not ended."""
MIDDLE: Final = (resources.REPLICA_SETS, resources.JOBS)
"""What makes pods and is made by others."""


async def running_pods(
    cluster: Client,
    targets: Sequence[str] = (),
    *,
    selector: str = "",
    everywhere: bool = False,
    on_pages: OnPages | None = None,
) -> RunningPods:
    """Ask for the pods of the namespace, or of all, and for what staleness is judged by.

    *targets* are pods and workloads, as ``deploy/web``: then only their pods.  *selector* chooses
    pods by their labels.  Raises NotFound for a target that does not exist, Forbidden when the
    pods may not be listed, and the error of a server that cannot be asked; what else may not be
    read is part of the answer.
    """
    wanted = await names_of(cluster, targets)
    notes: list[str] = []
    async with asyncio.TaskGroup() as tasks:
        making = tasks.create_task(
            _owners(cluster, notes, everywhere=everywhere), name="list what makes pods"
        )
        listing = tasks.create_task(
            _pods(cluster, wanted, selector, everywhere=everywhere, on_pages=on_pages),
            name="list pods",
        )
    pods, owners = listing.result(), making.result()
    if isinstance(pods, RefletError):
        raise pods
    if isinstance(owners, RefletError):
        raise owners
    if wanted:
        pods = pods_of(pods, owners, wanted)
        there = {owner for pod in pods for owner in owners.of(pod)}
        for target, named in zip(targets, wanted, strict=True):
            if named not in there:
                notes.append(await _without_pods(cluster, target))
    histories = await read_histories(cluster, _keys(pods), everywhere=everywhere)
    return RunningPods(pods, histories, owners, tuple(notes))


async def names_of(cluster: Client, targets: Iterable[str]) -> list[OwnerName]:
    """Return the kinds and names of targets such as ``deploy/web``; raises ConfigurationError."""
    names = []
    for typed, name in map(parse_target, targets):
        try:
            names.append(((await cluster.find(typed)).kind, name))
        except ParseError as error:
            raise ConfigurationError(str(error)) from error
    return names


def pods_of(pods: Iterable[Pod], owners: Owners, wanted: Collection[OwnerName]) -> tuple[Pod, ...]:
    """Return the pods that are wanted, or that something made which is."""
    return tuple(pod for pod in pods if not {*owners.of(pod)}.isdisjoint(wanted))


async def _pods(
    cluster: Client,
    wanted: Sequence[OwnerName],
    selector: str,
    *,
    everywhere: bool,
    on_pages: OnPages | None,
) -> tuple[Pod, ...] | RefletError:
    client = cluster.resource(Pod, namespace=ALL_NAMESPACES if everywhere else None)
    try:
        if wanted and all(kind == PODS.kind for kind, _ in wanted):
            return tuple([await client.get(name) for _, name in wanted])
        options = ListOptions(field_selector=RUNNING, label_selector=selector)
        return (await client.list(options, on_page=on_pages() if on_pages else None)).items
    except RefletError as error:
        return error


async def _owners(cluster: Client, notes: list[str], *, everywhere: bool) -> Owners | RefletError:
    makers: list[tuple[str, PartialObjectMetadata]] = []
    for resource in MIDDLE:
        client = cluster.resource(
            resource, namespace=ALL_NAMESPACES if everywhere else None, metadata_only=True
        )
        try:
            makers += ((resource.kind, item) for item in (await client.list()).items)
        except SERVER_FAILURES as error:
            return error
        except RefletError as error:
            notes.append(f"{resource} could not be listed, so pods are shown under them: {error}")
    return Owners(makers)


async def _without_pods(cluster: Client, target: str) -> str:
    """Say that a target has no pods that run; raises NotFound when it does not exist at all."""
    typed, name = parse_target(target)
    resource = await cluster.find(typed)
    await cluster.resource(resource, metadata_only=True).get(name)
    return f"{target} has no pods that run"


def _keys(pods: Iterable[Pod]) -> Iterator[ObjectKey]:
    for pod in pods:
        for name in config_map_names(pod):
            yield "ConfigMap", pod.metadata.namespace, name
        for name in secret_names(pod):
            yield "Secret", pod.metadata.namespace, name
