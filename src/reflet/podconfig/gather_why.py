"""What ``insight.why`` looks at, asked of a server.

First what was asked about (``gather_why_targets``): one pod, some workloads, or everything of a
namespace or cluster.  Then, all at once, what it takes to say why those do not run, and nothing
else.  What may not be listed is left out, and said so.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from reflet.api import resources
from reflet.api.core.config import ConfigMap, Secret
from reflet.api.core.nodes import Node
from reflet.api.core.pods import Pod
from reflet.api.core.services import Service
from reflet.api.core.small_kinds import Event
from reflet.api.options import ListOptions
from reflet.api.resources import Resource
from reflet.client.client import ALL_NAMESPACES, Client
from reflet.client.rest import OnPage
from reflet.errors import NotFound, RefletError
from reflet.insight.why import needs
from reflet.insight.why.claim_reasons import claims_of
from reflet.insight.why.cluster_state import (
    ClaimSeen,
    ClusterState,
    NamedKey,
    QuotaSeen,
    StorageClassSeen,
    VolumeSeen,
)
from reflet.insight.why.reasons import ObjectName
from reflet.podconfig.gather_many_objects import read_many_objects
from reflet.podconfig.gather_why_targets import Lists, WhyTarget, look_at_targets
from reflet.resolution.environment.service_variables import EVERYBODYS_SERVICE
from reflet.resolution.objects import ObjectKey, ObjectsInHand
from reflet.resolution.pod_inputs import PodInputs
from reflet.resolution.references.references import references_of
from reflet.resolution.resource_fields import UNKNOWN_NODE
from reflet.resolution.templates.templates import Workload, assumptions_of, pod_of
from reflet.resolution.volumes.trust_bundles import UNKNOWN_BUNDLES

_PREREQUISITES: Final = {
    each.kind: each
    for each in (resources.SERVICE_ACCOUNTS, resources.PRIORITY_CLASSES, resources.RUNTIME_CLASSES)
}
_MOST_SINGLE_READS: Final = 10  # of a kind that may not be listed
_OUT_OF_REACH: Final = "node affinity"


async def cluster_state(
    cluster: Client,
    targets: Sequence[WhyTarget] = (),
    *,
    namespace: str | None = None,
    selector: str = "",
    now: datetime,
    skip_invalid_names: bool = False,
    on_pages: Callable[[], OnPage] | None = None,
) -> ClusterState:
    """Ask a server for *targets*, or for everything, and for what it takes to judge them.

    No *namespace* means the connection's own, ``ALL_NAMESPACES`` all of them.  *selector* leaves
    only what has these labels, or has pods that do.  *on_pages* gives for each list what to call
    after each page.

    Raises NotFound for a name that is not there, ConfigurationError for a type that makes no pods,
    and the first error when nothing could be listed or the server cannot be asked.
    """
    lists = Lists(cluster, namespace, on_pages)
    found = await look_at_targets(lists, targets, selector)
    pods, workloads = needs.below(found.targets, found.workloads, found.pods)
    made = [(each, pod_of(each)) for each in needs.templates_to_look_at(workloads, pods)]
    rest = _Rest(lists, on_pages)
    async with asyncio.TaskGroup() as tasks:
        for name, work in (
            ("objects", rest.read_objects([*pods, *(pod for _, pod in made)])),
            ("services", rest.read_services([*pods, *(pod for _, pod in made)])),
            ("nodes", rest.read_nodes(pods)),
            ("storage", rest.read_storage(pods)),
            ("quotas", rest.read_quotas(workloads)),
            ("prerequisites", rest.read_prerequisites({*needs.prerequisites(workloads, ())})),
        ):
            tasks.create_task(work, name=f"{name} for why")
    lists.raise_server_failure()
    by_pod: dict[tuple[str, str], list[Event]] = {}
    for event in found.events:
        about = event.involved_object
        if about.kind == "Pod":
            by_pod.setdefault((event.metadata.namespace, about.name), []).append(event)
    inputs = rest.inputs(skip_invalid_names=skip_invalid_names)
    return ClusterState(
        pods=[
            inputs.of(each, by_pod.get((each.metadata.namespace, each.metadata.name), ()))
            for each in pods
        ],
        templates=[
            replace(inputs.of(pod), kind=each.kind, name=each.metadata.name) for each, pod in made
        ],
        workloads=workloads,
        events=[each for each in found.events if each.involved_object.kind != "Pod"],
        nodes=rest.nodes,
        claims=rest.claims,
        volumes=rest.volumes,
        storage_classes=rest.classes,
        quotas=rest.quotas,
        absent=frozenset(rest.absent),
        present=frozenset(rest.present),
        targets=found.targets,
        now=now,
        unseen=lists.unseen(),
        left_out=lists.left_out(),
        remarks=(*_assumptions(found.targets, [each for each, _ in made]), *rest.remarks),
    )


def _assumptions(
    targets: frozenset[ObjectName] | None, made: Sequence[Workload]
) -> tuple[str, ...]:
    """Say what is assumed of a pod that is not made yet, if that is all that was asked about."""
    if targets is None or len(targets) != 1 or len(made) != 1:
        return ()
    return assumptions_of(made[0])


class _Rest:
    """What pods and workloads in hand need besides themselves, as it arrives."""

    def __init__(self, lists: Lists, on_pages: Callable[[], OnPage] | None) -> None:
        self._lists = lists
        self._on_pages = on_pages
        self._objects: list[ConfigMap | Secret] = []
        self._failures: dict[ObjectKey, RefletError] = {}
        self._services: list[Service] | RefletError = []
        self.nodes: tuple[Node, ...] | None = None
        self.claims: tuple[ClaimSeen, ...] | None = None
        self.classes: tuple[StorageClassSeen, ...] | None = None
        self.volumes: tuple[VolumeSeen, ...] | None = None
        self.quotas: tuple[QuotaSeen, ...] | None = None
        self.absent: set[NamedKey] = set()
        self.present: set[NamedKey] = set()
        self.remarks: list[str] = []

    def inputs(self, *, skip_invalid_names: bool) -> _Inputs:
        objects = ObjectsInHand(self._objects, failures=self._failures)
        return _Inputs(objects, self._services, skip_invalid_names=skip_invalid_names)

    async def read_objects(self, pods: Sequence[Pod]) -> None:
        keys: dict[ObjectKey, None] = {
            (each.kind, pod.metadata.namespace, each.name): None
            for pod in pods
            for each in references_of(pod)
        }
        try:
            answers = await read_many_objects(
                self._lists.cluster,
                keys,
                everywhere=self._lists.namespace == ALL_NAMESPACES,
                on_pages=self._on_pages,
            )
        except RefletError as error:
            self._lists.note_failure(error)
            return
        for key, answer in answers.items():
            if not isinstance(answer, RefletError):
                self._objects.append(answer)
            elif not isinstance(answer, NotFound):
                self._failures[key] = answer

    async def read_services(self, pods: Sequence[Pod]) -> None:
        """Get the services that pods hear of; the API server's is everybody's."""
        cluster, found = self._lists.cluster, list[Service]()
        where, name = EVERYBODYS_SERVICE
        try:
            if any(pod.spec.enable_service_links is not False for pod in pods):
                client = cluster.resource(Service, namespace=self._lists.namespace)
                found += (await client.list()).items
        except RefletError as error:
            self._lists.note_failure(error)
            self._services = error
            return
        self._services = found
        there = ((each.metadata.namespace, each.metadata.name) for each in found)
        if not pods or (where, name) in there:
            return
        try:
            found.append(await cluster.resource(Service, namespace=where).get(name))
        except RefletError as error:
            self._lists.note_failure(error)
            self.remarks.append(
                f"service {where}/{name} could not be read, so its variables are left out: {error}"
            )

    async def read_nodes(self, pods: Sequence[Pod]) -> None:
        troubled = [pod for pod in pods if needs.is_troubled(pod)]
        names = {pod.spec.node_name for pod in troubled if pod.spec.node_name}
        options = ListOptions()
        if not any(map(needs.scheduler_words, troubled)):
            if not names:
                return
            if len(names) == 1:
                options = ListOptions(field_selector=f"metadata.name={names.pop()}")
        self.nodes = await self._lists.listed(Node, options)

    async def read_storage(self, pods: Sequence[Pod]) -> None:
        waiting = [pod for pod in pods if needs.waits_for_claims(pod)]
        claims = await self._lists.listed(ClaimSeen) if waiting else None
        if claims is None:
            return
        named = {(pod.metadata.namespace, name) for pod in waiting for name in claims_of(pod)}
        self.claims = tuple(
            each for each in claims if (each.metadata.namespace, each.metadata.name) in named
        )
        if any(each.status.phase != "Bound" for each in self.claims):
            self.classes = await self._lists.listed(StorageClassSeen)
        if any(_OUT_OF_REACH in needs.scheduler_words(pod) for pod in waiting):
            self.volumes = await self._lists.listed(VolumeSeen)

    async def read_quotas(self, workloads: Sequence[Workload]) -> None:
        if any(map(needs.lacks_pods, workloads)):
            self.quotas = await self._lists.listed(QuotaSeen)

    async def read_prerequisites(self, wanted: set[NamedKey]) -> None:
        """Find out which of some objects do not exist, and others of their kinds that do."""
        for kind in sorted({key[0] for key in wanted}):
            keys = [key for key in wanted if key[0] == kind]
            resource = _PREREQUISITES[kind]
            found = await self._lists.listed(resource, metadata_only=True)
            if found is None:
                await self._look_for_each(resource, keys)
                continue
            there = {(kind, each.metadata.namespace, each.metadata.name) for each in found}
            self.present |= there
            self.absent |= {*keys} - there

    async def _look_for_each(self, resource: Resource, keys: Sequence[NamedKey]) -> None:
        """Ask one by one for what may not be listed, if that is not too much."""
        if len(keys) > _MOST_SINGLE_READS:
            return
        absent = set()
        for key in keys:
            client = self._lists.cluster.resource(
                resource, namespace=key[1] or None, metadata_only=True
            )
            try:
                await client.get(key[2])
            except NotFound:
                absent.add(key)
            except RefletError as error:
                self._lists.note_failure(error)
                return
        self._lists.forget(resource)
        self.absent |= absent


class _Inputs:
    """Makes the inputs of each pod from what all of them share."""

    def __init__(
        self,
        objects: ObjectsInHand,
        services: Sequence[Service] | RefletError,
        *,
        skip_invalid_names: bool,
    ) -> None:
        self._objects = objects
        self._failure = services if isinstance(services, RefletError) else None
        self._skip_invalid_names = skip_invalid_names
        self._by_namespace: dict[str, list[Service]] = {}
        self._everybodys: list[Service] = []
        for each in () if isinstance(services, RefletError) else services:
            metadata = each.metadata
            self._by_namespace.setdefault(metadata.namespace, []).append(each)
            if (metadata.namespace, metadata.name) == EVERYBODYS_SERVICE:
                self._everybodys.append(each)

    def of(self, pod: Pod, events: Sequence[Event] = ()) -> PodInputs:
        own = self._by_namespace.get(pod.metadata.namespace, [])
        services: Any = self._failure or [*self._everybodys, *own]
        return PodInputs(
            pod=pod,
            objects=self._objects,
            services=services,
            node=UNKNOWN_NODE,
            bundles=UNKNOWN_BUNDLES,
            skip_invalid_names=self._skip_invalid_names,
            events=tuple(events),
        )
