"""Running SCRIPT, and signalling a process of another container.

A program that is not executable, or has no ``#!``, is run by ``sh``.  It has our environment,
directory and standard input, and a limit of time; what it starts in the background stays.
"""

from __future__ import annotations

import asyncio
import errno
import os
import signal
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

PROC: Final = Path("/proc")
MOST_OUTPUT: Final = 64 * 1024  # bytes of each stream that are kept
LAST_WORDS: Final = 1.0
"""Seconds for output to end after the script has: what it left in the background may hold it."""


@dataclass(frozen=True, slots=True)
class ScriptEnd:
    """How a script ended: its exit code, and what it said."""

    command: tuple[str, ...]
    code: int
    output: bytes
    errors: bytes


class ScriptTimedOut(Exception):
    """A script took too long and was killed, with all that it had started."""


async def run_script(path: str, *, timeout: float) -> ScriptEnd:
    """Run a script to its end, *timeout* seconds at most, 0 for any time.

    Raises ScriptTimedOut, and OSError when it cannot be run at all.
    """
    command: tuple[str, ...] = (path,) if os.access(path, os.X_OK) else ("sh", path)
    try:
        process = await _started(command)
    except OSError as error:
        if error.errno != errno.ENOEXEC:
            raise
        command = ("sh", path)
        process = await _started(command)
    kept: tuple[bytearray, bytearray] = (bytearray(), bytearray())
    readers = [
        asyncio.ensure_future(_read(stream, into))
        for stream, into in zip((process.stdout, process.stderr), kept, strict=True)
        if stream is not None
    ]
    try:
        async with asyncio.timeout(timeout or None):
            code = await process.wait()
        await asyncio.wait(readers, timeout=LAST_WORDS)
    except TimeoutError:
        raise ScriptTimedOut(f"{path} was killed after {timeout:g} s") from None
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
        for reader in readers:
            reader.cancel()
        await asyncio.wait(readers)
        _close(process)
    return ScriptEnd(command, code, bytes(kept[0]), bytes(kept[1]))


async def _started(command: Sequence[str]) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *command,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,
    )


async def _read(stream: asyncio.StreamReader, into: bytearray) -> None:
    while piece := await stream.read(MOST_OUTPUT):
        into += piece[: MOST_OUTPUT - len(into)]


def _close(process: asyncio.subprocess.Process) -> None:
    """Let go of pipes that somebody in the background still holds."""
    transport = getattr(process, "_transport", None)
    if transport is not None:
        transport.close()


def processes_called(wanted: str) -> list[int]:
    """The processes with a number, or a name: of the program, or of its file."""
    found: list[int] = []
    for entry in PROC.iterdir():
        if not entry.name.isdecimal() or entry.name == str(os.getpid()):
            continue
        with suppress(OSError):
            name = (entry / "comm").read_text(errors="replace").strip()
            file = (entry / "cmdline").read_bytes().partition(b"\0")[0].rpartition(b"/")[2]
            if wanted in {entry.name, name, file.decode(errors="replace")}:
                found.append(int(entry.name))
    return sorted(found)


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
