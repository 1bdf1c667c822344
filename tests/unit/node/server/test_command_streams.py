"""The agent's ends of a command's streams, with the command's ends opened by their names."""

from __future__ import annotations

import asyncio
import fcntl
import os
import struct
import termios
from pathlib import Path

import pytest

from reflet.node.server.command_streams import (
    command_pipes,
    command_terminal,
    container_input,
)
from reflet.transport.upgrades.channels import STDERR, STDIN, STDOUT


def opened(path: str, mode: int) -> int:
    return os.open(path, mode | os.O_NOCTTY)


async def test_pipes_carry_both_ways_and_their_ends(tmp_path: Path) -> None:
    wanted = frozenset({STDIN, STDOUT})
    async with command_pipes(tmp_path / "commands", wanted) as streams:
        stdin, stdout = opened(streams.paths[0], os.O_RDONLY), opened(streams.paths[1], os.O_WRONLY)
        await streams.write(b"question")
        await streams.end_input()
        heard = [os.read(stdin, 100)]
        os.write(stdout, b"answer")
        os.close(stdin)
        os.close(stdout)
        streams.command_ended()

        assert heard == [b"question"]
        assert await streams.outputs[STDOUT].read() == b"answer"
        assert (streams.paths[2], streams.is_terminal) == ("", False)
    assert list((tmp_path / "commands").iterdir()) == []


async def test_outputs_do_not_end_before_the_command_has_opened_them(tmp_path: Path) -> None:
    wanted = frozenset({STDOUT, STDERR})
    async with command_pipes(tmp_path, wanted) as streams:
        stderr = opened(streams.paths[2], os.O_WRONLY)
        os.write(stderr, b"e")
        assert await streams.outputs[STDERR].read(1) == b"e"
        os.close(stderr)

        assert not streams.outputs[STDERR].at_eof()
        streams.command_ended()
        assert await streams.outputs[STDERR].read() == b""


async def test_a_terminal_is_one_for_all_three_and_has_a_size() -> None:
    async with command_terminal(frozenset({STDIN, STDOUT})) as streams:
        terminal = opened(streams.paths[0], os.O_RDWR)
        await streams.write(b"line\n")
        heard = os.read(terminal, 100)
        os.write(terminal, b"said")
        streams.resize(90, 33)
        size = struct.unpack("HHHH", fcntl.ioctl(terminal, termios.TIOCGWINSZ, bytes(8)))
        streams.resize(10**9, -1)
        os.close(terminal)
        streams.command_ended()

        assert len(set(streams.paths)) == 1
        assert (heard, size[:2], streams.is_terminal) == (b"line\n", (33, 90), True)
        # What is echoed and what is said may come in two pieces.
        assert await streams.outputs[STDOUT].readexactly(10) == b"line\r\nsaid"
        with pytest.raises(OSError, match="Input/output error"):
            await streams.outputs[STDOUT].read()


async def test_an_input_is_ended_when_all_of_it_has_been_read(tmp_path: Path) -> None:
    async with command_pipes(tmp_path, frozenset({STDIN})) as streams:
        stdin = opened(streams.paths[0], os.O_RDONLY | os.O_NONBLOCK)
        streams.command_ended()
        await streams.write(bytes(100_000))  # more than a pipe holds
        ending = asyncio.ensure_future(streams.end_input())
        for _ in range(10):
            await asyncio.sleep(0)
        assert not ending.done()
        heard = 0
        while not ending.done():
            heard += read_now(stdin)
            await asyncio.sleep(0)
        heard += read_now(stdin)
        os.close(stdin)

    assert heard == 100_000


def read_now(descriptor: int) -> int:
    try:
        return len(os.read(descriptor, 10**6))
    except BlockingIOError:
        return 0


async def test_the_input_of_a_container_is_written_by_its_name(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    descriptor = os.open(tmp_path / "pipe", os.O_RDWR | os.O_NONBLOCK)
    with os.fdopen(descriptor, "rb", buffering=0) as container:
        async with container_input(tmp_path / "pipe") as streams:
            await streams.write(b"in")
            await streams.end_input()

        assert container.read(100) == b"in"


async def test_a_container_that_reads_no_more_is_not_written_to(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path / "nothing"):
        with pytest.raises(OSError, match="No such"):
            async with container_input(path):
                pass
