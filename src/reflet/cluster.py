"""A cluster, as a program first meets it: from settings to a client that is ready to use."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, Unpack, overload

from reflet.api.meta import KubernetesObject, PartialObjectMetadata
from reflet.api.resources import Resource
from reflet.api.unstructured import AnyObject
from reflet.client.client import Client
from reflet.transport.config.kubeconfig import Overrides, resolve_settings
from reflet.transport.config.settings import ConnectionSettings
from reflet.transport.connection import Connection

if TYPE_CHECKING:
    from reflet.informer.mirror import Mirror
    from reflet.informer.options import MirrorOptions

T = TypeVar("T", bound=KubernetesObject)


class MirroringClient(Client):
    """A client, on any connection, whose resources can be mirrored."""

    @overload
    def mirror(
        self,
        kind: type[T],
        *,
        namespace: str | None = None,
        **options: Unpack[MirrorOptions[T]],
    ) -> Mirror[T]: ...

    @overload
    def mirror(
        self,
        kind: Resource | str,
        *,
        namespace: str | None = None,
        **options: Unpack[MirrorOptions[Any]],
    ) -> Mirror[Any]: ...

    @overload
    def mirror(
        self,
        kind: type[Any] | Resource | str,
        *,
        raw: bool,
        namespace: str | None = None,
        **options: Unpack[MirrorOptions[AnyObject]],
    ) -> Mirror[AnyObject]: ...

    @overload
    def mirror(
        self,
        kind: type[Any] | Resource | str,
        *,
        metadata_only: bool,
        namespace: str | None = None,
        **options: Unpack[MirrorOptions[PartialObjectMetadata]],
    ) -> Mirror[PartialObjectMetadata]: ...

    def mirror(
        self,
        kind: type[Any] | Resource | str,
        *,
        namespace: str | None = None,
        raw: bool = False,
        metadata_only: bool = False,
        **options: Unpack[MirrorOptions[Any]],
    ) -> Mirror[Any]:
        """The objects of one resource in memory, kept fresh while the context is open.

        *kind*, *namespace*, *raw* and *metadata_only* are those of ``resource``.  *options* are
        described in ``MirrorOptions``: selectors, indexers, transform, resync_every, on_error and
        more; a name that is none of them is a TypeError here and now.  ::

            async with cluster.mirror("configmaps", namespace="shop") as config_maps:
                await config_maps.synced(timeout=10)
        """
        from reflet.informer.mirror import Mirror  # noqa: PLC0415 - most programs do not mirror

        client = self._resource(kind, namespace=namespace, raw=raw, metadata_only=metadata_only)
        return Mirror(client, client, **options)


class Cluster(MirroringClient):
    """A connection to one API server and everything that can be asked of it."""

    def __init__(self, settings: ConnectionSettings) -> None:
        super().__init__(Connection(settings), namespace=settings.namespace)
        self.settings = settings

    def __repr__(self) -> str:
        return f"<Cluster {self.settings.server}, namespace {self.namespace}>"


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

    At most *burst* requests are sent at once and *qps* a second after that, 100 and 50 unless the
    settings say otherwise; whoever asks faster waits, and the log tells of long waits.  A *qps*
    of 0 is no limit.  ::

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
