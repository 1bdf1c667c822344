"""What a cluster has of what files name besides configuration: kinds, and objects by name."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any, Final, TypeAlias

from reflet.api import resources
from reflet.api.resources import Resource
from reflet.api.unstructured import AnyObject
from reflet.client.client import Client
from reflet.errors import Forbidden, NotFound, RefletError
from reflet.manifests.applying import Claims, ServerKinds
from reflet.podconfig.gather_objects import SERVER_FAILURES

NamedKey: TypeAlias = tuple[str, str, str]
"""Kind, namespace (empty for what has none) and name."""

_RESOURCES: Final[Mapping[str, Resource]] = {
    each.kind: each
    for each in (
        resources.SERVICE_ACCOUNTS,
        resources.PRIORITY_CLASSES,
        resources.PERSISTENT_VOLUME_CLAIMS,
        resources.RUNTIME_CLASSES,
    )
}


async def server_kinds(cluster: Client, claims: Iterable[Claims]) -> ServerKinds:
    """Ask which kinds a server has, and for the definitions of those that are custom.

    Raises the error of a server that cannot be asked.  Definitions that may not be read leave their
    kinds unchecked.
    """
    served = {(each.api_version, each.kind): each for each in await cluster.resources()}
    there = [served[claim] for claim in claims if claim in served]
    absent = frozenset(claim for claim in claims if claim not in served)
    client = cluster.resource(resources.CUSTOM_RESOURCE_DEFINITIONS, raw=True)
    definitions: list[dict[str, Any]] = []

    async def read(name: str) -> None:
        # Another API server may serve the kind, and definitions may not be for us.
        with suppress(NotFound, Forbidden):
            definitions.append((await client.get(name)).to_dict())

    async with asyncio.TaskGroup() as tasks:
        for name in {each.full_name for each in there}:
            tasks.create_task(read(name), name=f"get definition {name}")
    return ServerKinds(tuple(definitions), absent)


async def existing(
    cluster: Client, wanted: Iterable[NamedKey]
) -> dict[NamedKey, bool | RefletError]:
    """Tell which of some objects exist, or why that could not be asked.

    Each kind of a namespace is listed once, and read one by one by whoever may not list it.  Raises
    the error of a server that cannot be asked.
    """
    answers: dict[NamedKey, bool | RefletError] = {}
    by_place: dict[tuple[str, str], list[str]] = {}
    for kind, namespace, name in wanted:
        by_place.setdefault((kind, namespace), []).append(name)

    async def look(kind: str, namespace: str, names: list[str]) -> None:
        client = cluster.resource(_RESOURCES[kind], namespace=namespace or None, raw=True)
        try:
            there = {*(await client.list_as(_name)).items}
        except Forbidden:
            for name in names:
                answers[kind, namespace, name] = await _is_there(client, name)
        except RefletError as error:
            answers.update({(kind, namespace, name): error for name in names})
        else:
            answers.update({(kind, namespace, name): name in there for name in names})

    async with asyncio.TaskGroup() as tasks:
        for (kind, namespace), names in by_place.items():
            tasks.create_task(look(kind, namespace, names), name=f"list {kind} of {namespace}")
    for answer in answers.values():
        if isinstance(answer, SERVER_FAILURES):
            raise answer
    return answers


def _name(item: AnyObject) -> str:
    return item.metadata.name


async def _is_there(client: Any, name: str) -> bool | RefletError:
    try:
        await client.get(name)
    except NotFound:
        return False
    except RefletError as error:
        return error
    return True
