"""What this operating system has: the one place that asks which one it is.

Pure: a table by ``sys.platform``.  Code elsewhere asks for an ability, never for a name, or looks
whether the standard library has a function (``hasattr(os, "pidfd_open")``).
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from reflet.errors import ConfigurationError


@dataclass(frozen=True, slots=True, kw_only=True)
class Platform:
    """What a system has.

    *processes* is whether Reflet starts and looks after processes there, *proc* whether the
    kernel describes them in ``/proc``, *namespaces* whether a process can have a file system of
    its own, *memory_folders* whether there is a folder in memory for Secrets, *death_signal*
    whether a process can ask to be killed with its parent.  *socket_path* is the longest path of
    a local socket, in bytes, without the NUL at its end.
    """

    name: str
    processes: bool = False
    proc: bool = False
    namespaces: bool = False
    memory_folders: bool = False
    death_signal: bool = False
    socket_path: int = 0


LINUX: Final = Platform(
    name="Linux",
    processes=True,
    proc=True,
    namespaces=True,
    memory_folders=True,
    death_signal=True,
    socket_path=107,
)
MACOS: Final = Platform(name="macOS", processes=True, socket_path=103)
WINDOWS: Final = Platform(name="Windows")

_BY_NAME: Final[Mapping[str, Platform]] = {"linux": LINUX, "darwin": MACOS, "win32": WINDOWS}


def platform_of(name: str) -> Platform:
    """The system that Python calls *name*; an unknown one can do what Windows can."""
    return _BY_NAME.get(name, Platform(name=name))


HERE: Final = platform_of(sys.platform)


def require_processes(what: str) -> None:
    """Raise ConfigurationError where Reflet does not start processes; *what* begins the line."""
    if not HERE.processes:
        raise ConfigurationError(f"{what} needs Linux or macOS, and this is {HERE.name}")


def require_namespaces(what: str, otherwise: str = "") -> None:
    """Raise ConfigurationError where there are no namespaces; *what* begins the line."""
    if not HERE.namespaces:
        raise ConfigurationError(f"{what} needs Linux, and this is {HERE.name}{otherwise}")
