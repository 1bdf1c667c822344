"""Commands on an agent's streams: how they end, are stopped, and cannot be opened."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from reflet.node.shim.commands import RunningCommands, Streams
from reflet.node.shim.protocol import ExecStream, Executed, ShimRefused
from reflet.processes.child import Child, start_child
from reflet.processes.program import Program


def order(output: str, *words: str) -> ExecStream:
    return ExecStream(id="c1", arguments=words, command="x", streams=("", output, ""))


async def started(wanted: ExecStream, streams: Streams) -> Child:
    """A command that says its arguments, as a child of this process."""
    os.write(streams[1], " ".join(wanted.arguments).encode())
    return start_child(Program(arguments=wanted.arguments, environment=dict(os.environ)))


@pytest.fixture
def pipe(tmp_path: Path) -> str:
    os.mkfifo(tmp_path / "out")
    return str(tmp_path / "out")


async def test_a_command_returns_what_it_returned(pipe: str) -> None:
    reading = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    executed = await RunningCommands().run(order(pipe, "sh", "-c", "exit 3"), started)
    said = os.read(reading, 100)
    os.close(reading)

    assert (executed, said) == (Executed(3), b"sh -c exit 3")


async def test_a_command_that_is_told_to_stop_is_killed(pipe: str) -> None:
    reading = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    commands = RunningCommands()
    running = asyncio.ensure_future(commands.run(order(pipe, "sleep", "60"), started))
    await asyncio.sleep(0)

    assert commands.stop("x")
    assert await running == Executed(137)
    assert not commands.stop("x")
    os.close(reading)


async def test_a_pipe_that_nobody_reads_is_refused_at_once(pipe: str) -> None:
    with pytest.raises(ShimRefused, match="the streams of the command cannot be opened"):
        await RunningCommands().run(order(pipe, "true"), started)
