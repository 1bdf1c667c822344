"""From a program to a process that runs it.

Owns the start: the streams, the process group, and the words for what the system
refuses.  Must not know how the process is watched or ended.
"""

from __future__ import annotations

import os
import subprocess
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from reflet.processes.program import (
    NOT_EXECUTABLE,
    NOT_FOUND,
    OUR_FAILURE,
    Grouping,
    NotStarted,
    Program,
    Stream,
    system_words,
)

STREAM_MODE: Final = 0o600
"""What a program writes may hold secrets."""


def start_process(program: Program) -> int:
    """Start it and return its number; the caller has to wait for it.

    Returns when the program runs, so what cannot be run is known here: raises ``NotStarted``.
    Blocks for the milliseconds that this takes.
    """
    program.check()
    with ExitStack() as opened:
        streams = _open_streams(program, opened)
        try:
            started = subprocess.Popen(  # noqa: S603 - running what it is told is its purpose
                program.encoded_arguments(),
                env=program.encoded_environment(),
                cwd=program.directory,
                stdin=streams[0],
                stdout=streams[1],
                stderr=streams[2],
                start_new_session=program.grouping is Grouping.SESSION,
                process_group=0 if program.grouping is Grouping.GROUP else None,
            )
        except OSError as error:
            # The cause would show the command, which may hold secrets.
            raise _refusal(error, program) from None
    # Whoever called waits for it now; the object would complain that nobody did.
    started.returncode = 0
    return started.pid


def _open_streams(program: Program, opened: ExitStack) -> list[int | None]:
    by_path: dict[Path, int] = {}
    descriptors: list[int | None] = []
    streams = (program.standard_input, program.standard_output, program.standard_error)
    for number, stream in enumerate(streams):
        if isinstance(stream, Path) and stream not in by_path:
            by_path[stream] = _open(stream, for_reading=number == 0)
            opened.callback(os.close, by_path[stream])
        descriptors.append(_descriptor(stream, by_path))
    return descriptors


def _descriptor(stream: Stream, by_path: dict[Path, int]) -> int | None:
    return by_path[stream] if isinstance(stream, Path) else stream


def _open(path: Path, *, for_reading: bool) -> int:
    flags = os.O_RDONLY if for_reading else os.O_WRONLY | os.O_APPEND | os.O_CREAT
    try:
        return os.open(path, flags | os.O_CLOEXEC, STREAM_MODE)
    except OSError as error:
        raise NotStarted(
            f"{path}: {(error.strerror or str(error)).lower()}", exit_code=OUR_FAILURE
        ) from error


def _refusal(error: OSError, program: Program) -> NotStarted:
    words = system_words(error)
    directory = program.directory
    if directory is not None and error.filename in {directory, str(directory)}:
        # The system does not tell which step before the program itself has failed.
        return NotStarted(f"cannot start in {directory}: {words}", exit_code=OUR_FAILURE)
    if isinstance(error, FileNotFoundError):
        return NotStarted(f"the command is not found: {words}", exit_code=NOT_FOUND)
    if error.filename is None:
        return NotStarted(f"cannot start a process: {words}", exit_code=OUR_FAILURE)
    return NotStarted(f"the command cannot be run: {words}", exit_code=NOT_EXECUTABLE)
