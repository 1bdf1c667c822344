"""A cluster, as a program first meets it: from settings to a client that is ready to use."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, Unpack, overload

from reflet.api.meta import KubernetesObject, PartialObjectMetadata
from reflet.api.resources import ALL_NAMESPACES, Resource
from reflet.api.unstructured import AnyObject
from reflet.client.client import Client
from reflet.errors import ConfigurationError
from reflet.transport.config.kubeconfig import Overrides, resolve_settings
from reflet.transport.config.settings import ConnectionSettings
from reflet.transport.connection import Connection

if TYPE_CHECKING:
    from reflet.informer.mirror import Mirror
    from reflet.informer.options import MirrorOptions
    from reflet.informer.shared_mirrors import SharedMirrors

T = TypeVar("T", bound=KubernetesObject)

Namespaces: TypeAlias = str | Collection[str] | None
"""One namespace or several; None is the connection's own, ``ALL_NAMESPACES`` all of them."""


class MirroringClient(Client):
    """A client, on any connection, whose resources can be mirrored."""

    _shared: SharedMirrors | None = None

    @overload
    def mirror(
        self,
        kind: type[T],
        *,
        namespace: Namespaces = None,
        shared: bool = False,
        **options: Unpack[MirrorOptions[T]],
    ) -> Mirror[T]: ...

    @overload
    def mirror(
        self,
        kind: Resource | str,
        *,
        namespace: Namespaces = None,
        shared: bool = False,
        **options: Unpack[MirrorOptions[Any]],
    ) -> Mirror[Any]: ...

    @overload
    def mirror(
        self,
        kind: type[Any] | Resource | str,
        *,
        raw: bool,
        namespace: Namespaces = None,
        shared: bool = False,
        **options: Unpack[MirrorOptions[AnyObject]],
    ) -> Mirror[AnyObject]: ...

    @overload
    def mirror(
        self,
        kind: type[Any] | Resource | str,
        *,
        metadata_only: bool,
        namespace: Namespaces = None,
        shared: bool = False,
        **options: Unpack[MirrorOptions[PartialObjectMetadata]],
    ) -> Mirror[PartialObjectMetadata]: ...

    def mirror(
        self,
        kind: type[Any] | Resource | str,
        *,
        namespace: Namespaces = None,
        raw: bool = False,
        metadata_only: bool = False,
        shared: bool = False,
        **options: Unpack[MirrorOptions[Any]],
    ) -> Mirror[Any]:
        """The objects of one resource in memory, kept fresh while the context is open.

        *kind* is a class, or a name as kubectl takes it: ``"configmaps"``.  *namespace* is one, a
        list of several, which are watched one by one, or ALL_NAMESPACES; without it, the
        connection's.  *raw* gives whole objects, as the server sends them.  *metadata_only* asks
        for nothing but metadata.  *options* are those of ``MirrorOptions``: selectors, indexers,
        transform and more; a name that is none of them is a TypeError at once.  ::

            async with cluster.mirror("configmaps", namespace="shop") as config_maps:
                await config_maps.synced(timeout=10)

        With *shared*, equal calls on this client get the same mirror: one watch and one copy, open
        until the last of them leaves.
        """
        from reflet.informer.mirror import Mirror  # noqa: PLC0415 - most programs do not mirror
        from reflet.informer.shared_mirrors import (  # noqa: PLC0415 - the same
            SharedMirror,
            SharedMirrors,
        )

        clients = [
            self._resource(kind, namespace=each, raw=raw, metadata_only=metadata_only)
            for each in _each(namespace)
        ]
        first = clients[0]
        source: Any = first
        if len(clients) > 1 and first.resource.namespaced:
            source = {client.namespace: client for client in clients}
        if not shared:
            return Mirror(source, first, **options)
        if self._shared is None:
            self._shared = SharedMirrors()
        where = frozenset(client.namespace for client in clients)
        return self._shared.mirror(
            (first.resource, first.kind, where),
            options,
            lambda: SharedMirror(source, first, **options),
        )


class Cluster(MirroringClient):
    """A connection to one API server and everything that can be asked of it.

    - *settings*: address, credentials, TLS and limits of the connection; ``connect`` reads them
    """

    def __init__(self, settings: ConnectionSettings) -> None:
        super().__init__(Connection(settings), namespace=settings.namespace)
        self.settings = settings

    def __repr__(self) -> str:
        return f"<Cluster {self.settings.server}, namespace {self.namespace}>"


def _each(namespace: Namespaces) -> Sequence[str | None]:
    if namespace is None or isinstance(namespace, str):
        return (namespace,)
    if ALL_NAMESPACES in namespace:
        return (ALL_NAMESPACES,)
    if not namespace:
        raise ConfigurationError(
            "namespace is an empty list: name at least one, or give ALL_NAMESPACES for all"
        )
    return tuple(dict.fromkeys(namespace))


def settings_from(overrides: Overrides) -> ConnectionSettings:
    """The settings of this process: flags, then kubeconfig, then the pod around it."""
    # Not Path.home(), which fails for a user without a home, as containers have them.
    home = Path(os.path.expanduser("~"))  # noqa: PTH111 - see above
    return resolve_settings(overrides, os.environ, home)


def connect(
    settings: ConnectionSettings | None = None,
    *,
    kubeconfig: str = "",
    context: str = "",
    namespace: str = "",
    qps: float | None = None,
    burst: int | None = None,
) -> Cluster:
    """The cluster that kubectl would talk to, or the one of *settings*.

    Nothing is opened before the first request.  Raises ConfigurationError when no cluster is
    configured, or not rightly.

    *kubeconfig* is a file to read instead of ``KUBECONFIG`` and ``~/.kube/config``.  *context*
    chooses one of its contexts, instead of the current one.  *namespace* is used where a call names
    none.  *qps* is how many requests a second are sent once the burst is used up: 50, and 0 is no
    limit.  *burst* is how many are sent at once: 100.  Faster callers wait, and long waits are
    logged.  ::

        async with reflet.connect() as cluster:
            settings = await cluster.resource(ConfigMap).get("settings")
    """
    if settings is None:
        settings = settings_from(
            Overrides(kubeconfig=kubeconfig, context=context, namespace=namespace)
        )
    return Cluster(
        replace(
            settings,
            qps=settings.qps if qps is None else qps,
            burst=settings.burst if burst is None else burst,
        )
    )
