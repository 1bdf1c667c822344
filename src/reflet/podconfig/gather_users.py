"""Everything that may use a ConfigMap or Secret, from files or from a server.

A list that is refused is left out and told of: half an answer is worth having, as long as it says
that it is half.  What counts as a use is ``insight.used_by``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, final

from reflet.api import resources
from reflet.api.resources import Resource
from reflet.client.client import ALL_NAMESPACES, Client
from reflet.errors import RefletError
from reflet.insight.used_by import Candidates
from reflet.manifests.applied import read_applied
from reflet.podconfig.gather import SERVER_FAILURES
from reflet.podconfig.gather_files import FILES_NAMESPACE
from reflet.resolution.objects import ConfigKind
from reflet.resolution.templates import WORKLOADS

_PODS_AND_THEIR_MAKERS: Final = (
    *(resources.PODS, resources.DEPLOYMENTS, resources.STATEFUL_SETS, resources.DAEMON_SETS),
    *(resources.REPLICA_SETS, resources.REPLICATION_CONTROLLERS),
    *(resources.JOBS, resources.CRON_JOBS),
)
_USERS_OF: Final[Mapping[ConfigKind, tuple[Resource, ...]]] = {
    "ConfigMap": _PODS_AND_THEIR_MAKERS,
    "Secret": (*_PODS_AND_THEIR_MAKERS, resources.SERVICE_ACCOUNTS, resources.INGRESSES),
}


@final
@dataclass(frozen=True, slots=True)
class PossibleUsers:
    """The candidates, the namespace that is meant, and what could not be read."""

    candidates: Candidates
    namespace: str
    notes: tuple[str, ...] = ()

    def namespaces(self) -> tuple[str, ...]:
        """The namespaces that candidates are in."""
        found = self.candidates
        every = (*found.pods, *found.workloads, *found.service_accounts, *found.ingresses)
        return tuple(sorted({item.metadata.namespace for item in every}))


def possible_users_from_files(paths: Sequence[str], *, namespace: str = "") -> PossibleUsers:
    """Take the objects of files as if they were applied."""
    applied = read_applied(paths, namespace=namespace or FILES_NAMESPACE)
    return PossibleUsers(
        Candidates(
            pods=applied.pods(),
            workloads=applied.workloads(),
            service_accounts=applied.service_accounts(),
            ingresses=applied.ingresses(),
        ),
        namespace or FILES_NAMESPACE,
        # Services do not use ConfigMaps, so remarks about them are of no interest here.
        tuple(f"{refusal}; so it is left out" for refusal in applied.refusals),
    )


async def possible_users(cluster: Client, kind: ConfigKind, *, everywhere: bool) -> PossibleUsers:
    """Ask a server for the lists that the kind of object needs, all at once.

    Raises the first error when not one list could be had, or the server cannot be asked.
    """
    lists: dict[Resource, tuple[Any, ...]] = {}
    failures: dict[Resource, RefletError] = {}

    async def read(resource: Resource) -> None:
        client = cluster.resource(resource, namespace=ALL_NAMESPACES if everywhere else None)
        try:
            lists[resource] = (await client.list()).items
        except RefletError as error:
            failures[resource] = error

    wanted = _USERS_OF[kind]
    async with asyncio.TaskGroup() as tasks:
        for resource in wanted:
            tasks.create_task(read(resource), name=f"list {resource}")
    for error in failures.values():
        if isinstance(error, SERVER_FAILURES) or not lists:
            raise error
    return PossibleUsers(
        _candidates(lists),
        cluster.namespace,
        tuple(
            f"{resource} could not be listed, so they are left out: {failures[resource]}"
            for resource in wanted
            if resource in failures
        ),
    )


def _candidates(lists: Mapping[Resource, tuple[Any, ...]]) -> Candidates:
    every = [item for items in lists.values() for item in items]
    return Candidates(
        pods=lists.get(resources.PODS, ()),
        workloads=tuple(item for item in every if isinstance(item, WORKLOADS)),
        service_accounts=lists.get(resources.SERVICE_ACCOUNTS, ()),
        ingresses=lists.get(resources.INGRESSES, ()),
    )
