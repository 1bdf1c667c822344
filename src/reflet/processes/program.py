"""What to run, a command with its environment and its place, and starting it as our own user.

The ``repr`` of a program shows neither arguments nor environment, which hold secrets, and no word
about a refusal has a part of them.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Final, TypeAlias

from reflet.errors import RefletError
from reflet.resolution.environment.variables import exact_bytes

Stream: TypeAlias = Path | int | None
"""A file to append to, an open descriptor, or None for this process's own."""

NOT_FOUND: Final = 127
NOT_EXECUTABLE: Final = 126
OUR_FAILURE: Final = 125

STREAM_MODE: Final = 0o600
"""What a program writes may hold secrets."""


class Grouping(Enum):
    """What the process leads, so that what it starts in turn can be found."""

    SESSION = "session"
    """A session of its own, without a terminal."""
    GROUP = "group"
    """A process group of its own in this session, so that it can have the terminal."""


SHORTAGES: Final = (OSError, MemoryError)
"""What a machine raises that runs out of descriptors, disk or memory."""


def system_words(error: OSError | MemoryError) -> str:
    """What the system says, without the name of the file, which may be made from a secret."""
    if isinstance(error, MemoryError):
        return "out of memory"
    return (error.strerror or "the system refuses it").lower()


class NotStarted(RefletError):
    """A program could not be started.

    ``exit_code`` is what ``env`` would end with: 127 not found, 126 found but not to be run,
    125 anything else.  The message has no part of the command: whoever knows that it holds no
    secret can add it.
    """

    def __init__(self, message: str, *, exit_code: int) -> None:
        super().__init__(message)
        self.exit_code = exit_code


@dataclass(frozen=True, slots=True)
class Program:
    """What to run.

    Without ``/`` in its first argument the command is looked for in the ``PATH`` of
    ``environment``, as a container runtime does.  The environment is all there is: nothing is
    inherited.  Text is UTF-8, and bytes that are not are surrogates as ``os.fsdecode`` makes
    them.  A stream's file is made with mode 0600.
    """

    arguments: Sequence[str] = field(repr=False)
    environment: Mapping[str, str] = field(repr=False)
    directory: Path | None = None
    standard_input: Stream = None
    standard_output: Stream = None
    standard_error: Stream = None
    grouping: Grouping = Grouping.SESSION

    def check(self) -> None:
        """Raise ``NotStarted`` for what no system could start."""
        if not self.arguments or not self.arguments[0]:
            raise NotStarted("the command is empty", exit_code=NOT_FOUND)
        for number, argument in enumerate(self.arguments):
            if "\0" in argument:
                raise NotStarted(
                    f"argument {number} of the command has a NUL character, which no program"
                    " can be given",
                    exit_code=OUR_FAILURE,
                )
        for name, value in self.environment.items():
            if not name or "=" in name or "\0" in name or "\0" in value:
                raise NotStarted(
                    f"the variable {name!r} cannot be given to a program: a name may not be empty"
                    ' or have "=", and neither name nor value may have a NUL character',
                    exit_code=OUR_FAILURE,
                )

    def encoded_arguments(self) -> list[bytes]:
        """The arguments as the system takes them."""
        return [exact_bytes(argument) for argument in self.arguments]

    def encoded_environment(self) -> dict[bytes, bytes]:
        """The environment as the system takes it."""
        return {exact_bytes(name): exact_bytes(value) for name, value in self.environment.items()}


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
