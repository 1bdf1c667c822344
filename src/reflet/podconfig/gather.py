"""A pod and what it needs, asked of a server.

``pod_inputs`` asks for the pod first, then for all the rest at once; it makes the fewest requests
that ``Needs`` allows, none of them twice.  The pod itself must be had; what it names and cannot be
read is no error here but part of the answer, because the kubelet too goes on and says what is wrong
with the container.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterator, Mapping
from functools import partial
from typing import Any, Final, TypeVar

from reflet.api import resources
from reflet.api.core.config import ConfigMap, Secret
from reflet.api.core.nodes import Node
from reflet.api.core.pods import Pod
from reflet.api.core.services import Service
from reflet.api.core.small_kinds import Event, ServiceAccount
from reflet.api.options import ListOptions
from reflet.api.resources import PODS, Resource
from reflet.client.client import ALL_NAMESPACES, Client
from reflet.errors import (
    ConfigurationError,
    NotFound,
    ParseError,
    RefletError,
)
from reflet.insight.custom_workloads import workload_in
from reflet.podconfig.gather_objects import SERVER_FAILURES, read_object
from reflet.podconfig.service_account_tokens import token_keys
from reflet.podconfig.trust_bundle_watch import list_trust_bundles
from reflet.resolution.environment.service_variables import EVERYBODYS_SERVICE
from reflet.resolution.objects import ObjectKey, ObjectsInHand
from reflet.resolution.pod_inputs import Needs, PodInputs, unknown_token
from reflet.resolution.references.references import references_of, shows_node
from reflet.resolution.resource_fields import UNKNOWN_NODE, NodeInHand
from reflet.resolution.templates.custom_templates import no_template
from reflet.resolution.templates.service_account_volume import DEFAULT_ACCOUNT, with_token_volume
from reflet.resolution.templates.templates import (
    WORKLOADS,
    CustomWorkload,
    Workload,
    assumptions_of,
    parse_target,
    pod_of,
    pod_resource,
    replicas_of,
    templates_of,
)
from reflet.resolution.volumes.projected_contents import TokenSource
from reflet.resolution.volumes.trust_bundles import (
    UNKNOWN_BUNDLES,
    BundlesInHand,
    wants_trust_bundles,
)

T = TypeVar("T")

_MOST_SHOWN: Final = 8


async def pod_inputs(
    cluster: Client,
    target: str = "",
    *,
    namespace: str | None = None,
    selector: str = "",
    needs: Needs | None = None,
) -> PodInputs:
    """Get a pod, or the pod that a workload makes, and everything its containers get.

    *target* is what the command line takes: ``deploy/web``, ``pod/web-1``, or ``web-1`` for a pod.
    Without one, *selector* must choose exactly one pod, with ``ALL_NAMESPACES`` of any namespace.
    No *namespace* means the connection's own.  *needs* limits what is read besides the pod; without
    one, that is all ConfigMaps and Secrets that it names, the services and its node.  ::

        async with reflet.connect() as cluster:
            inputs = await reflet.pod_inputs(cluster, "deploy/web")
            for name, value in inputs.environment("web").values.items():
                print(f"{name}={value}")

    Raises ConfigurationError when it is not clear which pod is meant, ApiError (NotFound,
    Forbidden) when the pod itself cannot be had, TransportError, CredentialsError or Unauthorized
    when the server cannot be asked.  A ConfigMap or Secret that is missing or may not be read is
    no error here: it is a problem of the environment or volume that needs it.
    """
    resource, found = await _find(cluster, target, namespace, selector)
    pod = found if isinstance(found, Pod) else pod_of(found)
    custom = isinstance(found, CustomWorkload)
    remarks: tuple[str, ...] = ()
    if needs is not None and needs.admission and not isinstance(found, Pod):
        pod, remarks = await _admitted(cluster, pod)
    reading = _Reading(cluster, pod, needs or Needs())
    async with asyncio.TaskGroup() as tasks:
        for name, work in reading.requests():
            tasks.create_task(work, name=name)
    reading.raise_server_failure()
    return PodInputs(
        pod=pod,
        kind=found.kind,
        name=found.metadata.name,
        resource=resource if custom else None,
        other_templates=() if isinstance(found, Pod) else templates_of(found)[1:],
        replicas=None if isinstance(found, Pod) else replicas_of(found),
        objects=ObjectsInHand(reading.objects, failures=reading.failures),
        services=reading.services,
        node=reading.node,
        token=reading.token_source(),
        bundles=reading.bundles,
        remarks=(
            *(() if isinstance(found, Pod) else assumptions_of(found)),
            *(*remarks, *reading.remarks),
        ),
        events=reading.events,
    )


async def _admitted(cluster: Client, pod: Pod) -> tuple[Pod, tuple[str, ...]]:
    """Return a pod that is not made yet as admission would leave it, and what is assumed."""
    name = pod.spec.service_account_name or DEFAULT_ACCOUNT
    client = cluster.resource(ServiceAccount, namespace=pod.metadata.namespace)
    try:
        return with_token_volume(pod, await client.get(name)), ()
    except SERVER_FAILURES:
        raise
    except RefletError as error:
        said = (
            f"service account {name} could not be read, so it is taken to give its token: {error}"
        )
        return with_token_volume(pod), (said,)


async def _find(
    cluster: Client, target: str, namespace: str | None, selector: str
) -> tuple[Resource, Pod | Workload]:
    if target:
        if selector:
            raise ConfigurationError("a name needs no selector: leave out one of them")
        return await _named(cluster, *parse_target(target), namespace)
    if not selector:
        raise ConfigurationError("name the pod, as in: pod/NAME, deploy/NAME, or give a selector")
    client = cluster.resource(PODS, namespace=namespace)
    listing = await client.list(ListOptions(label_selector=selector))
    items = [item for item in listing.items if isinstance(item, Pod)]
    if len(items) != 1:
        everywhere = namespace == ALL_NAMESPACES
        where = "" if everywhere else namespace or cluster.namespace
        raise _unclear(items, PODS, selector, where)
    return PODS, items[0]


async def _named(
    cluster: Client, kind: str, name: str, namespace: str | None
) -> tuple[Resource, Pod | Workload]:
    try:
        resources.find(kind)
    except ParseError:
        return await _custom(cluster, kind, name, namespace)
    resource = pod_resource(kind)
    found = await cluster.resource(resource, namespace=namespace).get(name)
    if not isinstance(found, (Pod, *WORKLOADS)):
        raise ConfigurationError(f"{kind}/{name} is no pod and makes none")
    return resource, found


async def _custom(
    cluster: Client, kind: str, name: str, namespace: str | None
) -> tuple[Resource, Workload]:
    """Get an object of a kind that only the server knows, as what makes pods."""
    try:
        resource = await cluster.find(kind)
    except ParseError as error:
        raise ConfigurationError(str(error)) from error
    item = await cluster.resource(resource, namespace=namespace, raw=True).get(name)
    workload = workload_in(item)
    if workload is None:
        raise ConfigurationError(no_template(item))
    return resource, workload


def _unclear(
    items: list[Pod], resource: Resource, selector: str, namespace: str
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

    def __init__(self, cluster: Client, pod: Pod, needs: Needs) -> None:
        self._cluster = cluster
        self._pod = pod
        self._needs = needs
        self._wanted: dict[ObjectKey, None] = {
            (reference.kind, pod.metadata.namespace, reference.name): None
            for reference in references_of(pod)
            if needs.references(pod, reference)
        }
        self._server_failures: list[RefletError] = []
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
        for key in self._wanted:
            yield "get " + "/".join(key), self._take_object(key)
        if self._needs.services:
            yield "list services", self._read_services()
        if self._needs.node and self._pod.spec.node_name and shows_node(self._pod):
            yield "get node", self._read_node()
        if self._needs.bundles and wants_trust_bundles(self._pod):
            yield "list trust bundles", self._read_bundles()
        if self._needs.tokens:
            for audience, seconds in sorted(
                {(k.audience, k.seconds) for k in token_keys(self._pod)}
            ):
                yield f"request token for {audience}", self._request_token(audience, seconds)
        if self._needs.events and self._pod.metadata.name:
            yield "list events", self._read_events()

    def raise_server_failure(self) -> None:
        """Raise the error that every request would have ended in."""
        for error in self._server_failures:
            raise error

    def token_source(self) -> TokenSource:
        """Return the tokens that were asked for, or one that knows none."""
        return partial(_token_of, self._tokens) if self._needs.tokens else unknown_token

    async def _answer(self, work: Coroutine[Any, Any, T]) -> T | RefletError:
        try:
            return await work
        except RefletError as error:
            if isinstance(error, SERVER_FAILURES):
                self._server_failures.append(error)
            return error

    async def _take_object(self, key: ObjectKey) -> None:
        answer = await self._answer(read_object(self._cluster, key))
        if not isinstance(answer, RefletError):
            self.objects.append(answer)
        elif not isinstance(answer, NotFound):
            self.failures[key] = answer

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
                self._pod.spec.service_account_name or DEFAULT_ACCOUNT,
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


def _token_of(
    tokens: Mapping[tuple[str, int], str | RefletError], audience: str, seconds: int
) -> str | RefletError:
    return tokens[audience, seconds]
