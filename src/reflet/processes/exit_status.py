"""How a process ended: the three ways to end, and what a shell would make of each."""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass
from typing import Final, TypeAlias

SIGNALLED: Final = 128
"""Added to the number of the signal that ended a process, as shells do."""

UNKNOWN: Final = SIGNALLED + signal.SIGKILL
"""What the kubelet reports for a container whose end nobody saw."""


@dataclass(frozen=True, slots=True)
class Exited:
    """The process ended by itself, with a code."""

    code: int

    @property
    def exit_code(self) -> int:
        """The code."""
        return self.code

    def __str__(self) -> str:
        return f"ended with code {self.code}"


@dataclass(frozen=True, slots=True)
class Killed:
    """A signal ended the process."""

    signal: int

    @property
    def exit_code(self) -> int:
        """128 and the number of the signal."""
        return SIGNALLED + self.signal

    def __str__(self) -> str:
        return f"was ended by {signal_name(self.signal)}"


@dataclass(frozen=True, slots=True)
class Vanished:
    """The process is gone and its code went to another parent: that of an adopted process."""

    @property
    def exit_code(self) -> int:
        """137, which the kubelet reports where it does not know."""
        return UNKNOWN

    def __str__(self) -> str:
        return "ended while nobody who could ask for its code was there"


Ending: TypeAlias = Exited | Killed | Vanished


def ending_of(wait_status: int) -> Ending:
    """Read the status that ``waitpid`` gives for a process that has ended."""
    code = os.waitstatus_to_exitcode(wait_status)
    return Exited(code) if code >= 0 else Killed(-code)


def signal_name(number: int) -> str:
    """``SIGTERM`` for 15; a number without a name is shown as ``signal 40``."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def signal_number(name: str) -> int:
    """15 for ``TERM``, ``SIGTERM``, ``term`` and ``15``; raises ``ValueError`` for others."""
    text = name.strip().upper()
    if text.isdecimal():
        return signal.Signals(int(text)).value
    wanted = text if text.startswith("SIG") else f"SIG{text}"
    if wanted not in signal.Signals.__members__:
        raise ValueError(f"{name!r} is not the name of a signal: HUP, USR1, TERM and so on are")
    return signal.Signals[wanted].value
