"""Everything that one pod refers to, for whoever computes with it.

Owns: from a registered pod and its managers to objects in hand, errors included.  Must not know
what is computed.
"""

from __future__ import annotations

import asyncio
from typing import Protocol, TypeVar

from reflet.api.core.config import ConfigMap, Secret
from reflet.api.core.pods import Pod
from reflet.errors import NotFound, RefletError
from reflet.resolution.objects import ConfigKind, ObjectKey, ObjectsInHand
from reflet.resolution.references import config_map_names, secret_names

T = TypeVar("T", ConfigMap, Secret)
T_co = TypeVar("T_co", ConfigMap, Secret, covariant=True)


class Readable(Protocol[T_co]):
    """Where objects are read, a manager for one."""

    async def get(self, namespace: str, name: str, /) -> T_co:
        """The object; RefletError when there is none."""
        ...


async def objects_of(
    pod: Pod, config_maps: Readable[ConfigMap], secrets: Readable[Secret]
) -> ObjectsInHand:
    """Read whatever the pod refers to, all at the same time.

    What cannot be read is an answer too: it keeps its error for whoever asks.
    """
    namespace = pod.metadata.namespace
    found: list[ConfigMap | Secret] = []
    failures: dict[ObjectKey, RefletError] = {}

    async def read(kind: ConfigKind, source: Readable[T], name: str) -> None:
        try:
            found.append(await source.get(namespace, name))
        except NotFound:
            pass  # what is not in hand does not exist
        except RefletError as error:
            failures[kind, namespace, name] = error

    async with asyncio.TaskGroup() as tasks:
        for name in config_map_names(pod):
            tasks.create_task(read("ConfigMap", config_maps, name), name=f"ConfigMap {name}")
        for name in secret_names(pod):
            tasks.create_task(read("Secret", secrets, name), name=f"Secret {name}")
    return ObjectsInHand(found, failures=failures)
