"""The two sides of a comparison, where one of them is a cluster: as it is, and as it would be.

A cluster to which files were applied has what the files hold, and besides what it had before.
"""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Mapping
from typing import Final, final

from reflet.api.core.config import ConfigMap, Secret
from reflet.client.client import Client
from reflet.errors import NotFound, RefletError
from reflet.podconfig.gather import pod_inputs
from reflet.podconfig.gather_files import PodName
from reflet.podconfig.gather_objects import Answers, read_objects
from reflet.resolution.objects import ObjectKey, ObjectSource, missing
from reflet.resolution.pod_inputs import Needs, PodInputs
from reflet.resolution.references.references import Usage, references_of

_SHOWN: Final = frozenset({Usage.ENV, Usage.ENV_FROM, Usage.VOLUME})
NEEDS: Final = Needs(references=lambda _, reference: reference.usage in _SHOWN, bundles=True)
"""What of a pod is compared."""
AT_A_TIME: Final = 8  # pods that are asked for


async def cluster_pods(
    cluster: Client, names: Mapping[PodName, PodInputs]
) -> dict[PodName, PodInputs]:
    """Ask a cluster for the pods of files, as it has them; those that it has not are left out.

    Raises the errors of ``pod_inputs`` but NotFound.
    """
    found: dict[PodName, PodInputs] = {}
    failures: list[RefletError] = []
    waiting = list(names)

    async def work() -> None:
        while waiting and not failures:
            name = waiting.pop(0)
            kind, namespace, own = name
            resource = names[name].resource
            typed = kind if resource is None else resource.full_name
            try:
                target = f"{typed}/{own}"
                found[name] = await pod_inputs(cluster, target, namespace=namespace, needs=NEEDS)
            except NotFound:
                continue
            except RefletError as error:
                failures.append(error)

    async with asyncio.TaskGroup() as tasks:
        for number in range(AT_A_TIME):
            tasks.create_task(work(), name=f"pods of the cluster {number}")
    if failures:
        raise failures[0]
    return {name: found[name] for name in names if name in found}


async def applied_pods(
    cluster: Client, files: Mapping[PodName, PodInputs], there: Mapping[PodName, PodInputs]
) -> dict[PodName, PodInputs]:
    """Return the pods of files as they would be in a cluster, which has *there* now."""
    wanted: dict[ObjectKey, None] = {}
    for inputs in files.values():
        for reference in references_of(inputs.pod):
            if reference.usage in _SHOWN:
                wanted[reference.kind, inputs.namespace, reference.name] = None
    answers = await read_objects(cluster, wanted)
    found = {}
    for name, inputs in files.items():
        now = there.get(name)
        found[name] = dataclasses.replace(
            inputs,
            objects=None if inputs.objects is None else _Over(inputs.objects, answers),
            services=inputs.services if now is None else now.services,
            node=inputs.node if now is None else now.node,
            bundles=inputs.bundles if now is None else now.bundles,
        )
    return found


@final
class _Over:
    """The objects of files, and what a cluster has besides."""

    def __init__(self, files: ObjectSource, cluster: Answers[ConfigMap | Secret]) -> None:
        self._files = files
        self._cluster = cluster

    def config_map(self, namespace: str, name: str, /) -> ConfigMap | RefletError:
        answer = self._files.config_map(namespace, name)
        if not isinstance(answer, NotFound):
            return answer
        found = self._cluster.get(("ConfigMap", namespace, name))
        return found if isinstance(found, ConfigMap | RefletError) else missing("ConfigMap", name)

    def secret(self, namespace: str, name: str, /) -> Secret | RefletError:
        answer = self._files.secret(namespace, name)
        if not isinstance(answer, NotFound):
            return answer
        found = self._cluster.get(("Secret", namespace, name))
        return found if isinstance(found, Secret | RefletError) else missing("Secret", name)
