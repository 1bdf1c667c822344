"""The agent's ends of a command's streams, three pipes or one terminal, and of a container's input.

They have names, by which the shim opens the command's ends.  Until the command has ended the agent
holds those ends too, so that nobody takes "not opened yet" for the end.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import shutil
import struct
import termios
from collections.abc import AsyncIterator, Mapping
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from tempfile import mkdtemp
from typing import Final

from reflet.errors import TransportError
from reflet.transport.upgrades.channels import STDERR, STDIN, STDOUT, Channel

AT_ONCE: Final = 32 * 1024  # bytes
END_OF_TRANSMISSION: Final = b"\x04"
LARGEST_SIZE: Final = 2**16 - 1
_NAMES: Final = {STDIN: "in", STDOUT: "out", STDERR: "err"}


class CommandStreams:
    """What one command reads and writes.

    *paths* are the command's ends by name, empty for none; *outputs* what it writes, by channel.
    """

    def __init__(
        self,
        paths: tuple[str, str, str],
        outputs: Mapping[int, asyncio.StreamReader],
        writer: asyncio.StreamWriter | None,
        held: ExitStack,
        *,
        terminal: int | None = None,
    ) -> None:
        self.paths = paths
        self.outputs = outputs
        self._writer = writer
        self._held = held
        self._terminal = terminal

    @property
    def is_terminal(self) -> bool:
        """Whether the three are one terminal."""
        return self._terminal is not None

    async def write(self, data: bytes) -> None:
        """Let the command read this, and wait while it does not."""
        if self._writer is not None:
            with contextlib.suppress(ConnectionError):
                self._writer.write(data)
                await self._writer.drain()

    async def end_input(self) -> None:
        """Let the command see the end, once it has read all; a terminal says it by a character."""
        if self._terminal is not None:
            await self.write(END_OF_TRANSMISSION)
        elif self._writer is not None:
            self._writer.close()
            with contextlib.suppress(OSError):
                await self._writer.wait_closed()

    def resize(self, width: int, height: int) -> None:
        """Tell the terminal its size, whose command hears of it by SIGWINCH."""
        if self._terminal is not None:
            size = (min(max(0, each), LARGEST_SIZE) for each in (height, width))
            fcntl.ioctl(self._terminal, termios.TIOCSWINSZ, struct.pack("HHHH", *size, 0, 0))

    def command_ended(self) -> None:
        """Let go of the command's ends: the outputs end when nobody else has them."""
        self._held.close()


@asynccontextmanager
async def command_pipes(folder: Path, wanted: frozenset[int]) -> AsyncIterator[CommandStreams]:
    """Pipes for the *wanted* of STDIN, STDOUT and STDERR, in a folder of their own in *folder*."""
    place = _own_folder(folder)
    with ExitStack() as closing, ExitStack() as held:
        closing.callback(shutil.rmtree, place, ignore_errors=True)
        outputs: dict[int, asyncio.StreamReader] = {}
        writer: asyncio.StreamWriter | None = None
        paths = dict.fromkeys(_NAMES, "")
        for number in sorted(wanted):
            path = place / _NAMES[number]
            os.mkfifo(path, 0o600)
            paths[number] = str(path)
            reading = _open(path, os.O_RDONLY)
            writing = _open_or_close(path, reading)
            ours, theirs = (writing, reading) if number == STDIN else (reading, writing)
            held.callback(os.close, theirs)
            if number == STDIN:
                writer = await _write_end(ours, closing)
            else:
                outputs[number] = await _read_end(ours, closing)
        yield CommandStreams((paths[0], paths[1], paths[2]), outputs, writer, held)


@asynccontextmanager
async def command_terminal(wanted: frozenset[int]) -> AsyncIterator[CommandStreams]:
    """A terminal; what the command writes to it comes as STDOUT."""
    with ExitStack() as closing, ExitStack() as held:
        ours, theirs = os.openpty()
        held.callback(os.close, theirs)
        path = os.ttyname(theirs)
        os.set_blocking(ours, False)
        writing = os.dup(ours)
        writer = await _write_end(writing, closing)
        output = await _read_end(ours, closing)
        outputs = {STDOUT: output} if STDOUT in wanted else {}
        yield CommandStreams((path, path, path), outputs, writer, held, terminal=writing)


@asynccontextmanager
async def container_input(path: Path) -> AsyncIterator[CommandStreams]:
    """The pipe that a container reads; OSError when it reads none any more."""
    with ExitStack() as closing:
        writer = await _write_end(_open(path, os.O_WRONLY | os.O_NOFOLLOW), closing)
        yield CommandStreams((str(path), "", ""), {}, writer, ExitStack())


async def carry_input(channel: Channel, streams: CommandStreams) -> None:
    """Write what comes, to its end; what breaks off has none."""
    with contextlib.suppress(TransportError):
        while data := await channel.read():
            await streams.write(data)
        await streams.end_input()


def _own_folder(folder: Path) -> Path:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return Path(mkdtemp(dir=folder))


def _open(path: Path, mode: int) -> int:
    return os.open(path, mode | os.O_NONBLOCK | os.O_CLOEXEC)


def _open_or_close(path: Path, other: int) -> int:
    try:
        return _open(path, os.O_WRONLY)
    except OSError:
        os.close(other)
        raise


async def _read_end(descriptor: int, closing: ExitStack) -> asyncio.StreamReader:
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=AT_ONCE)
    transport, _ = await loop.connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(descriptor, "rb", buffering=0)
    )
    closing.callback(transport.close)
    return reader


async def _write_end(descriptor: int, closing: ExitStack) -> asyncio.StreamWriter:
    loop = asyncio.get_running_loop()
    protocol = asyncio.StreamReaderProtocol(asyncio.StreamReader())
    transport, _ = await loop.connect_write_pipe(
        lambda: protocol, os.fdopen(descriptor, "wb", buffering=0)
    )
    closing.callback(_let_go, transport)
    return asyncio.StreamWriter(transport, protocol, None, loop)


def _let_go(transport: asyncio.WriteTransport) -> None:
    # asyncio's abort fails for a pipe that is closed already.
    if transport.get_write_buffer_size() or not transport.is_closing():
        transport.abort()
