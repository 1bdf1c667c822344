"""Running SCRIPT, and signalling a process of another container.

A program that is not executable, or has no ``#!``, is run by ``sh``.  It has our environment,
directory and standard input, and a limit of time; what it starts in the background stays.
"""

from __future__ import annotations

import asyncio
import os
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from typing import Final, Self

from reflet.processes.child import Child
from reflet.processes.process_table import ProcessIdentity, processes_called
from reflet.processes.program import NOT_EXECUTABLE, NotStarted, Program, start_process
from reflet.runtime.clock import Clock
from reflet.runtime.waits import came_within

MOST_OUTPUT: Final = 64 * 1024  # bytes of each stream that are kept


@dataclass(frozen=True, slots=True)
class ScriptEnd:
    """How a script ended: its exit code, and what it said."""

    command: tuple[str, ...]
    code: int
    output: bytes
    errors: bytes


class ScriptTimedOut(Exception):
    """A script took too long and was killed, with all that it had started."""


async def run_script(path: str, *, timeout: float, clock: Clock) -> ScriptEnd:
    """Run a script to its end, *timeout* seconds at most, 0 for any time.

    Raises ScriptTimedOut, and NotStarted when it cannot be run at all.
    """
    with ExitStack() as closing:
        streams = (closing.enter_context(_Pipe()), closing.enter_context(_Pipe()))
        command: tuple[str, ...] = (path,) if os.access(path, os.X_OK) else ("sh", path)
        try:
            child = _started(command, streams, clock)
        except NotStarted as error:
            if error.exit_code != NOT_EXECUTABLE:
                raise
            command = ("sh", path)  # it has no first line that names an interpreter
            child = _started(command, streams, clock)
        for stream in streams:
            stream.listen()
        ended = asyncio.ensure_future(child.wait())
        is_over = asyncio.Event()
        ended.add_done_callback(lambda _: is_over.set())
        try:
            if not await came_within(is_over, timeout or None, clock=clock):
                raise ScriptTimedOut(f"{path} was killed after {timeout:g} s")
        finally:
            if not ended.done():
                child.kill()
            ending = await ended
        return ScriptEnd(command, ending.exit_code, *(each.heard() for each in streams))


def _started(command: tuple[str, ...], streams: tuple[_Pipe, _Pipe], clock: Clock) -> Child:
    output, errors = streams
    pid = start_process(
        Program(
            command,
            dict(os.environ),
            standard_output=output.inner,
            standard_error=errors.inner,
        )
    )
    identity = ProcessIdentity.of(pid)
    if identity is None:
        raise ProcessLookupError(f"the process {pid}, just started, is not in the process table")
    return Child(identity, keeps_group=True, clock=clock)


class _Pipe:
    """What somebody says into *inner*, as far as it is kept; he may go on after we are gone."""

    def __enter__(self) -> Self:
        self._outer, self.inner = os.pipe()
        os.set_blocking(self._outer, False)
        self._kept = bytearray()
        self._is_open = True
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()
        if self._is_open:
            os.close(self.inner)
        os.close(self._outer)

    def listen(self) -> None:
        """Let go of *inner*, which others have now, and take what comes."""
        os.close(self.inner)
        self._is_open = False
        asyncio.get_running_loop().add_reader(self._outer, self._take)

    def heard(self) -> bytes:
        """All that was said until now."""
        while self._take():
            pass
        return bytes(self._kept)

    def _take(self) -> bool:
        try:
            piece = os.read(self._outer, MOST_OUTPUT)
        except BlockingIOError:
            return False
        self._kept += piece[: MOST_OUTPUT - len(self._kept)]
        if not piece:
            self._stop()
        return bool(piece)

    def _stop(self) -> None:
        asyncio.get_running_loop().remove_reader(self._outer)


def signal_processes(wanted: str, number: int) -> list[int]:
    """Send a signal to every process that is called so; those that got it.

    Raises PermissionError when it is another user's.
    """
    signalled = []
    for pid in processes_called(wanted):
        with suppress(ProcessLookupError):
            os.kill(pid, number)
            signalled.append(pid)
    return signalled
