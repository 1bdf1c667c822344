"""``/attach/NAMESPACE/POD/CONTAINER``: what ``kubectl attach`` asks a node for.

A container's output comes from its log, from now on: so whoever reads slowly does not stop it, and
misses nothing that the log still has, and another shim changes nothing.  Its input is a pipe that
it has with ``stdin``; there are no terminals.

Upstream: pkg/kubelet/server/server.go, Server.getAttach;
    cri-streaming/pkg/streaming/remotecommand/attach.go, ServeAttach
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import aclosing, suppress
from functools import partial
from itertools import groupby
from typing import Any, Final

from reflet.errors import RefletError, TransportError
from reflet.node.server.command_streams import carry_input, container_input
from reflet.node.server.log_reading import LogChoice, LogReader
from reflet.node.server.log_service import FindPod, goes_on
from reflet.node.server.stream_channels import (
    SUCCESS,
    AskedStreams,
    Records,
    StreamPlaces,
    asked_streams,
    serve_channels,
)
from reflet.node.server.upgrading import Agreed, agreed_protocol
from reflet.node.shim.container_records import ContainerRecord
from reflet.node.shim.container_streams import STDIN as STDIN_PIPE
from reflet.resolution.places import containers_of
from reflet.runtime.clock import Clock
from reflet.runtime.tasks import TaskOwner
from reflet.transport.serving.http_answers import Answer, Question, Upgrade, text
from reflet.transport.upgrades.byte_streams import FAREWELL, ByteStream
from reflet.transport.upgrades.channels import PROTOCOLS, STDERR, STDIN, STDOUT, Channel

LOOK_EVERY: Final = 0.1  # seconds between two looks for output: somebody may sit and wait for it
FROM_NOW_ON: Final = LogChoice(follow=True, tail_lines=0, raw=True)
OUTPUTS: Final = {b"stdout": STDOUT, b"stderr": STDERR}

CloseStdin = Callable[[str], Awaitable[bool]]


class AttachService:
    """Attaches to this node's containers, whoever asks.

    *close_stdin* ends the input of a container that reads once only.  Who reads logs takes
    *turns*.
    """

    def __init__(
        self,
        *,
        find_pod: FindPod,
        records: Records,
        close_stdin: CloseStdin,
        places: StreamPlaces,
        turns: asyncio.Semaphore,
        clock: Clock,
    ) -> None:
        self._find_pod = find_pod
        self._records = records
        self._close_stdin = close_stdin
        self._places = places
        self._turns = turns
        self._clock = clock

    async def answer(self, question: Question) -> Answer | Upgrade:
        """Answer one request to attach."""
        asked = asked_streams(question, self._find_pod)
        if isinstance(asked, Answer):
            return asked
        pod = asked.pod.metadata
        missing = f"container {asked.container} not found in pod {pod.name}_{pod.namespace}"
        record = await asked.running(self._records, missing=missing)
        if isinstance(record, Answer):
            return record
        problem = why_not(asked, record)
        if problem is not None:
            return text(400, problem)
        agreed = agreed_protocol(question, websocket=PROTOCOLS, spdy=PROTOCOLS)
        if isinstance(agreed, Answer):
            return agreed
        serve = partial(self._serve, asked, record, agreed)
        return self._places.refusal() or Upgrade(agreed.headers, serve)

    async def _serve(
        self, asked: AskedStreams, record: ContainerRecord, agreed: Agreed, line: ByteStream
    ) -> None:
        # Opened first: what is written once somebody is attached is not missed.
        async with LogReader(record.log, FROM_NOW_ON, turns=self._turns) as log:
            carry = partial(self._carry, asked, record, log)
            await serve_channels(self._places, asked, agreed, line, carry)

    async def _carry(
        self,
        asked: AskedStreams,
        record: ContainerRecord,
        log: LogReader,
        channels: Mapping[int, Channel],
        reading: asyncio.Task[None],
    ) -> Mapping[str, Any] | None:
        """Carry the streams until the container ends; None when whoever asked has left before.

        Whoever ends the input of a container that does not read once only lets go, too.
        """
        async with TaskOwner("attached streams") as tasks:
            wanted = {number: channels[number] for number in asked.streams - {STDIN}}
            output = tasks.start(self._output(record, log, wanted), name="output of a container")
            ends: set[asyncio.Task[None]] = {output, reading}
            if STDIN in asked.streams:
                carrying = self._input(record, channels[STDIN])
                stdin = tasks.start(carrying, name="input of a container")
                if not record.stdin_once:
                    ends.add(stdin)
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
            if STDIN in asked.streams and not output.done():
                await asyncio.wait((stdin,), timeout=FAREWELL)  # what was sent last
            return None if reading.done() else SUCCESS

    async def _output(
        self, record: ContainerRecord, log: LogReader, channels: Mapping[int, Channel]
    ) -> None:
        is_running = partial(goes_on, record, self._records)
        with suppress(TransportError):  # whoever asked is gone
            async with aclosing(
                log.pieces(is_running, clock=self._clock, look_every=LOOK_EVERY)
            ) as pieces:
                async for piece in pieces:
                    for number, data in by_stream(piece):
                        if number in channels:
                            await channels[number].write(data)

    async def _input(self, record: ContainerRecord, channel: Channel) -> None:
        try:
            async with container_input(record.pipe(STDIN_PIPE)) as streams:
                await carry_input(channel, streams)
        except OSError:
            await asyncio.Event().wait()  # it reads no more: what comes has nobody to go to
        finally:
            if record.stdin_once:
                with suppress(RefletError):  # it has ended
                    await self._close_stdin(record.id)


def why_not(asked: AskedStreams, record: ContainerRecord) -> str | None:
    """Why nobody can attach to these streams of a container; None when they can."""
    name = asked.container
    containers = (placed.container for placed in containers_of(asked.pod.spec))
    if asked.tty and any(each.tty for each in containers if each.name == name):
        return f"container {name} has no terminal: there are none on this node"
    if STDIN not in asked.streams:
        return None
    if not record.stdin:
        return f"container {name} has no stdin to attach to: its spec does not ask for one"
    if not record.pipe(STDIN_PIPE).exists():
        return f"the stdin of container {name} is closed: it is read once, and was attached to"
    return None


def by_stream(block: bytes) -> Iterator[tuple[int, bytes]]:
    """Take whole lines of a log apart: which channel, and what was written there."""
    lines = (line.split(b" ", 3) for line in block.split(b"\n"))
    texts = (
        (OUTPUTS[fields[1]], fields[3] if fields[2] == b"P" else fields[3] + b"\n")
        for fields in lines
        if len(fields) == 4 and fields[1] in OUTPUTS
    )
    for number, group in groupby(texts, key=lambda each: each[0]):
        yield number, b"".join(data for _, data in group)
