"""A cluster, as a program first meets it.

Owns: from settings to a client that is ready to use.  Must not know HTTP or kubeconfig: the
transport does.
"""

from __future__ import annotations

import os
from pathlib import Path

from reflet.client.client import Client
from reflet.transport.connection import Connection
from reflet.transport.kubeconfig import Overrides, resolve_settings
from reflet.transport.settings import ConnectionSettings


class Cluster(Client):
    """A connection to one API server and everything that can be asked of it."""

    def __init__(self, settings: ConnectionSettings) -> None:
        super().__init__(Connection(settings), namespace=settings.namespace)
        self.settings = settings

    def __repr__(self) -> str:
        return f"<Cluster {self.settings.server}, namespace {self.namespace}>"


def settings_from(overrides: Overrides) -> ConnectionSettings:
    """The settings of this process: flags, then kubeconfig, then the pod around it."""
    return resolve_settings(overrides, os.environ, Path.home())


def connect(
    settings: ConnectionSettings | None = None,
    *,
    kubeconfig: str = "",
    context: str = "",
    namespace: str = "",
) -> Cluster:
    """The cluster that kubectl would talk to, or the one of *settings*.

    Nothing is opened before the first request.  Raises ConfigurationError when no cluster is
    configured, or not rightly.  ::

        async with reflet.connect() as cluster:
            settings = await cluster.resource(ConfigMap).get("settings")
    """
    if settings is None:
        settings = settings_from(
            Overrides(kubeconfig=kubeconfig, context=context, namespace=namespace)
        )
    return Cluster(settings)
