"""A pod and what it needs, asked of a server: the pod first, then all the rest at once.

Owns: which requests are made, and what becomes of those that are refused.  Must not know files,
nor what a command shows.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterator
from typing import Any, Final, TypeVar

from reflet.api.core.config import ConfigMap, Secret
from reflet.api.core.nodes import Node
from reflet.api.core.pods import Pod
from reflet.api.core.services import Service
from reflet.api.core.small_kinds import Event
from reflet.api.options import ListOptions
from reflet.api.resources import PODS, Resource
from reflet.cli.options.targets import Target
from reflet.cli.pod_gathering import Needs, PodInHand, with_tokens
from reflet.client.client import ALL_NAMESPACES
from reflet.cluster import Cluster
from reflet.errors import (
    ConfigurationError,
    CredentialsError,
    NotFound,
    RefletError,
    TransportError,
    Unauthorized,
)
from reflet.podconfig.trust_bundle_watch import list_trust_bundles
from reflet.resolution.objects import ObjectKey, ObjectsInHand
from reflet.resolution.projected_contents import USUAL_EXPIRATION, TokenSource
from reflet.resolution.references import Reference, references_of, shows_node
from reflet.resolution.resource_fields import UNKNOWN_NODE, NodeInHand
from reflet.resolution.service_variables import EVERYBODYS_SERVICE
from reflet.resolution.templates import WORKLOADS, Workload, assumptions_of, pod_of, pod_resource
from reflet.resolution.trust_bundles import (
    UNKNOWN_BUNDLES,
    BundlesInHand,
    wants_trust_bundles,
)
from reflet.transport.config.settings import ConnectionSettings

T = TypeVar("T")

HOPELESS: Final = (TransportError, CredentialsError, Unauthorized)
"""Errors that mean the server, whatever was asked for."""

_MOST_SHOWN: Final = 8


async def gather_from_cluster(
    settings: ConnectionSettings,
    target: Target | None,
    *,
    selector: str,
    all_namespaces: bool,
    needs: Needs,
) -> PodInHand:
    """Get the pod and what *needs* says; everything after the pod is asked for at once."""
    async with Cluster(settings) as cluster:
        found = await _find(cluster, target, selector, everywhere=all_namespaces)
        pod = found if isinstance(found, Pod) else pod_of(found)
        reading = _Reading(cluster, pod, needs)
        async with asyncio.TaskGroup() as tasks:
            for name, work in reading.requests():
                tasks.create_task(work, name=name)
        reading.raise_hopeless()
    return PodInHand(
        pod=pod,
        kind=found.kind,
        name=found.metadata.name,
        source="cluster",
        objects=ObjectsInHand(reading.objects, failures=reading.failures),
        services=reading.services,
        node=reading.node,
        token=reading.token_source(),
        bundles=reading.bundles,
        remarks=(*(() if isinstance(found, Pod) else assumptions_of(found)), *reading.remarks),
        events=reading.events,
    )


async def _find(
    cluster: Cluster, target: Target | None, selector: str, *, everywhere: bool
) -> Pod | Workload:
    if target is not None and target.name is not None:
        resource = pod_resource(target.type)
        found = await cluster.resource(resource).get(target.name)
        if not isinstance(found, (Pod, *WORKLOADS)):
            raise ConfigurationError(f"{target.type}/{target.name} is no pod and makes none")
        return found
    resource = PODS if target is None else pod_resource(target.type)
    client = cluster.resource(resource, namespace=ALL_NAMESPACES if everywhere else None)
    listing = await client.list(ListOptions(label_selector=selector))
    items = [item for item in listing.items if isinstance(item, (Pod, *WORKLOADS))]
    if len(items) != 1:
        raise _unclear(items, resource, selector, cluster.namespace if not everywhere else "")
    return items[0]


def _unclear(
    items: list[Pod | Workload], resource: Resource, selector: str, namespace: str
) -> ConfigurationError:
    where = f" in namespace {namespace}" if namespace else ""
    if not items:
        return ConfigurationError(f"no {resource.full_name} with {selector}{where}")
    names = [
        f"{resource.type_name}/{item.metadata.name}"
        + ("" if namespace else f" in {item.metadata.namespace}")
        for item in items
    ]
    more = len(names) - _MOST_SHOWN
    shown = ", ".join(names[:_MOST_SHOWN]) + (f" and {more} more" if more > 0 else "")
    return ConfigurationError(f"several {resource.full_name} have {selector}: {shown}; name one")


class _Reading:
    """What the pod needs, as it arrives."""

    def __init__(self, cluster: Cluster, pod: Pod, needs: Needs) -> None:
        self._cluster = cluster
        self._pod = pod
        self._needs = needs
        self._wanted = {
            (reference.kind, reference.name): reference
            for reference in references_of(pod)
            if needs.references(pod, reference)
        }
        self._hopeless: list[RefletError] = []
        self._tokens: dict[tuple[str, int], str | RefletError] = {}
        self.objects: list[ConfigMap | Secret] = []
        self.failures: dict[ObjectKey, RefletError] = {}
        self.services: tuple[Service, ...] | RefletError = ()
        self.bundles: BundlesInHand = UNKNOWN_BUNDLES
        self.node: NodeInHand = UNKNOWN_NODE
        self.events: tuple[Event, ...] = ()
        self.remarks: list[str] = []

    @property
    def _namespace(self) -> str:
        return self._pod.metadata.namespace

    def requests(self) -> Iterator[tuple[str, Coroutine[Any, Any, None]]]:
        """Yield each request that is to be made, with a name."""
        for reference in self._wanted.values():
            yield f"get {reference.kind} {reference.name}", self._read_object(reference)
        if self._needs.services:
            yield "list services", self._read_services()
        if self._needs.node and self._pod.spec.node_name and shows_node(self._pod):
            yield "get node", self._read_node()
        if self._needs.bundles and wants_trust_bundles(self._pod):
            yield "list trust bundles", self._read_bundles()
        if self._needs.tokens:
            for audience, seconds in sorted(set(_tokens_of(self._pod))):
                yield f"request token for {audience}", self._request_token(audience, seconds)
        if self._needs.events and self._pod.metadata.name:
            yield "list events", self._read_events()

    def raise_hopeless(self) -> None:
        """Raise the error that every request would have ended in."""
        for error in self._hopeless:
            raise error

    def token_source(self) -> TokenSource:
        """Return the tokens that were asked for, or one that gives none."""
        return with_tokens(self._tokens) if self._needs.tokens else _no_token

    async def _answer(self, work: Coroutine[Any, Any, T]) -> T | RefletError:
        try:
            return await work
        except RefletError as error:
            if isinstance(error, HOPELESS):
                self._hopeless.append(error)
            return error

    async def _read_object(self, reference: Reference) -> None:
        kind = ConfigMap if reference.kind == "ConfigMap" else Secret
        client = self._cluster.resource(kind, namespace=self._namespace)
        answer = await self._answer(client.get(reference.name))
        if isinstance(answer, ConfigMap | Secret):
            self.objects.append(answer)
        elif isinstance(answer, RefletError) and not isinstance(answer, NotFound):
            self.failures[reference.kind, self._namespace, reference.name] = answer

    async def _read_services(self) -> None:
        found: list[Service] = []
        namespace, name = EVERYBODYS_SERVICE
        if self._pod.spec.enable_service_links is not False:
            client = self._cluster.resource(Service, namespace=self._namespace)
            listing = await self._answer(client.list())
            if isinstance(listing, RefletError):
                self.services = listing
                return
            found += listing.items
        if not any(item.metadata.name == name for item in found) or self._namespace != namespace:
            client = self._cluster.resource(Service, namespace=namespace)
            everybodys = await self._answer(client.get(name))
            if isinstance(everybodys, Service):
                found.append(everybodys)
            else:
                self.remarks.append(
                    f"service {namespace}/{name} could not be read, so its variables are left "
                    f"out: {everybodys}"
                )
        self.services = tuple(found)

    async def _read_bundles(self) -> None:
        self.bundles = await list_trust_bundles(self._cluster)

    async def _read_node(self) -> None:
        name = self._pod.spec.node_name
        answer = await self._answer(self._cluster.resource(Node).get(name))
        if isinstance(answer, Node):
            self.node = answer
        else:
            self.remarks.append(f"node {name} could not be read, so it is not known: {answer}")

    async def _read_events(self) -> None:
        metadata = self._pod.metadata
        selector = f"involvedObject.kind=Pod,involvedObject.name={metadata.name}"
        client = self._cluster.resource(Event, namespace=self._namespace)
        answer = await self._answer(client.list(ListOptions(field_selector=selector)))
        if isinstance(answer, RefletError):
            self.remarks.append(f"the events of the pod could not be read: {answer}")
        else:
            self.events = tuple(
                event
                for event in answer.items
                if not metadata.uid or event.involved_object.uid in {"", metadata.uid}
            )

    async def _request_token(self, audience: str, seconds: int) -> None:
        metadata = self._pod.metadata
        answer = await self._answer(
            self._cluster.request_token(
                self._pod.spec.service_account_name or "default",
                namespace=self._namespace,
                audiences=(audience,) if audience else (),
                expiration_seconds=seconds,
                # A token of a pod that is not made yet is bound to nothing.
                pod=(metadata.name, metadata.uid) if metadata.uid else None,
            )
        )
        self._tokens[audience, seconds] = (
            answer if isinstance(answer, RefletError) else answer.token
        )


def _no_token(_: str, __: int) -> str:
    """Stand for a token that was not asked for: an empty text, shown as not known."""
    return ""


def _tokens_of(pod: Pod) -> Iterator[tuple[str, int]]:
    """Yield the audience and life of every token that a volume of the pod holds."""
    for volume in pod.spec.volumes:
        for source in () if volume.projected is None else volume.projected.sources:
            token = source.service_account_token
            if token is not None:
                seconds = token.expiration_seconds
                yield token.audience, USUAL_EXPIRATION if seconds is None else seconds
