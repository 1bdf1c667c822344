"""The question of a gRPC probe: ``grpc.health.v1.Health/Check``, on a connection of its own.

Written over h2, with the little of the messages that is needed: a gRPC library would be the
heaviest dependency of all, for two bytes.  Here and not with the probes, because only transport
speaks HTTP.

Upstream: pkg/probe/grpc/grpc.go, Probe
"""

from __future__ import annotations

import asyncio
import ssl
import struct
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import unquote

import h2.config
import h2.connection
import h2.events
import h2.exceptions

from reflet.errors import TransportError

METHOD: Final = "/grpc.health.v1.Health/Check"
LONGEST_ANSWER: Final = 64 * 1024  # bytes; one that is well formed has two and a head
SERVING: Final = 1
SERVING_STATUSES: Final = ("UNKNOWN", "SERVING", "NOT_SERVING", "SERVICE_UNKNOWN")
OK: Final = 0
UNKNOWN_CODE: Final = 2
DEADLINE_EXCEEDED: Final = 4
UNIMPLEMENTED: Final = 12
_STATUS_FIELD: Final = 0x08  # of HealthCheckResponse: field 1, a number
_SERVICE_FIELD: Final = 0x0A  # of HealthCheckRequest: field 1, a text


@dataclass(frozen=True, slots=True)
class HealthAnswer:
    """How the call ended, and what the service said of itself if it ended well."""

    code: int
    message: str = ""
    status: int = 0


@dataclass(slots=True)
class _Call:
    """What has come of the one call so far."""

    body: bytearray = field(default_factory=bytearray)
    headers: dict[str, str] = field(default_factory=dict)
    is_over: bool = False

    def take(self, event: h2.events.Event) -> None:
        """Note what happened."""
        match event:
            case h2.events.ResponseReceived() | h2.events.TrailersReceived():
                self.headers |= _texts(event.headers or ())
            case h2.events.DataReceived():
                self.body += event.data or b""
            case h2.events.StreamEnded():
                self.is_over = True
            case h2.events.StreamReset() | h2.events.ConnectionTerminated():
                raise TransportError("the server ended the call")
            case _:
                pass

    def answer(self) -> HealthAnswer:
        """What the whole call says."""
        if (status := self.headers.get(":status", "")) != "200":
            return HealthAnswer(UNKNOWN_CODE, f"unexpected HTTP status code: {status}")
        code = self.headers.get("grpc-status", "")
        if code != str(OK):
            message = unquote(self.headers.get("grpc-message", ""))
            return HealthAnswer(int(code) if code.isdecimal() else UNKNOWN_CODE, message)
        return HealthAnswer(OK, status=serving_status(bytes(self.body)))


async def check_health(
    host: str, port: int, service: str, *, agent: str, tls: ssl.SSLContext | None = None
) -> HealthAnswer:
    """Ask how a service is; the time that it may take is the caller's to limit.

    Raises OSError when no connection can be opened, TransportError when it breaks.
    """
    reader, writer = await asyncio.open_connection(host, port, ssl=tls)
    connection = h2.connection.H2Connection(h2.config.H2Configuration(client_side=True))
    try:
        connection.initiate_connection()
        stream = connection.get_next_available_stream_id()
        connection.send_headers(stream, _headers(host, port, agent, tls is not None))
        connection.send_data(stream, question(service), end_stream=True)
        writer.write(connection.data_to_send())
        return await _answer(connection, reader, writer)
    except (h2.exceptions.ProtocolError, ValueError) as error:
        raise TransportError("the server does not speak gRPC") from error
    finally:
        writer.transport.abort()


def question(service: str) -> bytes:
    """The request's message, with its head of five bytes."""
    name = service.encode()
    message = bytes((_SERVICE_FIELD, *_varint(len(name)))) + name if name else b""
    return struct.pack("!BL", 0, len(message)) + message


def serving_status(body: bytes) -> int:
    """The status in an answer's message; a message without one means the first."""
    message = body[5:]
    return message[1] if len(message) > 1 and message[0] == _STATUS_FIELD else 0


async def _answer(
    connection: h2.connection.H2Connection,
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
) -> HealthAnswer:
    call = _Call()
    while not call.is_over:
        received = await reader.read(LONGEST_ANSWER)
        if not received:
            raise TransportError("the server closed the connection")
        for event in connection.receive_data(received):
            call.take(event)
        # No room is ever given back, so no answer is longer than the first window.
        writer.write(connection.data_to_send())
    return call.answer()


def _headers(host: str, port: int, agent: str, is_tls: bool) -> list[tuple[str, str]]:
    place = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    return [
        (":method", "POST"),
        (":scheme", "https" if is_tls else "http"),
        (":authority", place),
        (":path", METHOD),
        ("content-type", "application/grpc"),
        ("user-agent", agent),
        ("te", "trailers"),
    ]


def _texts(headers: Iterable[tuple[Any, Any]]) -> dict[str, str]:
    return {_text(name): _text(value) for name, value in headers}


def _text(value: bytes | str) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else value


def _varint(number: int) -> Iterable[int]:
    while number > 0x7F:
        yield number & 0x7F | 0x80
        number >>= 7
    yield number
