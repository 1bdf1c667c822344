"""What to run: a command, its environment and its place, as the user that we are.

Owns the description and what the system refuses of it before anything starts.  Its ``repr`` shows
neither arguments nor environment, which hold secrets.  Must not start anything.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Final, TypeAlias

from reflet.errors import RefletError
from reflet.resolution.variables import exact_bytes

Stream: TypeAlias = Path | int | None
"""A file to append to, an open descriptor, or None for this process's own."""

NOT_FOUND: Final = 127
NOT_EXECUTABLE: Final = 126
OUR_FAILURE: Final = 125


class Grouping(Enum):
    """What the process leads, so that what it starts in turn can be found."""

    SESSION = "session"
    """A session of its own, without a terminal."""
    GROUP = "group"
    """A process group of its own in this session, so that it can have the terminal."""


def system_words(error: OSError) -> str:
    """What the system says, without the name of the file, which may be made from a secret."""
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
