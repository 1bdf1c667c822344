"""``/exec/NAMESPACE/POD/CONTAINER``: what ``kubectl exec`` asks a node for.

Which command is meant, and carrying its streams; where the command runs is ``node.shim``.

Upstream: pkg/kubelet/server/server.go, Server.getExec;
    cri-streaming/pkg/streaming/remotecommand/exec.go, ServeExec
"""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from reflet.errors import RefletError, TransportError
from reflet.node.descriptor_budget import MOST_COMMANDS
from reflet.node.server.command_streams import CommandStreams, command_pipes, command_terminal
from reflet.node.server.log_service import WHEN_FULL, FindPod, Records
from reflet.node.server.upgrading import Agreed, agreed_protocol
from reflet.node.shim.protocol import ExecStream, ShimRefused
from reflet.pleg.runtime_status import RuntimeState
from reflet.runtime.tasks import TaskOwner
from reflet.transport.serving.http_answers import Answer, Question, Upgrade, text
from reflet.transport.upgrades.byte_streams import ByteStream
from reflet.transport.upgrades.channels import (
    PROTOCOLS,
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
QUIET: Final = 2.0  # seconds without output after which those a command left behind have no say
LONGEST_SIZE: Final = 4096  # bytes of a terminal's size as JSON
STREAM_TYPES: Final = {
    "stdin": STDIN,
    "stdout": STDOUT,
    "stderr": STDERR,
    "error": STATUS,
    "resize": RESIZE,
}

RunCommand = Callable[[ExecStream], Awaitable[int | None]]


@dataclass(frozen=True, slots=True)
class Wanted:
    """A command, and which streams it is to have."""

    container: str
    arguments: tuple[str, ...]
    streams: frozenset[int]
    tty: bool


class ExecService:
    """Runs commands in this node's containers, whoever asks, and carries their streams.

    At most *most* run at a time, since each keeps pipes open.  *folder* is for those.
    """

    def __init__(
        self,
        folder: Path,
        *,
        find_pod: FindPod,
        records: Records,
        run: RunCommand,
        most: int = MOST_COMMANDS,
    ) -> None:
        self._folder = folder
        self._find_pod = find_pod
        self._records = records
        self._run = run
        self._most = most
        self._full = f"{most} commands run, and no more fit: ask again later"
        self._running = 0

    async def answer(self, question: Question) -> Answer | Upgrade:
        """Answer one request for a command."""
        try:
            wanted = await self._wanted(question)
        except RefletError as error:
            return text(503, f"the container cannot be found now: {error}")
        if isinstance(wanted, Answer):
            return wanted
        agreed = agreed_protocol(question, websocket=PROTOCOLS, spdy=PROTOCOLS)
        if isinstance(agreed, Answer):
            return agreed
        if self._running >= self._most:
            return text(429, self._full, retry_after=WHEN_FULL)
        return Upgrade(agreed.headers, partial(self._serve, wanted, agreed))

    async def _wanted(self, question: Question) -> Wanted | Answer:
        match question.path:
            case (_, namespace, name, container):
                uid = ""
            case (_, namespace, name, uid, container):
                pass
            case _:
                return text(404, "commands are at /exec/NAMESPACE/POD/CONTAINER")
        pod = self._find_pod(namespace, name)
        if pod is None or uid not in ("", pod.metadata.uid):
            return text(404, f'pods "{name}" not found')
        flags = {"input": STDIN, "output": STDOUT, "error": STDERR}
        streams = {number for flag, number in flags.items() if _flag(question, flag)}
        tty = _flag(question, "tty")
        if tty:
            streams.discard(STDERR)  # it has none of its own
        if not streams:
            return text(400, "you must specify at least 1 of stdin, stdout, stderr")
        if not question.command:
            return text(400, "you must specify at least 1 command for the container")
        for record in await self._records(pod.metadata.uid):
            if record.name == container and record.state is RuntimeState.RUNNING:
                return Wanted(record.id, question.command, frozenset(streams), tty)
        return text(404, f'container not found ("{container}")')

    async def _serve(self, wanted: Wanted, agreed: Agreed, line: ByteStream) -> None:
        # Looked at again: of many who ask at the same moment all are agreed with.
        is_full = self._running >= self._most
        self._running += not is_full
        opened = _websocket_channels if agreed.is_websocket else _spdy_channels
        pipes = (
            command_terminal(wanted.streams)
            if wanted.tty
            else command_pipes(self._folder, wanted.streams)
        )
        try:
            async with opened(line, agreed.protocol, wanted) as (channels, reading):
                if is_full:
                    status: dict[str, Any] | None = _failure(self._full)
                else:
                    async with pipes as streams:
                        status = await self._run_until_left(wanted, channels, streams, reading)
                if status is not None:
                    await channels[STATUS].write(json.dumps(status).encode())
        finally:
            self._running -= not is_full

    async def _run_until_left(
        self,
        wanted: Wanted,
        channels: Mapping[int, Channel],
        streams: CommandStreams,
        reading: asyncio.Task[None],
    ) -> dict[str, Any] | None:
        """Run the command and carry its streams; None when whoever asked has left before."""
        order = ExecStream(
            id=wanted.container,
            arguments=wanted.arguments,
            command=secrets.token_hex(),
            streams=streams.paths,
            terminal=streams.is_terminal,
        )
        carrying = _Carrying()
        async with TaskOwner("streams of a command") as tasks:
            running = tasks.start(self._status(order), name="command")
            outputs = {
                tasks.start(carrying.output(reader, channels[number]), name="output of a command")
                for number, reader in streams.outputs.items()
            }
            if STDIN in wanted.streams:
                tasks.start(_input(channels[STDIN], streams), name="input of a command")
            if wanted.tty and RESIZE in channels:
                tasks.start(_sizes(channels[RESIZE], streams), name="size of a terminal")
            await asyncio.wait((running, reading), return_when=asyncio.FIRST_COMPLETED)
            if not running.done():
                return None
            streams.command_ended()
            while outputs:
                before = carrying.carried
                _, outputs = await asyncio.wait({*outputs}, timeout=QUIET)
                if reading.done() or (carrying.carried == before and not carrying.waits):
                    break
            return running.result()

    async def _status(self, order: ExecStream) -> dict[str, Any]:
        try:
            return exit_status(await self._run(order))
        except ShimRefused as error:
            return _failure(f"error executing command in container: {error}")
        except RefletError as error:
            return _failure(f"the command cannot be run now: {error}")


class _Carrying:
    """How much output has been carried, and whether somebody is slow to take it."""

    def __init__(self) -> None:
        self.carried = 0
        self.waits = 0

    async def output(self, reader: asyncio.StreamReader, channel: Channel) -> None:
        with suppress(OSError, TransportError):  # so a terminal ends, or whoever asked is gone
            while data := await reader.read(32 * 1024):
                self.waits += 1
                try:
                    await channel.write(data)
                finally:
                    self.waits -= 1
                self.carried += len(data)


async def _input(channel: Channel, streams: CommandStreams) -> None:
    with suppress(TransportError):
        while data := await channel.read():
            await streams.write(data)
        await streams.end_input()


async def _sizes(channel: Channel, streams: CommandStreams) -> None:
    """Take sizes as they come, one JSON document after the other."""
    decoder, said = json.JSONDecoder(), ""
    with suppress(TransportError):
        while data := await channel.read():
            said = (said + data.decode(errors="replace")).lstrip()[-LONGEST_SIZE:]
            while said:
                try:
                    size, end = decoder.raw_decode(said)
                    streams.resize(int(size["Width"]), int(size["Height"]))
                except json.JSONDecodeError:
                    break
                except (TypeError, KeyError, ValueError, OSError):
                    said = ""
                else:
                    said = said[end:].lstrip()


Channels = tuple[Mapping[int, Channel], "asyncio.Task[None]"]


@asynccontextmanager
async def _websocket_channels(
    line: ByteStream, protocol: str, wanted: Wanted
) -> AsyncIterator[Channels]:
    websocket = WebSocket(line, is_client=False)
    socket = ChannelSocket(websocket, protocol, incoming=(STDIN, RESIZE))
    # Some clients wait for a first word before they send any.
    await websocket.send(bytes((min(wanted.streams - {STDIN}, default=STATUS),)))
    reading = asyncio.create_task(socket.run(), name="channels of a command")
    try:
        yield dict(enumerate(socket.channels)), reading
    finally:
        reading.cancel()
        await asyncio.wait((reading,))
        await socket.close()


@asynccontextmanager
async def _spdy_channels(
    line: ByteStream,
    protocol: str,  # noqa: ARG001 - all that are agreed on are the same here
    wanted: Wanted,
) -> AsyncIterator[Channels]:
    opened: asyncio.Queue[SpdyStream | None] = asyncio.Queue()
    session = SpdySession(line, is_client=False, on_stream=opened.put_nowait)
    reading = asyncio.create_task(_read(session), name="streams of a command")
    reading.add_done_callback(lambda _: opened.put_nowait(None))
    expected = {*wanted.streams, STATUS} | ({RESIZE} if wanted.tty else set())
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
                else:
                    channels[number] = stream
        yield channels, reading
        for number in (STDOUT, STDERR, STATUS):
            if number in channels:
                await channels[number].finish()
    finally:
        reading.cancel()
        await asyncio.wait((reading,))
        await session.close()


async def _read(session: SpdySession) -> None:
    with suppress(TransportError):
        await session.run()


def exit_status(code: int | None) -> dict[str, Any]:
    """The Status of a command that ended; None is one that was killed."""
    if code == 0:
        return {"metadata": {}, "status": "Success"}
    returned = 137 if code is None else code
    return {
        "metadata": {},
        "status": "Failure",
        "reason": "NonZeroExitCode",
        "message": f"command terminated with non-zero exit code: {returned}",
        "details": {"causes": [{"reason": "ExitCode", "message": str(returned)}]},
    }


def _failure(message: str) -> dict[str, Any]:
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
