"""A local port whose connections go to a port of a pod.

One WebSocket carries SPDY/3.1, and each connection is two of its streams: the bytes, and what the
node has to say when it cannot connect.  So either side can end its direction alone, which
``v4.channel.k8s.io`` has no word for.

Upstream: client-go/tools/portforward/portforward.go, handleConnection; tunneling_dialer.go
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass
from typing import Final, Self

from reflet.errors import ConfigurationError, RefletError, TransportError
from reflet.runtime.tasks import Failure, TaskOwner
from reflet.transport.interface import Upgraded
from reflet.transport.upgrades.byte_streams import SocketBytes
from reflet.transport.upgrades.channels import Channel
from reflet.transport.upgrades.spdy import SpdySession, SpdyStream
from reflet.transport.upgrades.websocket import TunneledBytes, WebSocket

TUNNEL: Final = "SPDY/3.1+portforward.k8s.io"
LONGEST_COMPLAINT: Final = 4096  # bytes of what a node says about one connection

OnError = Callable[[RefletError], None]
"""Is told why a connection could not be forwarded."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ForwardedPort:
    """Where to connect."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


class PortForwarder:
    """Forwards what connects to ``listen`` to *port* of the pod that *tunnel* leads to."""

    def __init__(
        self,
        tunnel: Callable[[], AbstractAsyncContextManager[Upgraded]],
        port: int,
        *,
        on_error: OnError | None = None,
    ) -> None:
        self._tunnel = tunnel
        self._port = port
        self._on_error = on_error
        self._tasks = TaskOwner(f"forwarding to port {port}")
        self._closing = AsyncExitStack()
        self._current: AsyncExitStack | None = None
        self._session: SpdySession | None = None
        self._opening = asyncio.Lock()
        self._numbers = itertools.count()

    async def __aenter__(self) -> Self:
        await self._tasks.__aenter__()
        try:
            await self._open_session()  # a pod that is not there is told now
        except BaseException as error:
            await self.__aexit__(type(error), error, error.__traceback__)
            raise
        return self

    async def __aexit__(self, *failure: *Failure) -> None:
        try:
            await self._closing.aclose()  # first the listener: nobody new
            await self._tasks.__aexit__(*failure)
        finally:
            await self._leave_session()

    async def listen(self, host: str, port: int) -> ForwardedPort:
        """Take connections; ConfigurationError when the port is taken."""
        try:
            server = await asyncio.start_server(self._accept, host, port)
        except OSError as error:
            raise ConfigurationError(
                f"cannot listen on {host} port {port}: {error.strerror or error}"
            ) from error
        self._closing.callback(server.close)
        place = server.sockets[0].getsockname()
        return ForwardedPort(host, place[1])

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._tasks.start(self._forward(reader, writer), name="forwarded connection")

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        local = SocketBytes(reader, writer, "the local connection")
        streams: list[SpdyStream] = []
        try:
            session = await self._open_session()
            about = {"port": str(self._port), "requestid": str(next(self._numbers))}
            errors = await session.open({"streamtype": "error", **about})
            streams.append(errors)
            data = await session.open({"streamtype": "data", **about})
            streams.append(data)
            await errors.finish()
            await self._exchange(local, errors, data)
        except RefletError as error:
            self._tell(error)
            local.reset()
        finally:
            try:
                with contextlib.suppress(TransportError):
                    for stream in streams:
                        await stream.reset()
            finally:
                await local.close()

    async def _exchange(self, local: SocketBytes, errors: Channel, data: Channel) -> None:
        """Carry both directions to their ends; TransportError with what the node says."""
        complaint = _Complaint()
        sending = asyncio.create_task(_copy(local, data), name="to the pod")
        receiving = asyncio.create_task(_receive(data, local, complaint), name="from the pod")
        complaining = asyncio.create_task(complaint.read(errors), name="what the node says")
        tasks = pending = {sending, receiving, complaining}
        try:
            # When the pod has ended, and the node's word too, nobody hears what still comes.
            while receiving in pending or complaining in pending:
                done, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
                for task in done - {sending}:
                    task.result()
                if sending in done and sending.exception() is not None:
                    return  # whoever connected is gone
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _open_session(self) -> SpdySession:
        async with self._opening:
            if self._session is not None and not self._session.is_over:
                return self._session
            await self._leave_session()
            async with AsyncExitStack() as opened:
                upgraded = await opened.enter_async_context(self._tunnel())
                tunnel = TunneledBytes(WebSocket(upgraded.line, is_client=True))
                session = SpdySession(tunnel, is_client=True)
                opened.push_async_callback(session.close)
                self._tasks.start(self._read(session), name="tunnel to a pod")
                self._session, self._current = session, opened.pop_all()
            return session

    async def _leave_session(self) -> None:
        current, self._current, self._session = self._current, None, None
        if current is not None:
            await current.aclose()

    async def _read(self, session: SpdySession) -> None:
        try:
            await session.run()
        except TransportError as error:
            # The connections on it are told, each; without any, nobody misses it.
            logger.debug("the tunnel to port %d is lost: %s", self._port, error)

    def _tell(self, error: RefletError) -> None:
        if self._on_error is not None:
            self._on_error(error)
        else:
            logger.warning("a connection to port %d was not forwarded: %s", self._port, error)


async def _copy(source: SocketBytes | Channel, target: SocketBytes | Channel) -> None:
    while data := await source.read():
        await target.write(data)
    await target.finish()


class _Complaint:
    """What the node says about one connection; anything is a failure.

    Of a node that has no end of it, the beginning is told.
    """

    def __init__(self) -> None:
        self.said = b""

    async def read(self, errors: Channel) -> None:
        while len(self.said) < LONGEST_COMPLAINT and (piece := await errors.read()):
            self.said = (self.said + piece)[:LONGEST_COMPLAINT]
        if self.said:
            raise TransportError(self.said.decode(errors="replace").strip())


async def _receive(data: Channel, local: SocketBytes, complaint: _Complaint) -> None:
    while piece := await data.read():
        await local.write(piece)
    # A node complains before it ends the bytes; an orderly end would hide that it did.
    if not complaint.said:
        await local.finish()
