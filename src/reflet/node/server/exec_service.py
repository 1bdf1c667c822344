"""``/exec/NAMESPACE/POD/CONTAINER``: what ``kubectl exec`` asks a node for.

Which command is meant, and carrying its streams; where the command runs is ``node.shim``.

Upstream: pkg/kubelet/server/server.go, Server.getExec;
    cri-streaming/pkg/streaming/remotecommand/exec.go, ServeExec
"""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Final

from msgspec.structs import replace

from reflet.errors import RefletError, TransportError
from reflet.node.server.command_streams import (
    CommandStreams,
    carry_input,
    command_pipes,
    command_terminal,
)
from reflet.node.server.log_service import FindPod
from reflet.node.server.stream_channels import (
    SUCCESS,
    AskedStreams,
    Records,
    StreamPlaces,
    asked_streams,
    failure,
    serve_channels,
)
from reflet.node.server.upgrading import agreed_protocol
from reflet.node.shim.protocol import ExecStream, ShimRefused
from reflet.runtime.tasks import TaskOwner
from reflet.transport.serving.http_answers import Answer, Question, Upgrade, text
from reflet.transport.upgrades.channels import PROTOCOLS, RESIZE, STDIN, Channel

QUIET: Final = 2.0  # seconds without output after which those a command left behind have no say
LONGEST_SIZE: Final = 4096  # bytes of a terminal's size as JSON

RunCommand = Callable[[ExecStream], Awaitable[int | None]]


class ExecService:
    """Runs commands in this node's containers, whoever asks, and carries their streams.

    *folder* is for the pipes of commands.
    """

    def __init__(
        self,
        folder: Path,
        *,
        find_pod: FindPod,
        records: Records,
        run: RunCommand,
        places: StreamPlaces,
    ) -> None:
        self._folder = folder
        self._find_pod = find_pod
        self._records = records
        self._run = run
        self._places = places

    async def answer(self, question: Question) -> Answer | Upgrade:
        """Answer one request for a command."""
        asked = asked_streams(question, self._find_pod)
        if isinstance(asked, Answer):
            return asked
        if not question.command:
            return text(400, "you must specify at least 1 command for the container")
        missing = f'container not found ("{asked.container}")'
        record = await asked.running(self._records, missing=missing)
        if isinstance(record, Answer):
            return record
        agreed = agreed_protocol(question, websocket=PROTOCOLS, spdy=PROTOCOLS)
        if isinstance(agreed, Answer):
            return agreed
        order = ExecStream(
            id=record.id,
            arguments=question.command,
            command=secrets.token_hex(),
            streams=("", "", ""),
        )
        carry = partial(self._run_until_left, asked, order)
        serve = partial(serve_channels, self._places, asked, agreed, carry=carry)
        return self._places.refusal() or Upgrade(agreed.headers, serve)

    async def _run_until_left(
        self,
        asked: AskedStreams,
        order: ExecStream,
        channels: Mapping[int, Channel],
        reading: asyncio.Task[None],
    ) -> Mapping[str, Any] | None:
        """Run the command and carry its streams; None when whoever asked has left before."""
        pipes = (
            command_terminal(asked.streams)
            if asked.tty
            else command_pipes(self._folder, asked.streams)
        )
        async with pipes as streams:
            order = replace(order, streams=streams.paths, terminal=streams.is_terminal)
            return await self._carry(asked, order, channels, streams, reading)

    async def _carry(
        self,
        asked: AskedStreams,
        order: ExecStream,
        channels: Mapping[int, Channel],
        streams: CommandStreams,
        reading: asyncio.Task[None],
    ) -> Mapping[str, Any] | None:
        carrying = _Carrying()
        async with TaskOwner("streams of a command") as tasks:
            running = tasks.start(self._status(order), name="command")
            outputs = {
                tasks.start(carrying.output(reader, channels[number]), name="output of a command")
                for number, reader in streams.outputs.items()
            }
            if STDIN in asked.streams:
                tasks.start(carry_input(channels[STDIN], streams), name="input of a command")
            if asked.tty and RESIZE in channels:
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

    async def _status(self, order: ExecStream) -> Mapping[str, Any]:
        try:
            return exit_status(await self._run(order))
        except ShimRefused as error:
            return failure(f"error executing command in container: {error}")
        except RefletError as error:
            return failure(f"the command cannot be run now: {error}")


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
                except (TypeError, KeyError, ValueError, OverflowError, RecursionError, OSError):
                    said = ""  # what is no size, however it is none
                else:
                    said = said[end:].lstrip()


def exit_status(code: int | None) -> Mapping[str, Any]:
    """The Status of a command that ended; None is one that was killed."""
    if code == 0:
        return SUCCESS
    returned = 137 if code is None else code
    return {
        "metadata": {},
        "status": "Failure",
        "reason": "NonZeroExitCode",
        "message": f"command terminated with non-zero exit code: {returned}",
        "details": {"causes": [{"reason": "ExitCode", "message": str(returned)}]},
    }
