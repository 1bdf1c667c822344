"""Commands that run beside a container's first process.

``execute`` runs one to its end and gives what it said.  Others run on streams that the agent made:
it makes pipes or a terminal and names them, and the shim opens them for the command.  So what
such a command reads and writes does not pass through the shim.

Upstream: cri-api/pkg/apis/runtime/v1/api.proto, RuntimeService.ExecSync and Exec
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Awaitable, Callable
from typing import Final

from reflet.node.shim import protocol
from reflet.node.shim.log_pumps import CommandOutput
from reflet.processes.child import Child
from reflet.processes.program import system_words

Streams = tuple[int, int, int]
StartBeside = Callable[[protocol.ExecStream, Streams], Awaitable[Child]]

LONGEST_OUTPUT: Final = 10 * 1024  # bytes of what a command in a container says, as the kubelet has

_MODES: Final = (os.O_RDONLY, os.O_WRONLY, os.O_WRONLY)


async def execute(
    start: Callable[[Streams], Awaitable[Child]], timeout: float
) -> protocol.Executed:
    """Run a command to its end, without input; it is killed after *timeout* seconds."""
    with contextlib.ExitStack() as opened:
        nothing = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
        opened.callback(os.close, nothing)
        output = opened.enter_context(CommandOutput(LONGEST_OUTPUT))
        child = await start((nothing, output.end, output.end))
        code: int | None = None
        try:
            async with asyncio.timeout(timeout):
                code = (await child.wait()).exit_code
        except TimeoutError:
            child.kill()
            await child.wait()
        finally:
            child.kill()  # for whoever no longer waits for it; what has ended is not hit
            child.close()
        return protocol.Executed(code, output.text())


class RunningCommands:
    """The commands that run on streams of an agent's."""

    def __init__(self) -> None:
        self._stops: dict[str, asyncio.Event] = {}

    async def run(self, order: protocol.ExecStream, start: StartBeside) -> protocol.Executed:
        """Run a command to its end; cancelled, or told to stop, it is killed.

        Raises ShimRefused when its streams cannot be opened; what *start* raises passes.
        """
        stop = self._stops[order.command] = asyncio.Event()
        try:
            with contextlib.ExitStack() as opened:
                child = await start(order, _opened(order, opened))
            try:
                return protocol.Executed(await _exit_code(child, stop))
            finally:
                child.kill()  # for whoever no longer waits for it; what has ended is not hit
                child.close()
        finally:
            del self._stops[order.command]

    def stop(self, command: str) -> bool:
        """Kill a command; False when it has ended."""
        stop = self._stops.get(command)
        if stop is not None:
            stop.set()
        return stop is not None


async def _exit_code(child: Child, stop: asyncio.Event) -> int | None:
    ending = asyncio.ensure_future(child.wait())
    stopping = asyncio.ensure_future(stop.wait())
    try:
        await asyncio.wait((ending, stopping), return_when=asyncio.FIRST_COMPLETED)
        if not ending.done():
            child.kill()
        return (await ending).exit_code
    finally:
        ending.cancel()
        stopping.cancel()
        await asyncio.wait((ending, stopping))


def _opened(order: protocol.ExecStream, closing: contextlib.ExitStack) -> Streams:
    descriptors: list[int] = []
    for path, mode in zip(order.streams, _MODES, strict=True):
        if order.terminal:
            mode = os.O_RDWR | os.O_NOCTTY  # noqa: PLW2901 - it is one thing for all three
        try:
            # Not waiting for the other end: an agent that is gone would stop the shim.
            descriptor = os.open(
                path or os.devnull, mode | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW
            )
        except OSError as error:
            raise protocol.ShimRefused(
                f"the streams of the command cannot be opened: {system_words(error)}"
            ) from error
        closing.callback(os.close, descriptor)
        os.set_blocking(descriptor, True)
        descriptors.append(descriptor)
    return descriptors[0], descriptors[1], descriptors[2]
