"""Everything one API server can be asked: resources by kind or by name, discovery, tokens.

Upstream: client-go/kubernetes/clientset.go, client-go/dynamic/simple.go (one client here);
    client-go/restmapper/discovery.go (``find``)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Self, TypeVar, overload

from reflet.api import resources, scheme
from reflet.api.codec import decode, encode
from reflet.api.frozen import Frozen
from reflet.api.meta import KubernetesObject, PartialObjectMetadata, Time
from reflet.api.resources import SERVICE_ACCOUNTS, Resource
from reflet.api.unstructured import AnyObject
from reflet.client import resource_lookup
from reflet.client.discovery import ServerVersion, served_resources, server_version
from reflet.client.pod_streams import PodStreams
from reflet.client.resource_client import ResourceClient
from reflet.client.resource_lookup import ResourceLookup
from reflet.client.rest import JSON, answer
from reflet.errors import ParseError
from reflet.runtime.gate import Gate
from reflet.transport.interface import Request, Transport

T = TypeVar("T", bound=KubernetesObject)

ALL_NAMESPACES: Final = resources.ALL_NAMESPACES
"""Stands for a namespace where objects of all namespaces are meant."""


class Token(Frozen, frozen=True, kw_only=True):
    """A service account's token and the moment it ends.

    - *token*: the token
    - *expiration_timestamp*: when it expires
    """

    token: str
    expiration_timestamp: Time

    def __repr__(self) -> str:
        return f"Token(‹secret {len(self.token)} B›, until {self.expiration_timestamp})"


class _TokenAnswer(Frozen, frozen=True, kw_only=True):
    status: Token


class Client(PodStreams):
    """A server's resources, by kind or by name.

    ``resource`` gives the verbs for one resource::

        settings = await client.resource(ConfigMap, namespace="shop").get("settings")

    A class gives objects of that class; a name (``"cm"``, ``"deployments.apps"``) or a
    ``Resource`` gives the class that Reflet has for it, AnyObject for all others; ``raw=True``
    gives AnyObject always, with nothing lost; ``metadata_only=True`` asks for nothing but metadata,
    and gives PartialObjectMetadata.  No *namespace* means the connection's own,
    ``ALL_NAMESPACES`` all of them.

    ``gate`` is where reflectors wait while the server cannot be reached.

    Used by one event loop; leaving the context closes the connection.

    - *transport*: what sends the requests
    """

    def __init__(self, transport: Transport, *, namespace: str = "default") -> None:
        super().__init__(transport, namespace=namespace)
        self._served: tuple[Resource, ...] | None = None
        self.gate = Gate()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connection; what is open fails."""
        await self._transport.close()

    @overload
    def resource(self, kind: type[T], *, namespace: str | None = None) -> ResourceClient[T]: ...

    @overload
    def resource(
        self, kind: Resource | str, *, namespace: str | None = None
    ) -> ResourceClient[Any]: ...

    @overload
    def resource(
        self, kind: type[Any] | Resource | str, *, namespace: str | None = None, raw: bool
    ) -> ResourceClient[AnyObject]: ...

    @overload
    def resource(
        self,
        kind: type[Any] | Resource | str,
        *,
        namespace: str | None = None,
        metadata_only: bool,
    ) -> ResourceClient[PartialObjectMetadata]: ...

    def resource(
        self,
        kind: type[Any] | Resource | str,
        *,
        namespace: str | None = None,
        raw: bool = False,
        metadata_only: bool = False,
    ) -> ResourceClient[Any]:
        """The verbs for one resource; ParseError for a name that is not a built-in one.

        A custom resource is called ``widgets.example.com``, or given as a class of one's own, and
        looked up at the first request: NotFound while its definition is not installed.

        - *kind*: class of the objects, a ``Resource``, or a name such as ``cm`` or
          ``deployments.apps``
        - *namespace*: None is the connection's own; ``ALL_NAMESPACES`` is all of them
        - *raw*: whether to get AnyObject, with every field kept
        - *metadata_only*: whether to get PartialObjectMetadata, with nothing but metadata
        """
        return self._resource(kind, namespace=namespace, raw=raw, metadata_only=metadata_only)

    def _resource(
        self,
        kind: type[Any] | Resource | str,
        *,
        namespace: str | None,
        raw: bool,
        metadata_only: bool,
    ) -> ResourceClient[Any]:
        if isinstance(kind, Resource):
            lookup = ResourceLookup(kind)
        elif isinstance(kind, str):
            lookup = resource_lookup.named(kind, self._served_resources)
        else:
            lookup = resource_lookup.of_kind(*scheme.identity(kind), self._served_resources)
        decoded_as: type[Any] = AnyObject
        if metadata_only:
            decoded_as = PartialObjectMetadata
        elif not raw:
            decoded_as = kind if isinstance(kind, type) else scheme.class_for(lookup.resource)
        where = None if namespace == ALL_NAMESPACES else namespace or self.namespace
        return ResourceClient(self._transport, lookup, decoded_as, namespace=where, gate=self.gate)

    async def find(self, name: str) -> Resource:
        """The resource that *name* means on this server, custom resources included.

        Built-in names need no request.  ParseError, with suggestions, when there is none.
        """
        try:
            return resources.find(name)
        except ParseError:
            return resources.find(name, await self.resources())

    async def resources(self, *, refresh: bool = False) -> tuple[Resource, ...]:
        """Everything the server serves, asked for once unless *refresh*."""
        if self._served is None or refresh:
            self._served = await served_resources(self._transport)
        return self._served

    async def _served_resources(self, refresh: bool) -> tuple[Resource, ...]:
        return await self.resources(refresh=refresh)

    async def version(self) -> ServerVersion:
        """What the server says it is."""
        return await server_version(self._transport)

    async def request_token(
        self,
        service_account: str,
        *,
        namespace: str | None = None,
        audiences: Sequence[str] = (),
        expiration_seconds: int = 3600,
        pod: tuple[str, str] | None = None,
    ) -> Token:
        """A new token of a service account, bound to *pod* (its name and uid) when given.

        - *service_account*: name of the service account
        - *namespace*: namespace of the service account; None is the connection's own
        - *audiences*: who accepts the token; empty is the API server
        - *expiration_seconds*: for how long the token is valid; the server may give another time
        """
        spec: dict[str, Any] = {"audiences": audiences, "expirationSeconds": expiration_seconds}
        if pod is not None:
            name, uid = pod
            bound_to = {"apiVersion": "v1", "kind": "Pod", "name": name, "uid": uid}
            spec["boundObjectRef"] = bound_to
        request = Request(
            method="POST",
            path=SERVICE_ACCOUNTS.path(
                namespace=namespace or self.namespace, name=service_account, subresource="token"
            ),
            headers=(("accept", JSON), ("content-type", JSON)),
            body=encode(
                {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec}
            ),
        )
        response = await answer(self._transport, request, verb="create")
        return decode(response.body, _TokenAnswer).status
