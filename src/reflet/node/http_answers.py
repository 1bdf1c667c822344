"""Just enough of HTTP to answer questions about this agent.

Owns: reading one request a connection, and writing one answer or a stream.  GET only, and small
requests only.  Must not know what is asked.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import ssl
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType, TracebackType
from typing import Final, Self
from urllib.parse import parse_qsl, unquote, urlsplit

from reflet.errors import ConfigurationError, RefletError
from reflet.runtime.tasks import TaskOwner

LONGEST_REQUEST: Final = 16 * 1024  # bytes of a request's head
PATIENCE: Final = 10.0  # seconds for a request to arrive
MOST_CONNECTIONS: Final = 256
TEXT: Final = "text/plain; charset=utf-8"

_WORDS: Final[Mapping[int, str]] = MappingProxyType(
    {
        200: "OK",
        400: "Bad Request",
        401: "Unauthorized",
        403: "Forbidden",
        404: "Not Found",
        405: "Method Not Allowed",
        500: "Internal Server Error",
        503: "Service Unavailable",
    }
)

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Question:
    """A request: its path in parts, its query, and the headers by lower-case name.

    *subject* and *groups* are those of a client certificate, empty when none was shown.
    """

    path: tuple[str, ...]
    query: Mapping[str, str]
    headers: Mapping[str, str] = field(repr=False)
    subject: str = ""
    groups: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer: text, or pieces that come one after the other."""

    status: int
    body: bytes | AsyncGenerator[bytes, None]
    content_type: str = TEXT


Answering = Callable[[Question], Awaitable[Answer]]


def text(status: int, words: str) -> Answer:
    """A short answer."""
    return Answer(status, f"{words}\n".encode())


class HttpAnswers:
    """Listens at an address while the context is open, and has *answering* answer.

    Port 0 takes a free one; ``port`` tells which.  With *context* only TLS is spoken, and who
    shows a certificate that it trusts is known by it.
    """

    def __init__(
        self,
        host: str,
        port: int,
        answering: Answering,
        *,
        context: ssl.SSLContext | None = None,
    ) -> None:
        self.host = host
        self.port = port
        self._answering = answering
        self._context = context
        self._tasks = TaskOwner(f"answers at {host}")
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.StreamWriter] = set()
        self._is_closed = False

    async def __aenter__(self) -> Self:
        patience = None if self._context is None else PATIENCE
        try:
            self._server = await asyncio.start_server(
                self._connected,
                self.host,
                self.port,
                limit=LONGEST_REQUEST,
                ssl=self._context,
                ssl_handshake_timeout=patience,
                ssl_shutdown_timeout=patience,
            )
        except OSError as error:
            raise ConfigurationError(
                f"cannot listen on {self.host} port {self.port}: {error.strerror or error}"
            ) from error
        self.port = self._server.sockets[0].getsockname()[1]
        await self._tasks.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._is_closed = True
        if self._server is not None:
            self._server.close()
        try:
            await self._tasks.__aexit__(kind, error, traceback)
        finally:
            for writer in self._open:  # of those whose task was cancelled before its first step
                writer.close()

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # One that was accepted before we closed may come afterwards.
        if self._is_closed or len(self._open) >= MOST_CONNECTIONS:
            writer.close()
            return
        self._open.add(writer)
        self._tasks.start(self._serve(reader, writer), name="request")

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            answer = await self._answer(reader, writer)
            await _write_while_heard(reader, writer, answer)
        except (ConnectionError, TimeoutError, ssl.SSLError):
            pass  # whoever asked is gone
        except (OSError, RefletError) as error:
            logger.warning("an answer is not finished: %s", error)
        finally:
            self._open.discard(writer)
            writer.close()
            try:
                with contextlib.suppress(OSError):
                    await writer.wait_closed()
            finally:
                writer.transport.abort()  # nobody waits any longer for the farewell of TLS

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> Answer:
        try:
            async with asyncio.timeout(PATIENCE):
                head = await reader.readuntil(b"\r\n\r\n")
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            return text(400, "this is no request")
        question = _question(head, *_subject(writer))
        if isinstance(question, Answer):
            return question
        try:
            return await self._answering(question)
        except Exception:
            logger.exception("a request failed: /%s", "/".join(question.path))
            return text(500, "the agent failed to answer; its log says why")


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
    words = _WORDS.get(answer.status, "Unknown")
    head = (
        f"HTTP/1.1 {answer.status} {words}\r\nContent-Type: {answer.content_type}\r\n"
        "Connection: close\r\nX-Content-Type-Options: nosniff\r\n"
    )
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
        async with asyncio.timeout(PATIENCE):
            await writer.drain()
    except TimeoutError:
        writer.transport.abort()  # what waits to be sent would keep the connection open
        raise


def _question(head: bytes, subject: str, groups: tuple[str, ...]) -> Question | Answer:
    first, *lines = head.decode("latin-1").split("\r\n")
    parts = first.split(" ")
    if len(parts) != 3 or not parts[2].startswith("HTTP/1."):
        return text(400, "this is no request")
    method, target, _ = parts
    if method != "GET":
        return text(405, "only GET is answered here")
    headers: dict[str, str] = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if colon:
            headers[name.strip().lower()] = value.strip()
    try:
        address = urlsplit(target)
    except ValueError:
        return text(400, "this is no address")
    path = tuple(unquote(part) for part in address.path.split("/") if part)
    query = dict(parse_qsl(address.query, keep_blank_values=True))
    return Question(path, query, headers, subject, groups)


def _subject(writer: asyncio.StreamWriter) -> tuple[str, tuple[str, ...]]:
    """The name and the organizations in the certificate that the other side has shown, if any."""
    certificate = writer.get_extra_info("peercert") or {}
    pairs = [pair for part in certificate.get("subject", ()) for pair in part]
    names = [str(value) for kind, value in pairs if kind == "commonName"]
    groups = tuple(str(value) for kind, value in pairs if kind == "organizationName")
    return (names[-1], groups) if names else ("", ())
