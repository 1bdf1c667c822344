"""ConfigMaps and Secrets by name, asked of a server: one, or as many as a repository names."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import Final, TypeAlias

from reflet.api.core.config import ConfigMap, Secret
from reflet.api.options import ListOptions
from reflet.api.resources import Resource
from reflet.client.client import Client
from reflet.client.resource_client import ResourceClient
from reflet.errors import (
    CredentialsError,
    Forbidden,
    NotFound,
    RefletError,
    TransportError,
    Unauthorized,
)
from reflet.resolution.objects import ConfigKind, ObjectKey

SERVER_FAILURES: Final = (TransportError, CredentialsError, Unauthorized)
"""Errors that every other request would have ended in too: the server, or our standing with it."""

MOST_SINGLE_READS: Final = 10
"""ConfigMaps, or Secrets, of a namespace that are asked for one by one."""
MANY: Final = 100
"""Objects in all from which on no namespace is asked for more than ``FEW`` of them one by one."""
FEW: Final = 2

# Helm keeps every release as a Secret of up to a megabyte, and no pod uses one.
HELM_RELEASES: Final = "sh.helm.release.v1."
NO_HELM_RELEASES: Final = "type!=helm.sh/release.v1"

Answers: TypeAlias = dict[ObjectKey, ConfigMap | Secret | RefletError]


async def read_object(cluster: Client, key: ObjectKey) -> ConfigMap | Secret:
    """Get one."""
    kind, namespace, name = key
    if kind == "ConfigMap":
        return await cluster.resource(ConfigMap, namespace=namespace).get(name)
    return await cluster.resource(Secret, namespace=namespace).get(name)


async def read_objects(
    cluster: Client, keys: Iterable[ObjectKey], *, on_answer: Callable[[int], None] | None = None
) -> Answers:
    """Get many, all at once: each, or the error of reading it.

    Where more than ``MOST_SINGLE_READS`` of a kind are wanted of one namespace, or ``MANY`` objects
    in all and more than ``FEW`` of them there, the namespace is listed: a client sends so many
    requests a second and no more.  To list is a larger right than to get, above all Secrets;
    whoever lacks it has them read one by one.  The values of what is wanted are read in either
    case, and of what is not wanted nothing is kept.

    *on_answer* is told how many were answered.  Raises the error of a server that cannot be asked.
    """
    reading = _Reading(cluster, on_answer)
    wanted: dict[tuple[ConfigKind, str], list[ObjectKey]] = {}
    every = dict.fromkeys(keys)
    for key in every:
        wanted.setdefault(key[:2], []).append(key)
    most = MOST_SINGLE_READS if len(every) <= MANY else FEW
    async with asyncio.TaskGroup() as tasks:
        for (kind, namespace), several in wanted.items():
            listed = len(several) > most
            work = reading.read_list(several) if listed else reading.read_each(several)
            tasks.create_task(work, name=f"{kind} objects of {namespace}")
    for answer in reading.answers.values():
        if isinstance(answer, SERVER_FAILURES):
            raise answer
    return reading.answers


class _Reading:
    """The answers, as they arrive."""

    def __init__(self, cluster: Client, on_answer: Callable[[int], None] | None) -> None:
        self._cluster = cluster
        self._on_answer = on_answer
        self.answers: Answers = {}

    async def read_each(self, keys: Iterable[ObjectKey]) -> None:
        async with asyncio.TaskGroup() as tasks:
            for key in keys:
                tasks.create_task(self._read(key), name="get " + "/".join(key))

    async def read_list(self, keys: list[ObjectKey]) -> None:
        """Read objects of one kind and namespace out of a list of them."""
        listed = [key for key in keys if not key[2].startswith(HELM_RELEASES)]
        try:
            self._take(await self._listed(listed))
        except Forbidden:
            await self.read_each(keys)
            return
        except RefletError as error:
            self._take(dict.fromkeys(listed, error))
        await self.read_each(key for key in keys if key not in self.answers)

    async def _read(self, key: ObjectKey) -> None:
        try:
            self._take({key: await read_object(self._cluster, key)})
        except RefletError as error:
            self._take({key: error})

    def _take(self, answers: Answers) -> None:
        self.answers.update(answers)
        if self._on_answer is not None:
            self._on_answer(len(answers))

    async def _listed(self, keys: list[ObjectKey]) -> Answers:
        if not keys:
            return {}
        kind, namespace, _ = keys[0]
        client: ResourceClient[ConfigMap] | ResourceClient[Secret]
        if kind == "ConfigMap":
            client = self._cluster.resource(ConfigMap, namespace=namespace)
            options = ListOptions()
        else:
            client = self._cluster.resource(Secret, namespace=namespace)
            options = ListOptions(field_selector=NO_HELM_RELEASES)
        names = {name for _, _, name in keys}

        def take(item: ConfigMap | Secret) -> ConfigMap | Secret | None:
            return item if item.metadata.name in names else None

        items = (await client.list_as(take, options)).items
        there = {item.metadata.name: item for item in items if item is not None}
        return {key: there.get(key[2]) or _not_found(client.resource, key[2]) for key in keys}


def _not_found(resource: Resource, name: str) -> NotFound:
    """What the server would have said, had it been asked for this one."""
    return NotFound(
        f'{resource.plural} "{name}" not found',
        code=404,
        reason="NotFound",
        verb="get",
        kind=resource.plural,
        name=name,
    )
