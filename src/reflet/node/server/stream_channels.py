"""The channels between whoever asks for a container's streams and the node.

What ``/exec`` and ``/attach`` have in common: which container and which streams are meant, how many
may be served at a time, and the channels, over WebSocket or SPDY/3.1.

Upstream: cri-streaming/pkg/streaming/remotecommand/{httpstream,websocket}.go, createStreams
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Final

from reflet.api.core.pods import Pod
from reflet.errors import RefletError, TransportError
from reflet.node.server.log_service import WHEN_FULL, FindPod
from reflet.node.server.upgrading import Agreed
from reflet.node.shim.container_records import ContainerRecord
from reflet.pleg.runtime_status import RuntimeState
from reflet.transport.serving.http_answers import Answer, Question, text
from reflet.transport.upgrades.byte_streams import FAREWELL, ByteStream
from reflet.transport.upgrades.channels import (
    RESIZE,
    STATUS,
    STDERR,
    STDIN,
    STDOUT,
    Channel,
    ChannelSocket,
)
from reflet.transport.upgrades.spdy import SpdySession, SpdyStream
from reflet.transport.upgrades.websocket import WebSocket

STREAMS_TIMEOUT: Final = 30.0  # seconds for a SPDY client to open its streams, as the kubelet has
STREAM_TYPES: Final = {
    "stdin": STDIN,
    "stdout": STDOUT,
    "stderr": STDERR,
    "error": STATUS,
    "resize": RESIZE,
}
INCOMING: Final = (STDIN, RESIZE)
SUCCESS: Final[Mapping[str, Any]] = {"metadata": {}, "status": "Success"}

Records = Callable[[str], Awaitable[list[ContainerRecord]]]
"""All about the containers of a pod, the newest life first."""
Channels = tuple[Mapping[int, Channel], "asyncio.Task[None]"]
"""The channels by number, and the task that reads them: it ends when whoever asked is gone."""
Carry = Callable[[Mapping[int, Channel], "asyncio.Task[None]"], Awaitable[Mapping[str, Any] | None]]
"""Gives the Status to tell; None when whoever asked has left before."""


@dataclass(frozen=True, slots=True)
class AskedStreams:
    """Which container of which pod is meant, and which of its streams."""

    pod: Pod
    container: str
    streams: frozenset[int]
    tty: bool

    async def running(self, records: Records, *, missing: str) -> ContainerRecord | Answer:
        """The container's life of now; with *missing* as the answer when it does not run."""
        try:
            found = await records(self.pod.metadata.uid)
        except RefletError as error:
            return text(503, f"the container cannot be found now: {error}")
        for record in found:
            if record.name == self.container and record.state is RuntimeState.RUNNING:
                return record
        return text(404, missing)


def asked_streams(question: Question, find_pod: FindPod) -> AskedStreams | Answer:
    """Read ``/KIND/NAMESPACE/POD/CONTAINER``, also with the pod's uid before the container."""
    match question.path:
        case (_, namespace, name, container):
            uid = ""
        case (_, namespace, name, uid, container):
            pass
        case (kind, *_):
            return text(404, f"this is answered at /{kind}/NAMESPACE/POD/CONTAINER")
        case _:
            return text(404, "there is no such page")
    pod = find_pod(namespace, name)
    if pod is None or uid not in ("", pod.metadata.uid):
        return text(404, f'pods "{name}" not found')
    flags = {"input": STDIN, "output": STDOUT, "error": STDERR}
    streams = {number for flag, number in flags.items() if _flag(question, flag)}
    tty = _flag(question, "tty")
    if tty:
        streams.discard(STDERR)  # it has none of its own
    if not streams:
        return text(400, "you must specify at least 1 of stdin, stdout, stderr")
    return AskedStreams(pod, container, frozenset(streams), tty)


class StreamPlaces:
    """How many are served at a time: at most *most*, since each keeps files and pipes open."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._taken = 0
        self.why_not = f"{most} commands run or are attached to, and no more fit: ask again later"

    def refusal(self) -> Answer | None:
        """What to answer when there is no place."""
        if self._taken < self._most:
            return None
        return text(429, self.why_not, retry_after=WHEN_FULL)

    @contextmanager
    def place(self) -> Iterator[bool]:
        """Take a place while the context is open; False when there is none any more.

        Of many who ask at the same moment all are agreed with, before any of them is served.
        """
        has_place = self._taken < self._most
        self._taken += has_place
        try:
            yield has_place
        finally:
            self._taken -= has_place


def opened_channels(
    line: ByteStream, agreed: Agreed, streams: frozenset[int], *, tty: bool
) -> AbstractAsyncContextManager[Channels]:
    """The channels for these streams and the status, with a terminal also for its sizes.

    Leaving the context in order ends the connection when the other side has taken everything.
    """
    if agreed.is_websocket:
        return _websocket_channels(line, agreed.protocol, streams)
    expected = {*streams, STATUS} | ({RESIZE} if tty else set())
    return _spdy_channels(line, expected)


async def serve_channels(
    places: StreamPlaces, asked: AskedStreams, agreed: Agreed, line: ByteStream, carry: Carry
) -> None:
    """Let *carry* carry the streams if there is a place, and say how that ended."""
    with places.place() as has_place:
        async with opened_channels(line, agreed, asked.streams, tty=asked.tty) as opened:
            status = await carry(*opened) if has_place else failure(places.why_not)
            if status is not None:
                await opened[0][STATUS].write(json.dumps(status).encode())


@asynccontextmanager
async def _websocket_channels(
    line: ByteStream, protocol: str, streams: frozenset[int]
) -> AsyncIterator[Channels]:
    websocket = WebSocket(line, is_client=False)
    socket = ChannelSocket(websocket, protocol, incoming=INCOMING)
    # Some clients wait for a first word before they send any.
    await websocket.send(bytes((min(streams - {STDIN}, default=STATUS),)))
    reading = asyncio.create_task(socket.run(), name="channels of a container")
    try:
        yield dict(enumerate(socket.channels)), reading
        socket.drop()
        await until_taken(websocket.finish(), reading)
    finally:
        reading.cancel()
        await asyncio.wait((reading,))
        await socket.close()


@asynccontextmanager
async def _spdy_channels(line: ByteStream, expected: set[int]) -> AsyncIterator[Channels]:
    opened: asyncio.Queue[SpdyStream | None] = asyncio.Queue()
    session = SpdySession(line, is_client=False, on_stream=opened.put_nowait)
    reading = asyncio.create_task(_read(session), name="streams of a container")
    reading.add_done_callback(lambda _: opened.put_nowait(None))
    channels: dict[int, SpdyStream] = {}
    try:
        async with asyncio.timeout(STREAMS_TIMEOUT):
            while expected - channels.keys():
                stream = await opened.get()
                if stream is None:
                    raise TransportError("whoever asked is gone")
                number = STREAM_TYPES.get(stream.headers.get("streamtype", ""))
                if number is None or number in channels:
                    await stream.reset()
                    continue
                channels[number] = stream
                if number not in INCOMING:
                    stream.inbox.drop()
        # Else whoever opens one after the other, and resets it, would fill our memory.
        session.refuse_streams()
        yield channels, reading
        for number, stream in channels.items():
            stream.inbox.drop()
            if number not in INCOMING:
                await stream.finish()
        await until_taken(line.flush(), reading)
    finally:
        reading.cancel()
        await asyncio.wait((reading,))
        await session.close()


async def _read(session: SpdySession) -> None:
    with suppress(TransportError):
        await session.run()


async def until_taken(finishing: Coroutine[Any, Any, None], reading: asyncio.Task[None]) -> None:
    """Wait until all that was said has been taken, and a moment for the other side's farewell.

    Whoever closes a connection on which something is unread takes back what is on its way.
    """
    flushing = asyncio.create_task(finishing, name="last words to whoever asked")
    try:
        await asyncio.wait((flushing, reading), return_when=asyncio.FIRST_COMPLETED)
        await asyncio.wait((reading,), timeout=FAREWELL)
    finally:
        flushing.cancel()
        await asyncio.gather(flushing, return_exceptions=True)


def failure(message: str) -> dict[str, Any]:
    """The Status that says why nothing was done."""
    return {
        "metadata": {},
        "status": "Failure",
        "reason": "InternalError",
        "message": f"Internal error occurred: {message}",
        "details": {"causes": [{"message": message}]},
        "code": 500,
    }


def _flag(question: Question, name: str) -> bool:
    return question.query.get(name, "").lower() in {"true", "1"}
