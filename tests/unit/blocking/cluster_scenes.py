"""Clusters whose server is a script."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from reflet.api.core.config import ConfigMap
from reflet.api.meta import ObjectMeta
from reflet.blocking import BlockingCluster
from reflet.blocking.loop_thread import LoopThread
from reflet.client.client import Client
from reflet.cluster import Cluster
from reflet.transport.config.settings import ConnectionSettings
from reflet.transport.interface import Response
from tests.unit.client.scripted_transport import (
    ScriptedStream,
    ScriptedTransport,
    ok,
)
from tests.unit.transport.scripted_http1 import Http1Peer, Http1Server

SETTINGS = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "settings", "namespace": "shop"},
    "data": {"color": "red"},
}
SCALE = {"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "settings"}}
LIST = {"apiVersion": "v1", "kind": "ConfigMapList", "metadata": {}, "items": [SETTINGS]}
TOKEN = {"status": {"token": "canary", "expirationTimestamp": "2026-01-01T00:00:00Z"}}
DISCOVERY = {"kind": "APIGroupDiscoveryList", "items": []}
ADDED = {"type": "ADDED", "object": SETTINGS}
TYPED = ConfigMap(metadata=ObjectMeta(name="settings"), data={"color": "red"})


class ScriptedCluster(Cluster):
    """A cluster whose server is a script."""

    def __init__(self, *answers: Response | ScriptedStream) -> None:
        self.transport = ScriptedTransport(*answers)
        Client.__init__(self, self.transport, namespace="shop")
        self.settings = ConnectionSettings(server="https://scripted")


@contextmanager
def cluster_with(
    *answers: Response | ScriptedStream,
) -> Iterator[tuple[BlockingCluster, ScriptedTransport]]:
    scripted = ScriptedCluster(*answers)
    with BlockingCluster(scripted) as cluster:
        yield cluster, scripted.transport


def config_maps(cluster: Any) -> Any:
    return cluster.resource(ConfigMap)


# Pages and watches


def page(token: str) -> Response:
    return ok({**LIST, "metadata": {"continue": token}})


# Over a real socket


@contextmanager
def serving(script: Callable[[Http1Peer], Any]) -> Iterator[Http1Server]:
    loop = LoopThread("server")
    try:
        with loop.entered(Http1Server(script)) as server:
            yield server
    finally:
        loop.stop()


async def version(peer: Http1Peer) -> None:
    while True:
        request = await peer.request()
        peer.answer(json.dumps({"gitVersion": request.target}).encode())
