"""The streams of a container, as their caller sees them: of a command in it, or of itself.

Upstream: client-go/tools/remotecommand/websocket.go, v4.go and resize.go
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

import msgspec

from reflet.api.status import Status, error_from_status
from reflet.errors import MisuseError, TransportError
from reflet.transport.upgrades.byte_streams import ByteStream
from reflet.transport.upgrades.channels import (
    RESIZE,
    STATUS,
    STDERR,
    STDIN,
    STDOUT,
    V4,
    Channel,
    ChannelSocket,
)
from reflet.transport.upgrades.websocket import WebSocket

NON_ZERO: Final = "NonZeroExitCode"
EXIT_CODE: Final = "ExitCode"
LONGEST_STATUS: Final = 64 * 1024  # bytes


@dataclass(frozen=True, slots=True)
class CompletedCommand:
    """How a command ended, and all that it wrote; what it wrote is not shown.

    - *returncode*: exit code of the command
    - *stdout*, *stderr*: what it wrote
    """

    returncode: int
    stdout: bytes = field(repr=False)
    stderr: bytes = field(repr=False)


class ProcessInput:
    """What a command, or a container, reads."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel

    async def write(self, data: bytes) -> None:
        """Send, and wait while the command does not read."""
        await self._channel.write(data)

    async def close(self) -> None:
        """Let the command see the end; MisuseError with a server before 1.30, which cannot."""
        if not self._channel.can_finish:
            raise MisuseError(
                f"the server speaks {V4}, which cannot end the input alone: leave the block instead"
            )
        await self._channel.finish()


class ProcessOutput:
    """What a command, or a container, writes, in pieces as they arrive."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel

    async def read(self) -> bytes:
        """The next piece; ``b""`` at the end."""
        return await self._channel.read()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while piece := await self.read():
            yield piece


class RemoteStreams:
    """Streams of a container; leaving the context that gave them ends the connection."""

    def __init__(self, socket: ChannelSocket, *, path: str) -> None:
        channels = socket.channels
        self.stdin = ProcessInput(channels[STDIN])
        self.stdout = ProcessOutput(channels[STDOUT])
        self.stderr = ProcessOutput(channels[STDERR])
        self._status = channels[STATUS]
        self._size = channels[RESIZE]
        self._path = path

    async def resize(self, *, width: int, height: int) -> None:
        """Set the terminal's size, in characters."""
        await self._size.write(json.dumps({"Width": width, "Height": height}).encode())

    async def _end(self) -> int:
        """What the Status says that a server ends the streams with."""
        said = b""
        while len(said) <= LONGEST_STATUS and (piece := await self._status.read()):
            said += piece
        return exit_code(said, path=self._path)


class AttachedContainer(RemoteStreams):
    """A container that somebody is attached to; leaving the context lets go of it.

    What it writes waits for a reader, as with ``RemoteProcess``.

    - *socket*: the WebSocket to the API server; ``Client.attach`` makes it
    - *path*: URL path of the request, for errors
    """

    _is_over = False

    async def wait(self) -> None:
        """Return when the node says that all is over: that the container has ended, above all.

        What it returned is in its pod's status.  Raises the ApiError that the node gives, and
        TransportError when the connection broke.
        """
        if not self._is_over:
            await self._end()
            self._is_over = True


class RemoteProcess(RemoteStreams):
    """A command in a container; leaving the context that gave it ends the connection.

    As with a subprocess, one of ``stdout`` and ``stderr`` that nobody reads stops the command when
    it is full, and ``wait`` then waits for ever: read both, or call ``communicate``.

    - *socket*: the WebSocket to the API server; ``Client.exec`` makes it
    - *path*: URL path of the request, for errors
    """

    def __init__(self, socket: ChannelSocket, *, path: str) -> None:
        super().__init__(socket, path=path)
        self._returncode: int | None = None

    @property
    def returncode(self) -> int | None:
        """What the command returned, None until ``wait`` has returned."""
        return self._returncode

    async def wait(self) -> int:
        """What the command returned.

        Raises the ApiError that the node gives for a command that could not be run, and
        TransportError when the connection broke before the command's end was reported.
        """
        if self._returncode is None:
            self._returncode = await self._end()
        return self._returncode

    async def communicate(self, input: bytes = b"") -> CompletedCommand:  # noqa: A002 - as subprocess
        """Send *input* and its end, read everything, and wait for the command's end."""
        stdout = asyncio.create_task(_all(self.stdout), name="standard output of a command")
        stderr = asyncio.create_task(_all(self.stderr), name="standard error of a command")
        tasks: list[asyncio.Task[Any]] = [stdout, stderr]
        if input:
            sending = self._send(input)
            tasks.append(asyncio.create_task(sending, name="standard input of a command"))
        try:
            returncode = await self.wait()
            return CompletedCommand(returncode, await stdout, await stderr)
        finally:
            for task in tasks:  # a command need not read all of its input
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _send(self, data: bytes) -> None:
        with contextlib.suppress(TransportError):  # ``wait`` tells what happened
            await self.stdin.write(data)
            await self.stdin.close()


Streams = TypeVar("Streams", bound=RemoteStreams)


async def _all(output: ProcessOutput) -> bytes:
    with contextlib.suppress(TransportError):  # ``wait`` tells what happened
        return b"".join([piece async for piece in output])
    return b""


@asynccontextmanager
async def remote_streams(
    kind: type[Streams], line: ByteStream, protocol: str, *, path: str
) -> AsyncIterator[Streams]:
    """The streams behind a WebSocket, whose channels are read while the context is open."""
    socket = ChannelSocket(
        WebSocket(line, is_client=True), protocol, incoming=(STDOUT, STDERR, STATUS)
    )
    reading = asyncio.create_task(socket.run(), name=f"streams {path}")
    try:
        yield kind(socket, path=path)
    finally:
        reading.cancel()
        try:
            await asyncio.wait((reading,))
        finally:
            await socket.close()


def exit_code(status: bytes, *, path: str = "") -> int:
    """What a command returned, by the Status that a server ends it with.

    Raises the ApiError that it means when the command was not run, TransportError for no Status.
    """
    try:
        said = msgspec.json.decode(status, type=Status)
    except msgspec.DecodeError:
        raise TransportError(
            f"{path}: the connection ended before the command's end was told"
        ) from None
    if said.status == "Success":
        return 0
    causes = said.details.causes if said.details is not None else ()
    if said.reason == NON_ZERO:
        for cause in causes:
            if cause.type == EXIT_CODE and cause.message.isascii() and cause.message.isdecimal():
                return int(cause.message)
    raise error_from_status(said, verb="create", path=path, http_code=said.code or 500)
