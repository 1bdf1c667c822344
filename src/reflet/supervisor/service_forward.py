"""One Service at local ports: each connection goes to a pod behind it, through the API server.

Which pod is taken decides ``service_backends``.  The pods are watched from the first connection on,
so one that has ended or is not ready any more is no longer taken; one that works is kept, as
kubectl does.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from contextlib import AsyncExitStack
from functools import partial
from typing import Final, Self

from reflet.api.core.pods import Pod
from reflet.api.core.services import Service
from reflet.client.pod_tunnel import PodTunnel
from reflet.cluster import Cluster
from reflet.errors import Forbidden, RefletError, TransportError, Unauthorized
from reflet.informer.mirror import Mirror
from reflet.runtime.clock import Clock
from reflet.runtime.tasks import Failure, TaskOwner
from reflet.supervisor.forwarded_environment import LocalPlace
from reflet.supervisor.loopback_ports import bound_each, bound_ports
from reflet.supervisor.service_backends import Backend, backends_of
from reflet.supervisor.service_mentions import ServiceName
from reflet.transport.serving.connections import serve_all
from reflet.transport.upgrades.byte_streams import SocketBytes

FRESH: Final = 1.0
"""Seconds for which the Service itself is not read again, although a connection failed."""
LONGEST_LOOK: Final = 10.0
"""Seconds until the pods must be known."""


class ServiceForward:
    """Listens for a Service while it is open; ``place`` says where.

    A connection that cannot be carried is reset, and *say* is told why: the same words for the same
    port once, until a connection works again.
    """

    def __init__(
        self, cluster: Cluster, name: ServiceName, *, say: Callable[[str], None], clock: Clock
    ) -> None:
        self._cluster = cluster
        self._name = name
        self._say = say
        self._clock = clock
        self._tasks = TaskOwner(f"forwarding {name}")
        self._closing = AsyncExitStack()
        self._ways = AsyncExitStack()
        self._address = ""
        self._ports: dict[int, int] = {}
        self._tunnels: dict[str, PodTunnel] = {}
        self._looking = asyncio.Lock()
        self._watching = AsyncExitStack()
        self._service: Service | None = None
        self._read_at = 0.0
        self._pods: Mirror[Pod] | None = None
        self._failed = False
        self._told: dict[int, str] = {}

    async def __aenter__(self) -> Self:
        await self._closing.__aenter__()
        # At the end connections end first, and nobody new comes, then what carried them.
        await self._closing.enter_async_context(self._watching)
        await self._closing.enter_async_context(self._ways)
        await self._closing.enter_async_context(self._tasks)
        return self

    async def __aexit__(self, *failure: *Failure) -> None:
        await self._closing.__aexit__(*failure)

    @property
    def place(self) -> LocalPlace:
        """Where the Service is."""
        return LocalPlace(self._name, self._address, dict(self._ports))

    async def listen(self, ports: Iterable[int]) -> None:
        """Take connections for these ports of the Service, on one address."""
        new = [port for port in dict.fromkeys(ports) if port not in self._ports]
        if not new:
            return
        if self._address:
            sockets = bound_each(self._address, new)
        else:
            self._address, sockets = bound_ports(str(self._name), new)
        for port, listening in sockets.items():
            self._ports[port] = listening.getsockname()[1]
            serve_all(self._tasks, listening, partial(self._forward, port))

    async def _forward(
        self, port: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        local = SocketBytes(reader, writer, "the local connection")
        try:
            backend = await self._reached(await self._backends(port))
            try:
                await self._tunnels[backend.pod].carry(local, backend.port)
            except RefletError as error:
                raise TransportError(_in_brief(error, backend)) from error
            self._told.pop(port, None)
        except RefletError as error:
            self._failed = True
            self._tell(port, str(error))
            local.reset()
        finally:
            await local.close()

    async def _reached(self, backends: tuple[Backend, ...]) -> Backend:
        """The first to which there is a way."""
        failure: RefletError | None = None
        # One that is connected to already has proved that it is there.
        for backend in sorted(backends, key=lambda each: each.pod not in self._tunnels):
            tunnel = self._tunnels.get(backend.pod)
            if tunnel is None:
                tunnel = self._cluster.tunnel(backend.pod, namespace=self._name.namespace)
                self._tunnels[backend.pod] = await self._ways.enter_async_context(tunnel)
            try:
                await tunnel.open()
            except (Forbidden, Unauthorized):
                raise
            except RefletError as error:
                failure = error
            else:
                return backend
        raise TransportError(f"pod {backends[-1].pod}: {failure}") from failure

    async def _backends(self, port: int) -> tuple[Backend, ...]:
        async with self._looking:
            service, pods = await self._looked_up()
        found = backends_of(service, pods.values(), port, hostname=self._name.hostname)
        if isinstance(found, str):
            raise TransportError(found)
        return found

    async def _looked_up(self) -> tuple[Service, Mirror[Pod]]:
        """The Service, read again after a failure, and its pods as they are now."""
        namespace, before = self._name.namespace, self._service
        if before is not None and self._pods is not None:
            is_fresh = self._clock.monotonic() < self._read_at + FRESH
            if is_fresh or not self._failed:
                return before, self._pods
        service = await self._cluster.resource(Service, namespace=namespace).get(self._name.name)
        if self._pods is None or before is None or before.spec.selector != service.spec.selector:
            self._pods = None
            await self._watching.aclose()
            selector = ",".join(f"{key}={value}" for key, value in service.spec.selector.items())
            pods = self._cluster.mirror(
                Pod, namespace=namespace, label_selector=selector, on_error=_left_to_synced
            )
            await self._watching.enter_async_context(pods)
            await pods.synced(timeout=LONGEST_LOOK, fail_on=(Forbidden, Unauthorized))
            self._pods = pods
        self._service, self._read_at = service, self._clock.monotonic()
        self._failed = False
        return service, self._pods

    def _tell(self, port: int, why: str) -> None:
        if self._told.get(port) != why:
            self._told[port] = why
            self._say(f"warning: a connection to {self._name}:{port} was not forwarded: {why}")


def _left_to_synced(_: Exception) -> None:
    """Nobody is told of a watch that breaks: it is made again, and connections say what fails."""


def _in_brief(error: RefletError, backend: Backend) -> str:
    """What a node says in many words when nothing listens, in few."""
    words = str(error)
    if "connection refused" in words.lower():
        return f"nothing listens at port {backend.port} of pod {backend.pod}"
    return f"pod {backend.pod}: {words}"
