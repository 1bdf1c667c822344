"""A tunnel to one pod: connections to any of its ports, through the API server.

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
from typing import Final, Self

from reflet.errors import TransportError
from reflet.runtime.tasks import Failure, TaskOwner
from reflet.transport.interface import Upgraded
from reflet.transport.upgrades.byte_streams import SocketBytes
from reflet.transport.upgrades.channels import Channel
from reflet.transport.upgrades.spdy import SpdySession, SpdyStream
from reflet.transport.upgrades.websocket import TunneledBytes, WebSocket

TUNNEL: Final = "SPDY/3.1+portforward.k8s.io"
LONGEST_COMPLAINT: Final = 4096  # bytes of what a node says about one connection

logger = logging.getLogger(__name__)


class PodTunnel:
    """Carries connections to ports of the pod that *upgraded* leads to, while it is open.

    The way there is made by ``open``, and made again for the next connection when it was lost.
    """

    def __init__(self, upgraded: Callable[[], AbstractAsyncContextManager[Upgraded]]) -> None:
        self._upgraded = upgraded
        self._tasks = TaskOwner("tunnel to a pod")
        self._current: AsyncExitStack | None = None
        self._session: SpdySession | None = None
        self._opening = asyncio.Lock()
        self._numbers = itertools.count()

    async def __aenter__(self) -> Self:
        await self._tasks.__aenter__()
        return self

    async def __aexit__(self, *failure: *Failure) -> None:
        try:
            await self._tasks.__aexit__(*failure)
        finally:
            await self._leave_session()

    async def open(self) -> None:
        """Make sure that there is a way; the server's error for a pod that is not there."""
        await self._open_session()

    async def carry(self, local: SocketBytes, port: int) -> None:
        """Carry one connection to its end; TransportError with what the node says.

        The caller closes *local*, and resets it after an error.
        """
        streams: list[SpdyStream] = []
        try:
            session = await self._open_session()
            about = {"port": str(port), "requestid": str(next(self._numbers))}
            errors = await session.open({"streamtype": "error", **about})
            streams.append(errors)
            data = await session.open({"streamtype": "data", **about})
            streams.append(data)
            await errors.finish()
            await _exchange(local, errors, data)
        finally:
            with contextlib.suppress(TransportError):
                for stream in streams:
                    await stream.reset()

    async def _open_session(self) -> SpdySession:
        async with self._opening:
            if self._session is not None and not self._session.is_over:
                return self._session
            await self._leave_session()
            async with AsyncExitStack() as opened:
                upgraded = await opened.enter_async_context(self._upgraded())
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
            logger.debug("the tunnel to a pod is lost: %s", error)
        async with self._opening:
            if self._session is session:  # nobody may ever come again, and a socket is a socket
                await self._leave_session()


async def _exchange(local: SocketBytes, errors: Channel, data: Channel) -> None:
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
