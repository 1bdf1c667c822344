"""TLS for thousands of connections that are mostly silent.

asyncio gives every TLS connection a buffer of 256 KiB to receive into, which for five thousand
watches is more than a gigabyte.  Requests are small, so here the buffer is small.

Owns: that buffer, and knowing every connection from its first moment: before its handshake is
over nobody else does.  Must not know what is sent.
"""

from __future__ import annotations

import asyncio
import ssl
from asyncio.sslproto import SSLProtocol
from collections.abc import Callable
from typing import Final

RECEIVED_AT_ONCE: Final = 16 * 1024
"""Bytes: what one TLS record can hold, and so what can be decrypted at once."""

HANDSHAKE_PATIENCE: Final = 10  # seconds


class _SmallBuffer(SSLProtocol):
    max_size = RECEIVED_AT_ONCE
    connections: set[asyncio.Transport]
    connection: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        if isinstance(transport, asyncio.Transport):
            self.connection = transport
            self.connections.add(transport)
        super().connection_made(transport)

    def connection_lost(self, exc: BaseException | None) -> None:
        self.connections.discard(self.connection)
        super().connection_lost(exc)


def tls_factory(
    make_protocol: Callable[[], asyncio.BaseProtocol],
    context: ssl.SSLContext,
    connections: set[asyncio.Transport],
) -> Callable[[], asyncio.BaseProtocol]:
    """Make a protocol factory that speaks TLS around another one, for a server's socket.

    *connections* has every connection while it is open.
    """
    loop = asyncio.get_running_loop()

    def make() -> asyncio.BaseProtocol:
        protocol = _SmallBuffer(
            loop,
            make_protocol(),
            context,
            None,  # type: ignore[arg-type]  # nobody waits for the handshake
            server_side=True,
            ssl_handshake_timeout=HANDSHAKE_PATIENCE,
        )
        protocol.connections = connections
        return protocol

    return make
