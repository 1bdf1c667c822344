"""What the process table asks of an operating system."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

ZOMBIE_STATES: Final = frozenset("ZX")
STOPPED: Final = "T"


@dataclass(frozen=True, slots=True)
class ProcessEntry:
    """One line of the table.

    ``state`` is the letter of ``ps``.  ``start`` is larger for whoever started later; its unit is
    the system's.
    """

    pid: int
    parent: int
    group: int
    session: int
    state: str
    start: int

    @property
    def has_ended(self) -> bool:
        """Whether only its exit code is left, for its parent to ask for."""
        return self.state in ZOMBIE_STATES


class ProcessSource(Protocol):
    """Where the table comes from.  A process that is gone is nothing, and no error."""

    def entry(self, pid: int, /) -> ProcessEntry | None:
        """The process with this number, None if there is none."""
        ...

    def entries(self) -> Iterator[ProcessEntry]:
        """Every process that can be seen from here."""
        ...

    def children(self, pid: int, /) -> set[int]:
        """The numbers of a process's children, those too that ended and were not waited for."""
        ...

    def environment(self, pid: int, /) -> Sequence[bytes]:
        """The variables that a process was started with, as NAME=VALUE; OSError if kept from us."""
        ...

    def names(self, pid: int, /) -> frozenset[str]:
        """What a process is called: the name of the program, and that of its file."""
        ...

    def boot(self) -> str:
        """The name of this life of the machine; another after every start of it."""
        ...
