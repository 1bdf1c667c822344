"""Reads what a pod refers to, and remembers it for when nobody can tell whether it has changed.

Upstream: pkg/kubelet/kubelet_pods.go, makeEnvironmentVariables, which reads through the managers
too, but fails where the server is away; here a pod keeps what it has.
"""

from __future__ import annotations

import asyncio
from typing import Protocol, TypeVar

from reflet.api.core.config import ConfigMap, Secret
from reflet.api.core.pods import Pod
from reflet.errors import (
    ApiError,
    CacheNotSynced,
    CredentialsError,
    DecodeError,
    Forbidden,
    NotFound,
    NotRegistered,
    RefletError,
    TransportError,
)
from reflet.resolution.objects import ObjectKey, ObjectsInHand
from reflet.resolution.references.references import config_map_names, secret_names

T_co = TypeVar("T_co", ConfigMap, Secret, covariant=True)


class Readable(Protocol[T_co]):
    """Where objects are read, a manager for one."""

    async def get(self, namespace: str, name: str, /) -> T_co:
        """The object; RefletError when there is none."""
        ...


class LastKnownObjects:
    """Reads a pod's objects, and remembers them for when the server is away.

    That an object does not exist, or may not be read, is an answer, and replaces what was known.
    A server that is away, overloaded or not yet caught up has not answered.
    """

    def __init__(self, config_maps: Readable[ConfigMap], secrets: Readable[Secret]) -> None:
        self._config_maps = config_maps
        self._secrets = secrets
        self._known: dict[ObjectKey, ConfigMap | Secret] = {}

    async def read(self, pod: Pod) -> ObjectsInHand:
        """Read whatever the pod refers to, each object once and all at the same time.

        What cannot be read keeps its error for the reader; what the pod no longer refers to is
        forgotten.
        """
        namespace = pod.metadata.namespace
        known: dict[ObjectKey, ConfigMap | Secret] = {}
        failures: dict[ObjectKey, RefletError] = {}

        async def read(key: ObjectKey, source: Readable[ConfigMap] | Readable[Secret]) -> None:
            try:
                known[key] = await source.get(namespace, key[2])
            except RefletError as error:
                if is_no_answer(error) and key in self._known:
                    known[key] = self._known[key]
                elif not isinstance(error, NotFound):  # what is not in hand does not exist
                    failures[key] = error

        async with asyncio.TaskGroup() as tasks:
            for name in config_map_names(pod):
                reading = read(("ConfigMap", namespace, name), self._config_maps)
                tasks.create_task(reading, name=f"ConfigMap {name}")
            for name in secret_names(pod):
                reading = read(("Secret", namespace, name), self._secrets)
                tasks.create_task(reading, name=f"Secret {name}")
        self._known = known
        return ObjectsInHand(known.values(), failures=failures)


async def objects_of(
    pod: Pod, config_maps: Readable[ConfigMap], secrets: Readable[Secret]
) -> ObjectsInHand:
    """Read whatever a registered pod refers to, once; what cannot be read keeps its error."""
    return await LastKnownObjects(config_maps, secrets).read(pod)


def is_no_answer(error: RefletError) -> bool:
    """Whether the error says nothing about the object, only that nobody could tell.  Pure."""
    if isinstance(error, NotRegistered):
        return True  # a pod that is just being replaced
    if isinstance(error, CacheNotSynced):
        # Its cause is what the server said, where it said something.
        return not isinstance(error.__cause__, Forbidden)
    if isinstance(error, ApiError):
        return error.code >= 500 or error.code == 429
    # No connection, no token for it, or an answer that came garbled.
    return isinstance(error, (TransportError, CredentialsError, DecodeError))
