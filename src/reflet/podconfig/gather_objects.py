"""ConfigMaps and Secrets by name, asked of a server: one, or as many as a repository names."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable
from typing import Any, Final, Generic, TypeAlias, TypeVar

from reflet.api import resources
from reflet.api.core.config import ConfigMap, Secret
from reflet.api.options import ListOptions
from reflet.api.resources import ALL_NAMESPACES, Resource
from reflet.api.unstructured import AnyObject
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
from reflet.insight.stale.object_history import ObjectHistory, history_of
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

T = TypeVar("T")
Item: TypeAlias = ConfigMap | Secret | AnyObject
Answers: TypeAlias = dict[ObjectKey, T | RefletError]
OnAnswer: TypeAlias = Callable[[int], None]
"""Is told how many were answered."""


async def read_object(cluster: Client, key: ObjectKey) -> ConfigMap | Secret:
    """Get one."""
    kind, namespace, name = key
    if kind == "ConfigMap":
        return await cluster.resource(ConfigMap, namespace=namespace).get(name)
    return await cluster.resource(Secret, namespace=namespace).get(name)


async def read_objects(
    cluster: Client, keys: Iterable[ObjectKey], *, on_answer: OnAnswer | None = None
) -> Answers[ConfigMap | Secret]:
    """Get many, all at once: each, or the error of reading it.

    Where more than ``MOST_SINGLE_READS`` of a kind are wanted of one namespace, or ``MANY`` objects
    in all and more than ``FEW`` of them there, the namespace is listed: a client sends so many
    requests a second and no more.  To list is a larger right than to get, above all Secrets;
    whoever lacks it has them read one by one.  The values of what is wanted are read in either
    case, and of what is not wanted nothing is kept.

    *on_answer* is told how many were answered.  Raises the error of a server that cannot be asked.
    """

    def typed(kind: ConfigKind, namespace: str) -> ResourceClient[Any]:
        if kind == "ConfigMap":
            return cluster.resource(ConfigMap, namespace=namespace)
        return cluster.resource(Secret, namespace=namespace)

    return await _Reading(typed, _itself, on_answer).of(keys, everywhere=False)


async def read_histories(
    cluster: Client,
    keys: Iterable[ObjectKey],
    *,
    everywhere: bool = False,
    on_answer: OnAnswer | None = None,
) -> Answers[ObjectHistory]:
    """Get the histories of many, as ``read_objects`` gets objects: no value is kept.

    With *everywhere*, each kind is listed once for all namespaces, if that is allowed.
    """

    def whole(kind: ConfigKind, namespace: str) -> ResourceClient[AnyObject]:
        resource = resources.CONFIG_MAPS if kind == "ConfigMap" else resources.SECRETS
        return cluster.resource(resource, namespace=namespace, raw=True)

    return await _Reading(whole, history_of, on_answer).of(keys, everywhere=everywhere)


def _itself(item: T) -> T:
    return item


class _Reading(Generic[T]):
    """The answers, as they arrive; of each object what *take* makes of it."""

    def __init__(
        self,
        client: Callable[[ConfigKind, str], ResourceClient[Any]],
        take: Callable[[Any], T],
        on_answer: OnAnswer | None,
    ) -> None:
        self._client = client
        self._take = take
        self._on_answer = on_answer
        self._answers: Answers[T] = {}

    async def of(self, keys: Iterable[ObjectKey], *, everywhere: bool) -> Answers[T]:
        every = list(dict.fromkeys(keys))
        if everywhere:
            kinds: dict[ConfigKind, list[ObjectKey]] = {}
            for key in every:
                kinds.setdefault(key[0], []).append(key)
            async with asyncio.TaskGroup() as tasks:
                for kind, several in kinds.items():
                    tasks.create_task(self._read_list(several, ALL_NAMESPACES), name=f"list {kind}")
        else:
            await self._read_places(every)
        for answer in self._answers.values():
            if isinstance(answer, SERVER_FAILURES):
                raise answer
        return self._answers

    async def _read_places(self, keys: Collection[ObjectKey]) -> None:
        wanted: dict[tuple[ConfigKind, str], list[ObjectKey]] = {}
        for key in keys:
            wanted.setdefault(key[:2], []).append(key)
        most = MOST_SINGLE_READS if len(keys) <= MANY else FEW
        async with asyncio.TaskGroup() as tasks:
            for (kind, namespace), several in wanted.items():
                listed = len(several) > most
                work = self._read_list(several, namespace) if listed else self._read_each(several)
                tasks.create_task(work, name=f"{kind} objects of {namespace}")

    async def _read_each(self, keys: Iterable[ObjectKey]) -> None:
        async with asyncio.TaskGroup() as tasks:
            for key in keys:
                tasks.create_task(self._read(key), name="get " + "/".join(key))

    async def _read_list(self, keys: list[ObjectKey], namespace: str) -> None:
        """Read objects of one kind, of one namespace or of all, out of a list of them."""
        listed = [key for key in keys if not key[2].startswith(HELM_RELEASES)]
        try:
            self._add(await self._listed(listed, namespace))
        except Forbidden:
            await (
                self._read_places(keys) if namespace == ALL_NAMESPACES else self._read_each(keys)
            )
            return
        except RefletError as error:
            self._add(dict.fromkeys(listed, error))
        await self._read_each(key for key in keys if key not in self._answers)

    async def _read(self, key: ObjectKey) -> None:
        kind, namespace, name = key
        try:
            self._add({key: self._take(await self._client(kind, namespace).get(name))})
        except RefletError as error:
            self._add({key: error})

    def _add(self, answers: Answers[T]) -> None:
        self._answers.update(answers)
        if self._on_answer is not None:
            self._on_answer(len(answers))

    async def _listed(self, keys: list[ObjectKey], namespace: str) -> Answers[T]:
        if not keys:
            return {}
        kind = keys[0][0]
        client = self._client(kind, namespace)
        options = ListOptions(field_selector="" if kind == "ConfigMap" else NO_HELM_RELEASES)
        wanted = frozenset(keys)

        def take(item: Item) -> tuple[ObjectKey, T] | None:
            key = (kind, item.metadata.namespace, item.metadata.name)
            return (key, self._take(item)) if key in wanted else None

        items = (await client.list_as(take, options)).items
        there = dict(each for each in items if each is not None)
        return {key: there.get(key) or _not_found(client.resource, key[2]) for key in keys}


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
