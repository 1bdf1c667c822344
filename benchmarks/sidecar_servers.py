"""The servers that sidecars are compared on: the development server and a real kube-apiserver.

Owns: how each is started, how it goes away and comes back with objects that changed meanwhile, and
how requests are counted.  Must not know who watches.
"""

from __future__ import annotations

import asyncio
import base64
import json
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from benchmarks.idle_relay import HOST, calling_address
from benchmarks.idle_requests import RequestLog
from benchmarks.measuring import Child
from benchmarks.recovery_servers import TwoServers
from benchmarks.wire_clients import Target
from reflet.cluster import Cluster, settings_from
from reflet.transport.config.kubeconfig import Overrides
from reflet.transport.config.settings import ConnectionSettings
from tests.node_chaos import ServerProcess
from tests.real.binaries import find_binaries

DEVELOPMENT: Final = "development server"
REAL: Final = "kube-apiserver"
START_TIMEOUT: Final = 90.0  # seconds until a server is ready
ANSWER_TIMEOUT: Final = 30.0  # seconds for the relay

Change = Callable[[Cluster], Awaitable[None]]
"""What happens to objects while nobody can see it."""


class Ground(ABC):
    """A server; *folder* is for what belongs to it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._configs = 0

    @property
    @abstractmethod
    def url(self) -> str:
        """Where it is."""

    @abstractmethod
    def settings(self) -> ConnectionSettings:
        """How its administrator reaches it."""

    @abstractmethod
    def user(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """What a kubeconfig says of the server, besides its address, and of the user."""

    @abstractmethod
    async def go_away(self, meanwhile: Change) -> None:
        """End, let something happen, and come back at the same address."""

    @abstractmethod
    def requests(self, relayed: dict[str, Any], door: int) -> int:
        """How many requests came by a door so far."""

    def kubeconfig(self, port: int = 0) -> Path:
        """Write a kubeconfig; *port* is that of a relay before the server."""
        parts = urlsplit(self.url)
        cluster, user = self.user()
        cluster["server"] = f"{parts.scheme}://{HOST}:{port or parts.port}"
        content = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "server", "cluster": cluster}],
            "users": [{"name": "admin", "user": user}],
            "contexts": [{"name": "it", "context": {"cluster": "server", "user": "admin"}}],
            "current-context": "it",
        }
        self._configs += 1
        path = self._folder / f"kubeconfig-{self._configs}.json"
        path.write_text(json.dumps(content))
        return path

    @contextmanager
    def relay(self, doors: int) -> Iterator[tuple[Child, list[int]]]:
        """A relay before the server, and the ports of its doors."""
        task = {"host": HOST, "port": urlsplit(self.url).port, "doors": doors}
        with Child("benchmarks.idle_relay", task) as relay:
            yield relay, relay.hear(ANSWER_TIMEOUT)["ports"]


class Development(Ground):
    """``reflet serve``, in clear, with its data on disk."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._server = ServerProcess(folder)
        self._url = ""

    @property
    def url(self) -> str:
        """Where it is."""
        return self._url

    async def start(self) -> None:
        """Start; return when it listens."""
        self._server.start()
        await self._server.up()
        self._url = settings_from(Overrides(kubeconfig=str(self._server.kubeconfig))).server

    def stop(self) -> None:
        """End."""
        self._server.kill()

    def settings(self) -> ConnectionSettings:
        """How its administrator reaches it."""
        return ConnectionSettings(server=self._url, qps=0)

    def user(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """It asks nobody who he is."""
        return {}, {}

    async def go_away(self, meanwhile: Change) -> None:
        """The same data, at another address for a while."""
        self._server.kill()
        other = ServerProcess(self._folder)
        other.start()
        try:
            self._server.kubeconfig.unlink()
            await other.up()
            settings = settings_from(Overrides(kubeconfig=str(other.kubeconfig)))
            async with Cluster(replace(settings, qps=0)) as cluster:
                await meanwhile(cluster)
        finally:
            other.kill()
        self._server.start()
        await self._server.up()

    def requests(self, relayed: dict[str, Any], door: int) -> int:
        """Counted by the relay: nothing is encrypted."""
        return int(relayed["requests"][door])


class Real(Ground):
    """A kube-apiserver that goes away, and another one on the same etcd that stays."""

    def __init__(self, folder: Path, servers: TwoServers, log: RequestLog) -> None:
        super().__init__(folder)
        self._servers = servers
        self._log = log

    @property
    def url(self) -> str:
        """Where it is."""
        return self._servers.url

    def settings(self) -> ConnectionSettings:
        """How its administrator reaches it."""
        return self._target(self._servers.url).settings()

    def user(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """TLS, and a token."""
        authority = base64.b64encode(self._servers.ca_data).decode()
        return {"certificate-authority-data": authority}, {"token": self._servers.tokens["admin"]}

    async def go_away(self, meanwhile: Change) -> None:
        """Crash, and come back with an empty watch cache."""
        self._servers.crash()
        async with Cluster(self._target(self._servers.second_url).settings()) as cluster:
            await meanwhile(cluster)
        await asyncio.to_thread(self._servers.start_apiserver)

    def requests(self, relayed: dict[str, Any], door: int) -> int:  # noqa: ARG002 - of the shape
        """Counted by the server, in its audit log."""
        return sum(self._log.counts().get(calling_address(door), {}).values())

    def _target(self, url: str) -> Target:
        return Target(url, str(self._servers.ca_file), self._servers.tokens["admin"])


@contextmanager
def ground(name: str) -> Iterator[Ground]:
    """One of the two servers; BinariesMissing when there is no real one."""
    with tempfile.TemporaryDirectory(prefix="reflet-sidecar-") as text:
        folder = Path(text)
        if name == DEVELOPMENT:
            development = Development(folder)
            try:
                asyncio.run(development.start())
                yield development
            finally:
                development.stop()
            return
        log = RequestLog(folder)
        with TwoServers(
            find_binaries(), api_server_flags=log.flags, patience=START_TIMEOUT
        ) as servers:
            yield Real(folder, servers, log)
