"""Servers on loopback that do exactly what a test says, however rude; the one for HTTP/2.

Owns: the sockets, the recording of what arrived and the ways to misbehave.  A script is a
coroutine that gets each request.  Must not import what it tests, nor HTTP/1.1
(``scripted_http1``).
"""

from __future__ import annotations

import asyncio
import socket
import ssl
import struct
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Self, cast

import h2.config
import h2.connection
import h2.errors
import h2.events
import h2.exceptions
import hyperframe.frame
from h2.settings import SettingCodes

from tests.unit.transport.scripted_certificates import server_context

Headers = Sequence[tuple[str, str]]


class ScriptedServer:
    """A listening socket, the tasks that serve it and a way to wait for what happens on it."""

    host: str
    port: int
    scheme: str

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()
        self.failures: list[BaseException] = []
        self._news: asyncio.Future[None] | None = None

    @property
    def authority(self) -> str:
        """The server's address as it stands in a URL."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def url(self) -> str:
        """The server's address as it stands in a kubeconfig."""
        return f"{self.scheme}://{self.authority}"

    async def until(self, claim: Callable[[], object]) -> None:
        """Wait until *claim* is true; it is looked at whenever something happens here."""
        while not claim():
            if self._news is None:
                self._news = asyncio.get_running_loop().create_future()
            await self._news

    def tell(self) -> None:
        """Something happened."""
        news, self._news = self._news, None
        if news is not None and not news.done():
            news.set_result(None)

    def start(self, script: Coroutine[Any, Any, None]) -> None:
        """Run a script to its end, or to the end of the server."""
        task = asyncio.get_running_loop().create_task(script, name="script")
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (failure := task.exception()) is not None:
            self.failures.append(failure)
        self.tell()

    async def stop_listening(self, listener: asyncio.Server) -> None:
        """Take no more connections, and return when those that were taken are known."""
        loop = asyncio.get_running_loop()
        for listening in listener.sockets:
            loop.remove_reader(listening)
        # asyncio forgets to close what a listener took in the moment in which it is closed.
        for _ in range(3):
            await asyncio.sleep(0)
        listener.close()

    async def stop_scripts(self) -> None:
        tasks = tuple(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def raise_failures(self) -> None:
        if self.failures:
            raise ExceptionGroup(
                "a script failed", [f for f in self.failures if isinstance(f, Exception)]
            )


class Http2Server(ScriptedServer):
    """Speaks HTTP/2 over TLS and runs *script* for every request.

    ``settings`` are announced first; ``stingy`` gives no window back for request bodies.
    """

    scheme = "https"

    def __init__(
        self,
        script: Callable[[Http2Request], Awaitable[None]],
        *,
        host: str = "127.0.0.1",
        context: ssl.SSLContext | None = None,
        settings: Mapping[SettingCodes, int] | None = None,
        stingy: bool = False,
    ) -> None:
        super().__init__()
        self.host = host
        self.script = script
        self.settings = dict(settings or {})
        self.stingy = stingy
        self.requests: list[Http2Request] = []
        self.connections: list[Http2Peer] = []
        self._context = context or server_context("h2")

    @property
    def paths(self) -> list[str]:
        """The requests so far, as ``METHOD path``."""
        return [f"{request.method} {request.path}" for request in self.requests]

    @property
    def open_connections(self) -> int:
        """How many connections have not ended."""
        return sum(not peer.gone.is_set() for peer in self.connections)

    async def __aenter__(self) -> Self:
        loop = asyncio.get_running_loop()
        self._listener = await loop.create_server(
            lambda: Http2Peer(self), self.host, 0, ssl=self._context
        )
        self.port = self._listener.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop_listening(self._listener)
        await self.stop_scripts()
        for peer in self.connections:
            peer.cut()
        for peer in self.connections:
            await peer.gone.wait()
        await self._listener.wait_closed()
        self.raise_failures()


class PlainHttp2Server(Http2Server):
    """The same without TLS, as most services that are probed are."""

    scheme = "http"

    async def __aenter__(self) -> Self:
        loop = asyncio.get_running_loop()
        self._listener = await loop.create_server(lambda: Http2Peer(self), self.host, 0)
        self.port = self._listener.sockets[0].getsockname()[1]
        return self


class Http2Peer(asyncio.Protocol):
    """One connection, from the server's side."""

    transport: asyncio.Transport

    def __init__(self, server: Http2Server) -> None:
        self.server = server
        self.deaf = False  # reads nothing more: no answer to pings, no new requests
        self.gone = asyncio.Event()
        self.pings = 0
        self.state = h2.connection.H2Connection(
            h2.config.H2Configuration(
                client_side=False,
                header_encoding="utf-8",
                validate_outbound_headers=False,
                normalize_outbound_headers=False,
            )
        )
        self.streams: dict[int, Http2Request] = {}
        self._held: list[bytes] | None = None

    # What a script can do to the whole connection.

    def write(self, raw: bytes) -> None:
        """Send bytes as they are, frames or not."""
        if self._held is not None:
            self._held.append(raw)
        elif not self.transport.is_closing():
            self.transport.write(raw)

    def send_frame(self, frame: hyperframe.frame.Frame) -> None:
        """Send a frame that the library would not."""
        self.write(frame.serialize())

    def flush(self) -> None:
        """Send what the library has ready."""
        self.write(self.state.data_to_send())

    @contextmanager
    def one_write(self) -> Iterator[None]:
        """Everything sent meanwhile leaves in one write."""
        self._held = []
        try:
            yield
        finally:
            held, self._held = self._held, None
            self.write(b"".join(held))

    def goaway(self, last: int, code: int = 0) -> None:
        """Say farewell: streams above *last* were not looked at."""
        self.send_frame(hyperframe.frame.GoAwayFrame(0, last_stream_id=last, error_code=code))

    def change(self, settings: Mapping[SettingCodes, int]) -> None:
        """Announce other settings."""
        self.state.update_settings(dict(settings.items()))
        self.flush()

    def close(self) -> None:
        """End politely: TLS farewell, then FIN."""
        self.transport.close()

    def cut(self) -> None:
        """End with a FIN and no TLS farewell."""
        self.transport.abort()

    def reset(self) -> None:
        """End with a TCP reset."""
        linger = struct.pack("ii", 1, 0)
        self.transport.get_extra_info("socket").setsockopt(
            socket.SOL_SOCKET, socket.SO_LINGER, linger
        )
        self.transport.abort()

    # asyncio.Protocol

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)
        self.server.connections.append(self)
        for code, value in self.server.settings.items():
            self.state.local_settings[code] = value
        self.state.local_settings.acknowledge()
        self.state.initiate_connection()
        self.flush()

    def data_received(self, data: bytes) -> None:
        if self.deaf:
            return
        try:
            events = self.state.receive_data(data)
        except h2.exceptions.ProtocolError as error:
            self.flush()
            self.close()
            self.server.failures.append(error)
            return
        for event in events:
            self._act_on(event)
        self.flush()
        self.server.tell()

    def connection_lost(self, exc: Exception | None) -> None:
        self.gone.set()
        for request in self.streams.values():
            request.reset_code.cancel()
        self.server.tell()

    def _act_on(self, event: h2.events.Event) -> None:
        match event:
            case h2.events.RequestReceived(stream_id=int(stream_id)):
                request = Http2Request(
                    self, stream_id, [(str(n), str(v)) for n, v in event.headers or ()]
                )
                self.streams[stream_id] = request
                self.server.requests.append(request)
                self.server.start(self._run(request))
            case h2.events.DataReceived(stream_id=int(stream_id)):
                self.streams[stream_id].body += event.data or b""
                if not self.server.stingy:
                    self.state.acknowledge_received_data(
                        event.flow_controlled_length or 0, stream_id
                    )
            case h2.events.StreamEnded(stream_id=int(stream_id)):
                self.streams[stream_id].whole.set()
            case h2.events.StreamReset(stream_id=int(stream_id)):
                code = self.streams[stream_id].reset_code
                if not code.done():
                    code.set_result(int(event.error_code or 0))
            case h2.events.PingReceived():
                self.pings += 1
            case _:
                pass  # nothing that a script could want to know

    async def _run(self, request: Http2Request) -> None:
        with suppress(h2.exceptions.StreamClosedError, ConnectionError):
            await self.server.script(request)


@dataclass(eq=False)
class Http2Request:
    """One request, and what a script can answer to it."""

    peer: Http2Peer
    stream_id: int
    headers: Headers
    body: bytes = b""
    sent: int = 0  # bytes of the answer's body
    stalled: bool = False  # the answer waits for the client's window
    whole: asyncio.Event = field(default_factory=asyncio.Event)
    reset_code: asyncio.Future[int] = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )

    @property
    def method(self) -> str:
        return dict(self.headers)[":method"]

    @property
    def path(self) -> str:
        return dict(self.headers)[":path"]

    def head(self, status: int = 200, headers: Headers = (), *, end: bool = False) -> None:
        """Send the answer's head, or trailers when it was sent before."""
        fields = [(":status", str(status)), *headers] if status else list(headers)
        self.peer.state.send_headers(self.stream_id, fields, end_stream=end)
        self.peer.flush()

    def trailers(self, headers: Headers) -> None:
        """End the answer with trailers."""
        self.head(0, headers, end=True)

    async def data(
        self, body: bytes, *, end: bool = False, pad: int | None = None, frame: int = 1 << 24
    ) -> None:
        """Send a piece of the body in frames of at most *frame* bytes, obeying the windows."""
        overhead = 0 if pad is None else pad + 1
        state = self.peer.state
        while True:
            window = state.local_flow_control_window(self.stream_id) - overhead
            size = min(window, state.max_outbound_frame_size - overhead, frame, len(body))
            if size <= 0 and body:
                self.stalled = True
                self.peer.server.tell()
                await self.peer.server.until(
                    lambda: state.local_flow_control_window(self.stream_id) > overhead
                )
                self.stalled = False
                continue
            piece, body = body[:size], body[size:]
            state.send_data(self.stream_id, piece, end_stream=end and not body, pad_length=pad)
            self.sent += len(piece)
            self.peer.flush()
            if not body:
                return

    async def answer(
        self, status: int = 200, body: bytes = b"", headers: Headers = (), *, counted: bool = True
    ) -> None:
        """A whole answer, with content-length when *counted*."""
        length = [("content-length", str(len(body)))] if counted else []
        self.head(status, [*length, *headers])
        await self.data(body, end=True)

    def reset(self, code: h2.errors.ErrorCodes) -> None:
        """End the stream with RST_STREAM, whatever its state."""
        self.peer.send_frame(hyperframe.frame.RstStreamFrame(self.stream_id, error_code=code))

    async def for_ever(self) -> None:
        """Leave the request as it is until the client gives it up."""
        with suppress(asyncio.CancelledError):
            await asyncio.shield(self.reset_code)
