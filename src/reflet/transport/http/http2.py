"""One HTTP/2 connection that carries many streams: frames, flow control, GOAWAY, pings.

The h2 library keeps the protocol's state; DATA frames of streaming answers, which are nearly
all of a busy watch, are cut here and never reach it, which is about twice as fast.

- GOAWAY: the connection drains: no new stream, those the server did not see are ``Unprocessed``
- RST_STREAM: fails one stream; REFUSED_STREAM is ``Unprocessed``
- SETTINGS: MAX_CONCURRENT_STREAMS limits ``room``; ``http2_pool`` opens another connection
- flow control: a stream's window is its reader's back-pressure (``http2_stream``), the
  connection's is never the limit
- half-open connections (the peer vanished without a FIN): a PING after READ_IDLE_TIMEOUT seconds
  without a byte, and no answer in PING_TIMEOUT ends the connection

Upstream: golang.org/x/net/http2/transport.go, ClientConn, processGoAway, healthCheck;
    apimachinery/pkg/util/net/http.go, readIdleTimeoutSeconds, pingTimeoutSeconds
"""

from __future__ import annotations

import asyncio
import contextlib
import struct
from collections.abc import Callable, Iterable
from typing import Any, Final, cast
from urllib.parse import urlencode

import h2.config
import h2.connection
import h2.errors
import h2.events
import h2.exceptions
import h2.settings

from reflet.errors import DeadlineExceeded, TransportError
from reflet.runtime.sockets import abort
from reflet.transport.failures import Unprocessed, connection_failure, own_failure
from reflet.transport.http.header_blocks import HeaderBlocks, header_texts
from reflet.transport.http.http2_stream import STREAM_WINDOW, Http2Stream
from reflet.transport.interface import Request

FRAME_HEAD: Final = 9
READ_HEAD: Final = struct.Struct("!HBBBL").unpack_from  # length in two parts, kind, flags, stream
DATA, GOAWAY, WINDOW_UPDATE = 0x0, 0x7, 0x8
END_STREAM_OR_PADDED: Final = 0x1 | 0x8
STREAM_ID: Final = 0x7FFFFFFF
"""The bits that count; the first one is reserved and means nothing."""

LARGEST_FRAME: Final = 256 * 1024
LARGEST_HEAD: Final = 256 * 1024
CONNECTION_WINDOW: Final = 1 << 30
"""Never the limit: one slow reader must not hold back the other streams."""

READ_IDLE_TIMEOUT: Final = 30.0
PING_TIMEOUT: Final = 15.0
"""client-go's figures: a half-open connection is noticed 45 seconds after its last byte."""


class Http2Connection(asyncio.Protocol):
    """A connection on which ``open`` starts streams, up to ``room`` more.

    A GOAWAY of the server, or ``retire``, makes it drain: closed to new streams only.  Its end, an
    unanswered ping or ``abort`` closes it to all.  With *is_plain* it speaks HTTP/2 at once,
    without TLS, and is not pinged: that is for a socket of this machine, never half open, and for
    a call whose time is limited.
    """

    def __init__(
        self,
        server: str,
        authority: str,
        *,
        on_room: Callable[[], None] = lambda: None,
        is_plain: bool = False,
    ) -> None:
        self.server = server
        self.loop = asyncio.get_running_loop()
        self.ready: asyncio.Future[None] = self.loop.create_future()
        self.offered = False  # the server chose HTTP/2 in the TLS handshake
        self.on_room = on_room
        self.draining = False  # takes no new stream: GOAWAY, retired, or out of stream ids
        self.used = False  # a stream has been opened on it before
        self.idle_since = self.loop.time()  # means something while it is idle
        self._authority = authority
        self._is_plain = is_plain
        self._streams: dict[int, Http2Stream] = {}
        self._transport: asyncio.Transport | None = None
        self._lost: TransportError | None = None
        self._gone: asyncio.Future[None] = self.loop.create_future()
        self._tail = b""
        self._ungranted = 0  # bytes of cut frames not yet given back to the connection window
        self._body_room: asyncio.Future[None] | None = None
        self._last_received = 0.0
        self._ping_sent = False
        self._timer: asyncio.TimerHandle | None = None
        self._state = h2.connection.H2Connection(
            h2.config.H2Configuration(
                client_side=True,
                validate_outbound_headers=False,
                normalize_outbound_headers=False,
            )
        )
        self._state.encoder = cast("Any", HeaderBlocks())  # the library asks no more of it

    @property
    def room(self) -> int:
        """How many more streams the server allows on this connection now."""
        if self._lost is not None or self.draining:
            return 0
        return self._state.remote_settings.max_concurrent_streams - len(self._streams)

    @property
    def idle(self) -> bool:
        """No stream is open."""
        return not self._streams

    @property
    def lost(self) -> bool:
        """The connection has ended."""
        return self._lost is not None

    async def open(self, request: Request) -> Http2Stream:
        """Send *request*; the answer's head is the caller's to wait for (``Http2Stream.head``)."""
        if self._lost is not None or self.draining:
            raise Unprocessed(f"{self.server}: the connection was closed")
        target = request.path
        if request.query:
            target += "?" + urlencode(request.query)
        headers = [
            (":method", request.method),
            (":scheme", "http" if self._is_plain else "https"),
            (":authority", self._authority),
            (":path", target),
            *((name.lower(), value) for name, value in request.headers),
        ]
        if request.body:
            headers.append(("content-length", str(len(request.body))))
        try:
            stream_id = self._state.get_next_available_stream_id()
            self._state.send_headers(stream_id, headers, end_stream=not request.body)
        except h2.exceptions.NoAvailableStreamIDError as error:
            self.draining = True  # after a thousand million streams
            raise Unprocessed(f"{self.server}: {error}") from error
        except h2.exceptions.TooManyStreamsError as error:
            raise Unprocessed(f"{self.server}: {error}") from error
        stream = self._streams[stream_id] = Http2Stream(self, stream_id)
        self.used = True
        try:
            await self._send_body(stream, request.body)
        except BaseException:
            stream.close()
            raise
        return stream

    def send_window_update(self, stream_id: int, size: int) -> None:
        """Flow control: let the server send *size* more bytes on the stream."""
        self._write(_window_update(stream_id, size))

    def acknowledge(self, stream_id: int, size: int) -> None:
        """Bytes that the library counted have been read."""
        self._state.acknowledge_received_data(size, stream_id)
        self._flush()

    def forget(self, stream: Http2Stream, *, reset: bool) -> None:
        """The stream is over for its owner; *reset* tells the server so."""
        if self._streams.pop(stream.stream_id, None) is None:
            return
        if reset and self._lost is None:
            with contextlib.suppress(h2.exceptions.ProtocolError):  # the server was quicker
                self._state.reset_stream(stream.stream_id, h2.errors.ErrorCodes.CANCEL)
            self._flush()
        if not self._streams:
            self.idle_since = self.loop.time()
            if self.draining:
                self.abort()
        self.on_room()

    def retire(self) -> None:
        """Take no new stream, and end with the last that is open."""
        self.draining = True
        if not self._streams:
            self.abort()

    def abort(self, failure: TransportError | None = None) -> None:
        """Close now; open streams fail."""
        self._lose(failure or TransportError(f"{self.server}: the connection was closed"))
        if self._transport is not None:
            abort(self._transport)

    async def closed(self) -> None:
        """Wait until the socket is gone."""
        await asyncio.shield(self._gone)

    # asyncio.Protocol

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Introduce ourselves and open the windows wide."""
        # Not checked: uvloop's transports are transports by shape only.
        self._transport = cast("asyncio.Transport", transport)
        tls = transport.get_extra_info("ssl_object")
        self.offered = self._is_plain or (tls is not None and tls.selected_alpn_protocol() == "h2")
        if not self.offered:
            return
        codes = h2.settings.SettingCodes
        self._state.local_settings = h2.settings.Settings(
            client=True,
            initial_values={
                codes.ENABLE_PUSH: 0,
                codes.INITIAL_WINDOW_SIZE: STREAM_WINDOW,
                codes.MAX_FRAME_SIZE: LARGEST_FRAME,
                codes.MAX_HEADER_LIST_SIZE: LARGEST_HEAD,
            },
        )
        self._state.max_inbound_frame_size = LARGEST_FRAME
        self._state.decoder.max_header_list_size = LARGEST_HEAD
        self._state.initiate_connection()
        self._state.increment_flow_control_window(CONNECTION_WINDOW)
        self._flush()
        self._last_received = self.loop.time()
        if not self._is_plain:
            self._timer = self.loop.call_later(READ_IDLE_TIMEOUT, self._check_health)

    def data_received(self, data: bytes) -> None:
        """Cut the bytes into frames; keep DATA of streaming answers, pass on the rest."""
        self._last_received = self.loop.time()
        self._ping_sent = False
        if self._tail:
            data = self._tail + data
        size = len(data)
        start = 0  # of the frame looked at
        passed = 0  # everything before it is dealt with
        streams = self._streams
        read_head = READ_HEAD
        while size - start >= FRAME_HEAD:
            high, low, kind, flags, stream_id = read_head(data, start)
            length = high << 8 | low
            end = start + FRAME_HEAD + length
            if length > LARGEST_FRAME:
                self._pass_on(data[passed:start])
                self._break_off(f"a frame of {length} bytes")
                return
            if end > size:
                break
            if kind == DATA and not flags & END_STREAM_OR_PADDED:
                if passed < start:
                    self._pass_on(data[passed:start])
                    passed = start
                stream = streams.get(stream_id & STREAM_ID)
                if stream is None or stream.cut_here:
                    passed = end
                    self._ungranted += length
                    if stream is not None and length:
                        stream.take_data(data[start + FRAME_HEAD : end])
            elif kind == GOAWAY:
                self._pass_on(data[passed:start])
                passed = end
                self._take_goaway(data[start + FRAME_HEAD : end])
            start = end
        if passed < start:
            self._pass_on(data[passed:start])
        self._tail = data[start:] if start < size else b""
        if self._ungranted >= CONNECTION_WINDOW // 4:
            self._write(_window_update(0, self._ungranted))
            self._ungranted = 0

    def eof_received(self) -> bool:
        """The server closed its half: the connection is over."""
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        """Fail what is open."""
        if exc is None:
            self._lose(TransportError(f"{self.server}: the server closed the connection"))
        else:
            failure = connection_failure(exc, self.server)
            failure.__cause__ = exc
            self._lose(failure)
        self._transport = None
        if not self._gone.done():
            self._gone.set_result(None)

    # inside

    async def _send_body(self, stream: Http2Stream, body: bytes) -> None:
        """Send the head, which h2 has ready, together with what there is room for of the body."""
        view = memoryview(body)
        if not view:
            self._flush()
        while view:
            if stream.failure is not None:
                raise stream.failure
            if stream.ended:
                return  # answered before we finished: the answer says why
            allowed = min(
                self._state.local_flow_control_window(stream.stream_id),
                self._state.max_outbound_frame_size,
            )
            if allowed <= 0:
                self._flush()
                if self._body_room is None:
                    self._body_room = self.loop.create_future()
                await asyncio.shield(self._body_room)
                continue
            piece, view = view[:allowed], view[allowed:]
            self._state.send_data(stream.stream_id, bytes(piece), end_stream=not view)
            self._flush()
        stream.sent = True

    def _pass_on(self, data: bytes) -> None:
        """Let the library read whole frames, and act on what it finds."""
        if self._lost is not None:
            return  # what follows garbage is not to be believed
        try:
            for event in self._state.receive_data(data):
                self._act_on(event)
        except h2.exceptions.ProtocolError as error:
            self._break_off(str(error), cause=error)
        else:
            self._flush()

    def _break_off(self, why: str, *, cause: Exception | None = None) -> None:
        """The server does not speak HTTP/2 as it should: nothing it says can be trusted."""
        self._flush()  # the library may have a GOAWAY to send
        failure = TransportError(f"{self.server}: the server broke HTTP/2: {why}")
        failure.__cause__ = cause
        self.abort(failure)

    def _act_on(self, event: h2.events.Event) -> None:
        match event:
            case h2.events.DataReceived() | h2.events.ResponseReceived():
                self._act_on_answer(event)
            case h2.events.TrailersReceived():
                if (stream := self._streams.get(event.stream_id or 0)) is not None:
                    stream.take_trailers(header_texts(event.headers or ()))
            case h2.events.StreamEnded() | h2.events.StreamReset():
                stream = self._streams.get(event.stream_id or 0)
                if stream is not None and isinstance(event, h2.events.StreamReset):
                    stream.take_failure(self._reset_failure(event))
                elif stream is not None:
                    stream.take_end()
                self._offer_body_room()
            case h2.events.WindowUpdated():
                self._offer_body_room()
            case h2.events.RemoteSettingsChanged():
                if not self.ready.done():
                    self.ready.set_result(None)
                self._offer_body_room()
                self.on_room()
            case _:
                pass  # acknowledgements and priorities change nothing here

    def _act_on_answer(self, event: h2.events.DataReceived | h2.events.ResponseReceived) -> None:
        stream = self._streams.get(event.stream_id or 0)
        if isinstance(event, h2.events.ResponseReceived):
            if stream is not None:
                stream.take_head(*_head(event.headers or ()))
            return
        size = event.flow_controlled_length or 0
        if stream is not None and event.data:
            stream.take_counted_data(event.data, size)
        else:
            self._state.acknowledge_received_data(size, event.stream_id or 0)

    def _reset_failure(self, event: h2.events.StreamReset) -> TransportError:
        code = event.error_code
        name = code.name if isinstance(code, h2.errors.ErrorCodes) else str(code)
        if code == h2.errors.ErrorCodes.REFUSED_STREAM:
            return Unprocessed(f"{self.server}: the server refused the stream")
        return TransportError(f"{self.server}: the server reset the stream ({name})")

    def _take_goaway(self, payload: bytes) -> None:
        """GOAWAY: the server will take no new stream; those it has not seen are safe to repeat.

        Kept from the library, which would take it for the end of the connection.
        """
        if len(payload) < 8:
            self._break_off("a GOAWAY that does not say what was seen")
            return
        self.draining = True
        last_seen = int.from_bytes(payload[:4], "big") & STREAM_ID
        for stream_id, stream in tuple(self._streams.items()):
            if stream_id > last_seen:
                stream.take_failure(Unprocessed(f"{self.server}: the server is going away"))
        self._offer_body_room()
        if not self._streams:
            self.abort()
        self.on_room()

    def _offer_body_room(self) -> None:
        room, self._body_room = self._body_room, None
        if room is not None and not room.done():
            room.set_result(None)

    def _check_health(self) -> None:
        """Ping a connection that has gone quiet, and end one that does not answer: half open."""
        quiet = self.loop.time() - self._last_received
        if quiet < READ_IDLE_TIMEOUT:
            self._timer = self.loop.call_later(READ_IDLE_TIMEOUT - quiet, self._check_health)
        elif not self._ping_sent:
            self._ping_sent = True
            self._state.ping(b"areuhere")
            self._flush()
            self._timer = self.loop.call_later(PING_TIMEOUT, self._check_health)
        else:
            self.abort(
                DeadlineExceeded(f"{self.server}: the connection is dead: a ping went unanswered")
            )

    def _lose(self, failure: TransportError) -> None:
        if self._lost is not None:
            return
        self._lost = failure
        if self._timer is not None:
            self._timer.cancel()
        if not self.ready.done():
            self.ready.set_exception(failure)
            self.ready.exception()  # nobody may be waiting any more
        for stream in tuple(self._streams.values()):
            stream.take_failure(own_failure(failure))
        self._offer_body_room()
        self.on_room()

    def _flush(self) -> None:
        self._write(self._state.data_to_send())

    def _write(self, data: bytes) -> None:
        if data and self._transport is not None and not self._transport.is_closing():
            self._transport.write(data)


def _head(fields: Iterable[tuple[bytes | str, bytes | str]]) -> tuple[int, dict[str, str]]:
    """The status and the headers."""
    headers = header_texts(fields)
    status = headers.pop(":status")
    if not (len(status) == 3 and status.isascii() and status.isdecimal()):
        raise h2.exceptions.ProtocolError(f"the status {status!r}")
    return int(status), headers


def _window_update(stream_id: int, size: int) -> bytes:
    head = (4).to_bytes(3, "big") + bytes((WINDOW_UPDATE, 0))
    return head + stream_id.to_bytes(4, "big") + size.to_bytes(4, "big")
