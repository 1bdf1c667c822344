"""A transport whose upgrades lead to a server in this process."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from reflet.transport.interface import Request, Response, Upgraded
from reflet.transport.upgrades.websocket import WebSocket
from reflet.transport.upgrades.websocket_frames import accept_key
from tests.byte_lines import MemoryLine
from tests.unit.client.scripted_transport import ScriptedTransport


class UpgradingTransport(ScriptedTransport):
    """Agrees to the *protocol*; ``server`` is the other side of the last WebSocket."""

    def __init__(
        self, protocol: str = "v5.channel.k8s.io", *, refusal: Response | None = None
    ) -> None:
        super().__init__()
        self._protocol = protocol
        self._refusal = refusal
        self.line = MemoryLine()
        self.server = WebSocket(self.line, is_client=False)

    async def heard(self) -> bytes | None:
        """The next message of the client's; None after its farewell."""
        message = await self.server.receive()
        return None if message is None else message.payload

    @asynccontextmanager
    async def upgrade(self, request: Request, /) -> AsyncIterator[Upgraded]:
        self.requests.append(request)
        ours, self.line = MemoryLine.pair()
        self.server = WebSocket(self.line, is_client=False)
        key = dict(request.headers)["sec-websocket-key"]
        headers = {
            "sec-websocket-accept": accept_key(key),
            "sec-websocket-protocol": self._protocol,
        }
        agreed = Response(status=101, headers=headers, body=b"")
        try:
            yield Upgraded(self._refusal or agreed, ours)
        finally:
            await ours.close()
