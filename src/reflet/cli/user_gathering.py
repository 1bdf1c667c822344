"""Everything that may use a ConfigMap or Secret, from files or from a server.

Owns: which lists are asked for, and what becomes of those that are refused.  Must not know what
counts as a use.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

from reflet.cli.pod_gathering import FILES_NAMESPACE
from reflet.insight.used_by import Candidates

if TYPE_CHECKING:
    from reflet.api.resources import Resource
    from reflet.cli.options.connection_options import ConnectionChoice
    from reflet.resolution.objects import ConfigKind
    from reflet.transport.config.settings import ConnectionSettings


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


def from_files(files: Sequence[str], namespace: str) -> PossibleUsers:
    """Take the objects of files as if they were applied."""
    from reflet.cli.output.progress import progress  # noqa: PLC0415 - not needed for a server
    from reflet.manifests.applied import read_applied  # noqa: PLC0415 - as above

    with progress("reading files"):
        applied = read_applied(files, namespace=namespace or FILES_NAMESPACE)
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


def from_cluster(
    kind: ConfigKind, connection: ConnectionChoice, *, everywhere: bool
) -> PossibleUsers:
    """Ask a server for the lists that the kind of object needs, all at once.

    Raises the first error when not one list could be had.
    """
    import asyncio  # noqa: PLC0415 - not needed for files

    from reflet.cli.output.progress import progress  # noqa: PLC0415 - as above

    settings = connection()
    with progress("asking the server"):
        return asyncio.run(_from_cluster(settings, kind, everywhere=everywhere))


async def _from_cluster(
    settings: ConnectionSettings, kind: ConfigKind, *, everywhere: bool
) -> PossibleUsers:
    import asyncio  # noqa: PLC0415 - not needed for files

    from reflet.cli.cluster_gathering import HOPELESS  # noqa: PLC0415 - as above
    from reflet.client.client import ALL_NAMESPACES  # noqa: PLC0415 - as above
    from reflet.cluster import Cluster  # noqa: PLC0415 - as above
    from reflet.errors import RefletError  # noqa: PLC0415 - as above

    lists: dict[Resource, tuple[Any, ...]] = {}
    failures: dict[Resource, RefletError] = {}

    async def read(cluster: Cluster, resource: Resource) -> None:
        client = cluster.resource(resource, namespace=ALL_NAMESPACES if everywhere else None)
        try:
            lists[resource] = (await client.list()).items
        except RefletError as error:
            failures[resource] = error

    resources = _resources(kind)
    async with Cluster(settings) as cluster, asyncio.TaskGroup() as tasks:
        for resource in resources:
            tasks.create_task(read(cluster, resource), name=f"list {resource}")
    for error in failures.values():
        if isinstance(error, HOPELESS) or not lists:
            raise error
    return PossibleUsers(
        _candidates(lists),
        settings.namespace,
        tuple(
            f"{resource} could not be listed, so they are left out: {failures[resource]}"
            for resource in resources
            if resource in failures
        ),
    )


def _resources(kind: ConfigKind) -> tuple[Resource, ...]:
    from reflet.api import resources  # noqa: PLC0415 - not needed for files

    pods_and_their_makers = (
        *(resources.PODS, resources.DEPLOYMENTS, resources.STATEFUL_SETS, resources.DAEMON_SETS),
        *(resources.REPLICA_SETS, resources.REPLICATION_CONTROLLERS),
        *(resources.JOBS, resources.CRON_JOBS),
    )
    if kind == "ConfigMap":
        return pods_and_their_makers
    return (*pods_and_their_makers, resources.SERVICE_ACCOUNTS, resources.INGRESSES)


def _candidates(lists: dict[Resource, tuple[Any, ...]]) -> Candidates:
    from reflet.api import resources  # noqa: PLC0415 - not needed for files
    from reflet.resolution.templates import WORKLOADS  # noqa: PLC0415 - as above

    every = [item for items in lists.values() for item in items]
    return Candidates(
        pods=lists.get(resources.PODS, ()),
        workloads=tuple(item for item in every if isinstance(item, WORKLOADS)),
        service_accounts=lists.get(resources.SERVICE_ACCOUNTS, ()),
        ingresses=lists.get(resources.INGRESSES, ()),
    )
