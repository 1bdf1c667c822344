"""Commands in pods and their ports: a WebSocket, passed through to the pod's node.

Upstream: apimachinery/pkg/util/proxy/upgradeaware.go, tryUpgrade;
pkg/registry/core/pod/strategy.go, streamLocation
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Coroutine
from typing import Any, Final, final
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from aiohttp import web

from reflet.apirules import refusals
from reflet.devserver.http.node_doors import node_address, node_token
from reflet.devserver.storage.stored import Stored
from reflet.devserver.verbs.dispatch import Call
from reflet.devserver.verbs.pod_subresources import container_of
from reflet.devserver.verbs.state import State
from reflet.devserver.watches.watch_connection import reset

CONNECT_TIMEOUT: Final = 5.0  # seconds
AT_ONCE: Final = 64 * 1024  # bytes
MOST_UNSENT: Final = 256 * 1024  # bytes
LINGER: Final = 1.0  # seconds for the client's own farewell, after the node's
LOOK_EVERY: Final = 2.0  # seconds between two looks whether the client is still there
# The second are those of macOS.
TCP_INFO: Final[int] = getattr(socket, "TCP_INFO", 0x106)
TCP_ESTABLISHED: Final = 1 if hasattr(socket, "TCP_INFO") else 4
FLAGS: Final = {"stdin": "input", "stdout": "output", "stderr": "error", "tty": "tty"}
DOORS: Final = {"exec": "exec", "attach": "attach", "portforward": "portForward"}
PASSED_ON: Final = ("Sec-WebSocket-Key", "Sec-WebSocket-Version", "Sec-WebSocket-Protocol")


async def pass_through(state: State, request: web.BaseRequest, call: Call, pod: Stored) -> None:
    """Have the pod's node answer, until either side ends; ApiError when it is not asked."""
    if request.headers.get("Upgrade", "").lower() != "websocket":
        raise refusals.bad_request("Upgrade request required")
    path = _path(request, call, pod)
    node = pod.object.get("spec", {}).get("nodeName") or ""
    if not node:
        raise refusals.bad_request(f"pod {pod.key.name} does not have a host assigned")
    address = node_address(state, node)
    place = urlsplit(f"//{address}")
    try:
        async with asyncio.timeout(CONNECT_TIMEOUT):
            reader, writer = await asyncio.open_connection(place.hostname, place.port)
    except (OSError, TimeoutError) as error:
        raise refusals.unexpected(f"the node at {address} does not answer: {error}") from error
    try:
        writer.write(_head(request, path, address, node_token(state)))
        await _exchange(request, reader, writer)
    finally:
        writer.transport.abort()


def _path(request: web.BaseRequest, call: Call, pod: Stored) -> str:
    """What a kubelet is asked for."""
    parts = [pod.key.namespace, pod.key.name]
    pairs = parse_qsl(request.query_string, keep_blank_values=True)
    if call.target.subresource == "portforward":
        ports = ",".join(value for name, value in pairs if name == "ports")
        query = [("port", ports)] if ports else []
    else:
        parts.append(container_of(call.request, pod))
        query = [(there, "1") for here, there in FLAGS.items() if call.request.flag(here)]
        query += [pair for pair in pairs if pair[0] == "command"]
    door = DOORS[call.target.subresource]
    path = "/".join(quote(part, safe="") for part in (door, *parts))
    return f"/{path}?{urlencode(query)}" if query else f"/{path}"


def _head(request: web.BaseRequest, path: str, address: str, token: str) -> bytes:
    headers = {
        "Host": address,
        "Authorization": f"Bearer {token}",
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        **{name: request.headers[name] for name in PASSED_ON if name in request.headers},
    }
    lines = [f"GET {path} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
    return "\r\n".join((*lines, "", "")).encode()


async def _exchange(
    request: web.BaseRequest, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    transport = request.transport
    if transport is None:
        raise ConnectionResetError("the client has closed the connection")
    client = _ClientBytes(transport)
    request.protocol.set_parser(client)  # type: ignore[arg-type] # it calls these two methods

    async def answer() -> None:
        while data := await reader.read(AT_ONCE):
            transport.write(data)
            await request.writer.drain()
        transport.set_write_buffer_limits(0)
        await request.writer.drain()  # its last words too, however slowly they are read
        # Closed with something unread, a connection takes back what is on its way.
        await _first_of(client.discard(), asyncio.sleep(LINGER))

    async def ask() -> None:
        while data := await client.read():
            writer.write(data)
            try:
                await writer.drain()
            except ConnectionError:
                await asyncio.Event().wait()  # the node has ended, and may have said why

    await _first_of(answer(), ask(), _until_left(transport, writer))


async def _first_of(*works: Coroutine[Any, Any, None]) -> None:
    tasks = [asyncio.ensure_future(work) for work in works]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _until_left(client: asyncio.Transport, node: asyncio.StreamWriter) -> None:
    """Break the node's connection off when the client has left; what it sent waits for ever.

    A client that is not read from, because the node does not read, leaves without a word.
    """
    connection, gone = client.get_extra_info("socket"), 0
    while gone < 2:
        await asyncio.sleep(LOOK_EVERY)
        is_there = connection.getsockopt(socket.IPPROTO_TCP, TCP_INFO, 1)[0] == TCP_ESTABLISHED
        gone = 0 if is_there else gone + 1
    reset(node.transport)


@final
class _ClientBytes:
    """What the client sends, once it is no HTTP any more; as aiohttp hands it over."""

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self._arrived: asyncio.Queue[bytes] = asyncio.Queue()
        self._size = 0

    def feed_data(self, data: bytes) -> tuple[bool, bytes]:
        """Take bytes; no more are read from the client while many are not sent yet."""
        self._arrived.put_nowait(data)
        self._size += len(data)
        if self._size > MOST_UNSENT:
            self._transport.pause_reading()
        return False, b""

    def feed_eof(self) -> None:
        """The client is gone."""
        self._arrived.put_nowait(b"")

    async def discard(self) -> None:
        """Read to the end, for nobody."""
        while await self.read():
            pass

    async def read(self) -> bytes:
        """The next bytes, ``b""`` at the end."""
        data = await self._arrived.get()
        self._size -= len(data)
        if self._size <= MOST_UNSENT and not self._transport.is_closing():
            self._transport.resume_reading()
        return data
