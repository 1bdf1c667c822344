"""A small HTTP server for health, metrics and logs: one request a connection, and one answer to it.

A connection counts from the moment it is accepted, before a word of TLS, and each step of it has
its time: a flood of slow or silent clients takes no place for long.  Who may stay when the port is
full is for ``connections`` to say.  Why not ``aiohttp.web``: docs/adr/0014.

Upstream: pkg/kubelet/server/server.go, ListenAndServeKubeletServer
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
import ssl
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from http import HTTPStatus
from typing import Final, Self
from urllib.parse import parse_qsl, unquote, urlsplit

from reflet.errors import RefletError, TransportError
from reflet.runtime.permanent_tasks import PermanentTasks
from reflet.runtime.sockets import abort
from reflet.runtime.tasks import Failure, TaskOwner
from reflet.transport.serving.connections import (
    MOST_CONNECTIONS,
    ConnectionPlace,
    ConnectionPlaces,
    accept_all,
    listening_sockets,
    peer_of,
    streams_of,
    until_left,
)
from reflet.transport.upgrades.byte_streams import KEEPALIVE, ByteStream, SocketBytes

LONGEST_REQUEST: Final = 16 * 1024  # bytes of a request's head
REQUEST_TIMEOUT: Final = 10.0  # seconds for a request to arrive, or a piece to be read
HANDSHAKE_TIMEOUT: Final = 5.0  # seconds for TLS to be agreed on
TEXT: Final = "text/plain; charset=utf-8"

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Question:
    """A request: its path in parts, its query, and the headers by lower-case name.

    *target* is path and query as they were sent.
    *subject* and *groups* are those of a client certificate, empty when none was shown.  *peer*
    is whom the connection is counted for.  *is_reader* says that the API server lets them ask.
    *command* and *ports* are the values that the query has of ``command`` and ``port``, which may
    come more than once.
    """

    path: tuple[str, ...]
    query: Mapping[str, str]
    headers: Mapping[str, str] = field(repr=False)
    subject: str = ""
    groups: tuple[str, ...] = ()
    peer: str = ""
    is_reader: bool = False
    command: tuple[str, ...] = field(default=(), repr=False)
    target: str = field(default="", repr=False)
    ports: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer: text, or pieces that come one after the other.

    *retry_after* is in how many seconds it may be another one; 0 when nobody can say.  *headers*
    come beside those that every answer has.
    """

    status: int
    body: bytes | AsyncGenerator[bytes, None]
    content_type: str = TEXT
    retry_after: int = 0
    headers: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Upgrade:
    """From here on the connection speaks another protocol, as *serve* does.

    *serve* returns when all is said, and must end when the line does.  When it cannot see that,
    because it waits for others, or nothing moves for four hours, it is cancelled.  *give_up* is
    called instead where whoever asked is gone before that: it lets go of what *serve* was to use.
    """

    headers: tuple[tuple[str, str], ...]
    serve: Callable[[ByteStream], Awaitable[None]]
    give_up: Callable[[], None] = lambda: None


Answering = Callable[[Question], Awaitable[Answer | Upgrade]]


def text(status: int, words: str, *, retry_after: int = 0) -> Answer:
    """A short answer."""
    return Answer(status, f"{words}\n".encode(), retry_after=retry_after)


class HttpAnswers:
    """Listens at an address while the context is open, and has *answering* answer.

    Port 0 takes a free one; ``port`` tells which.  With *context* only TLS is spoken, and who
    shows a certificate that it trusts is known by it.  At most *most* connections are open at a
    time, half of them from one peer.  *permanent* keeps the tasks that accept them.
    """

    def __init__(
        self,
        host: str,
        port: int,
        answering: Answering,
        *,
        context: ssl.SSLContext | None = None,
        most: int = MOST_CONNECTIONS,
        permanent: PermanentTasks | None = None,
    ) -> None:
        self.host = host
        self.port = port
        self._answering = answering
        self._context = context
        self._places = ConnectionPlaces(most)
        self._tasks = TaskOwner(f"answers at {host}")
        self._permanent = permanent or PermanentTasks()
        self._listening: list[socket.socket] = []

    async def __aenter__(self) -> Self:
        self._listening = await listening_sockets(self.host, self.port)
        self.port = self._listening[0].getsockname()[1]
        await self._tasks.__aenter__()
        name = "plain port" if self._context is None else "port with TLS"
        for each in self._listening:
            # Each a task of the owner, who cancels it: in a group of tasks it would hear of the end
            # a turn later, and could take a connection that nobody serves any more.
            accepting = partial(accept_all, each, self._accepted)
            self._permanent.keep(self._tasks, accepting, name=name)
        return self

    async def __aexit__(self, *failure: *Failure) -> None:
        try:
            await self._tasks.__aexit__(*failure)
        finally:
            for each in self._listening:
                each.close()

    def _accepted(self, connection: socket.socket, address: str) -> None:
        place = ConnectionPlace(peer_of(address))
        if not self._places.take(place):
            connection.close()
            return
        task = self._tasks.start(self._serve(connection, place), name="request")
        place.dismiss = task.cancel

        def ended(_: object) -> None:
            self._places.leave(place)
            connection.close()  # for a task that was cancelled before its first step

        task.add_done_callback(ended)

    async def _serve(self, connection: socket.socket, place: ConnectionPlace) -> None:
        try:
            reader, writer = await self._opened(connection)
        except (OSError, TimeoutError):
            return  # whoever it was does not speak TLS, or is gone
        try:
            answer = await self._answer(reader, writer, place)
            if isinstance(answer, Upgrade):
                await _switch(reader, writer, answer)
            else:
                await _write_while_heard(reader, writer, answer)
        except asyncio.CancelledError:
            # In the middle of an answer: who does not read would be waited for for ever, and the
            # program with them.
            abort(writer.transport)
            raise
        except (ConnectionError, TimeoutError, TransportError, ssl.SSLError):
            pass  # whoever asked is gone
        except (OSError, RefletError) as error:
            logger.warning("an answer is not finished: %s", error)
        finally:
            place.has_asked = False  # all is said: waiting for a farewell keeps nobody out
            writer.close()
            try:
                with contextlib.suppress(OSError):
                    await writer.wait_closed()
            finally:
                abort(writer.transport)  # nobody waits any longer for the farewell of TLS

    async def _opened(
        self, connection: socket.socket
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if self._context is None:
            return await streams_of(connection, longest=LONGEST_REQUEST)
        return await streams_of(
            connection,
            longest=LONGEST_REQUEST,
            ssl=self._context,
            ssl_handshake_timeout=HANDSHAKE_TIMEOUT,
            ssl_shutdown_timeout=REQUEST_TIMEOUT,
        )

    async def _answer(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, place: ConnectionPlace
    ) -> Answer | Upgrade:
        try:
            async with asyncio.timeout(REQUEST_TIMEOUT):
                head = await reader.readuntil(b"\r\n\r\n")
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            return text(400, "this is no request")
        place.has_asked = True
        question = _question(head, *_subject(writer), place.peer)
        if isinstance(question, Answer):
            return question
        try:
            return await self._answering(question)
        except Exception:
            logger.exception("a request failed: /%s", "/".join(question.path))
            return text(500, "this could not be answered; the log says why")


async def _switch(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, upgrade: Upgrade
) -> None:
    connection = writer.get_extra_info("socket")
    lines = "".join(f"{name}: {value}\r\n" for name, value in upgrade.headers)
    try:
        if writer.is_closing():
            raise ConnectionResetError
        for level, option, value in KEEPALIVE:  # who is gone without a word must not stay for ever
            connection.setsockopt(level, option, value)
        writer.write(f"HTTP/1.1 101 Switching Protocols\r\n{lines}\r\n".encode())
        await _drained(writer)
    except BaseException:
        upgrade.give_up()
        raise
    line = SocketBytes(reader, writer, "the connection")
    serving = asyncio.create_task(_served(upgrade, line), name="upgraded connection")
    leaving = asyncio.create_task(until_left(connection, line), name="look for who has left")
    try:
        await asyncio.wait((serving, leaving), return_when=asyncio.FIRST_COMPLETED)
        if serving.done():
            await serving
    finally:
        for task in (serving, leaving):
            task.cancel()
        await asyncio.gather(serving, leaving, return_exceptions=True)


async def _served(upgrade: Upgrade, line: SocketBytes) -> None:
    await upgrade.serve(line)


async def _write_while_heard(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, answer: Answer
) -> None:
    """Write until the end, or until whoever asked is gone: a quiet stream would never notice."""
    writing = asyncio.ensure_future(_write(writer, answer))
    leaving = asyncio.ensure_future(_until_gone(reader))
    try:
        await asyncio.wait((writing, leaving), return_when=asyncio.FIRST_COMPLETED)
        if writing.done():
            await writing
    finally:
        for task in (writing, leaving):
            task.cancel()
        await asyncio.wait((writing, leaving))


async def _until_gone(reader: asyncio.StreamReader) -> None:
    try:
        while await reader.read(LONGEST_REQUEST):
            pass
    except OSError:
        return


async def _write(writer: asyncio.StreamWriter, answer: Answer) -> None:
    head = (
        f"HTTP/1.1 {answer.status} {HTTPStatus(answer.status).phrase}\r\n"
        f"Content-Type: {answer.content_type}\r\n"
        "Connection: close\r\nX-Content-Type-Options: nosniff\r\n"
    )
    if answer.retry_after:
        head += f"Retry-After: {answer.retry_after}\r\n"
    head += "".join(f"{name}: {value}\r\n" for name, value in answer.headers)
    if isinstance(answer.body, bytes):
        writer.write(f"{head}Content-Length: {len(answer.body)}\r\n\r\n".encode() + answer.body)
        await _drained(writer)
        return
    writer.write(f"{head}Transfer-Encoding: chunked\r\n\r\n".encode())
    async with contextlib.aclosing(answer.body) as pieces:
        async for piece in pieces:
            if piece:  # one of no length would say that this is the end
                writer.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
                await _drained(writer)
    writer.write(b"0\r\n\r\n")
    await _drained(writer)


async def _drained(writer: asyncio.StreamWriter) -> None:
    """Wait until the other side has read most of it; TimeoutError when it does not read at all."""
    try:
        async with asyncio.timeout(REQUEST_TIMEOUT):
            await writer.drain()
    except TimeoutError:
        abort(writer.transport)  # what waits to be sent would keep the connection open
        raise


def _question(head: bytes, subject: str, groups: tuple[str, ...], peer: str) -> Question | Answer:
    first, *lines = head.decode("latin-1").split("\r\n")
    parts = first.split(" ")
    if len(parts) != 3 or not parts[2].startswith("HTTP/1."):
        return text(400, "this is no request")
    method, target, _ = parts
    headers: dict[str, str] = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if colon:
            key = name.strip().lower()
            headers[key] = ", ".join(filter(None, (headers.get(key), value.strip())))
    if method != "GET" and not (method == "POST" and "upgrade" in headers):
        return text(405, "only GET is answered here, and POST that asks for an upgrade")
    try:
        address = urlsplit(target)
    except ValueError:
        return text(400, "this is no address")
    path = tuple(unquote(part) for part in address.path.split("/") if part)
    pairs = parse_qsl(address.query, keep_blank_values=True)
    command, ports = (
        tuple(value for name, value in pairs if name == many) for many in ("command", "port")
    )
    who = subject, groups, peer
    return Question(path, dict(pairs), headers, *who, command=command, ports=ports, target=target)


def _subject(writer: asyncio.StreamWriter) -> tuple[str, tuple[str, ...]]:
    """The name and the organizations in the certificate that the other side has shown, if any."""
    certificate = writer.get_extra_info("peercert") or {}
    pairs = [pair for part in certificate.get("subject", ()) for pair in part]
    names = [str(value) for kind, value in pairs if kind == "commonName"]
    groups = tuple(str(value) for kind, value in pairs if kind == "organizationName")
    return (names[-1], groups) if names else ("", ())
