"""A local port whose connections go to a port of a pod.

Upstream: client-go/tools/portforward/portforward.go, ForwardPorts
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Self

from reflet.client.pod_tunnel import PodTunnel
from reflet.errors import RefletError
from reflet.gotext.urls import join_host_port
from reflet.runtime.tasks import Failure, TaskOwner
from reflet.transport.serving.connections import listening_sockets, serve_all
from reflet.transport.upgrades.byte_streams import SocketBytes

OnError = Callable[[RefletError], None]
"""Is told why a connection could not be forwarded."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ForwardedPort:
    """Where to connect.

    - *host*: local address
    - *port*: local port
    """

    host: str
    port: int

    def __str__(self) -> str:
        return join_host_port(self.host, self.port)


class PortForwarder:
    """Forwards what connects to ``listen`` to *port* of the pod that *tunnel* leads to."""

    def __init__(self, tunnel: PodTunnel, port: int, *, on_error: OnError | None = None) -> None:
        self._tunnel = tunnel
        self._port = port
        self._on_error = on_error
        self._tasks = TaskOwner(f"forwarding to port {port}")
        self._closing = AsyncExitStack()

    async def __aenter__(self) -> Self:
        async with AsyncExitStack() as opened:
            await opened.enter_async_context(self._tunnel)
            await self._tunnel.open()  # a pod that is not there is told now
            await opened.enter_async_context(self._tasks)
            self._closing = opened.pop_all()
        return self

    async def __aexit__(self, *failure: *Failure) -> None:
        await self._closing.__aexit__(*failure)

    async def listen(self, host: str, port: int) -> ForwardedPort:
        """Take connections; ConfigurationError when the port is taken."""
        sockets = await listening_sockets(host, port)
        for each in sockets:
            serve_all(self._tasks, each, self._forward)
        return ForwardedPort(host, sockets[0].getsockname()[1])

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        local = SocketBytes(reader, writer, "the local connection")
        try:
            await self._tunnel.carry(local, self._port)
        except RefletError as error:
            self._tell(error)
            local.reset()
        finally:
            await local.close()

    def _tell(self, error: RefletError) -> None:
        if self._on_error is not None:
            self._on_error(error)
        else:
            logger.warning("a connection to port %d was not forwarded: %s", self._port, error)
