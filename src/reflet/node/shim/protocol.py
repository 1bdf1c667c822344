"""What the agent and its shim say to each other: one JSON document a line, on a local socket.

Owns: the form of requests, answers and news, and where the socket is.  Must not know what either
side does about them.

Text may hold any bytes, as surrogates: the JSON of the standard library carries those and others
do not.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Self

from reflet.errors import RefletError
from reflet.processes.container_plan import ContainerRoot, fields_of

VERSION: Final = 2
LONGEST_LINE: Final = 64 * 2**20  # bytes; an environment may be large, but not like this

# Where two versions of this program meet.  Under other names the process of an earlier version
# would be found by nobody, and two of them would look after the same containers.
SOCKET: Final = "keeper.sock"
LOCK: Final = "keeper.lock"
JOURNAL: Final = "shim.log"


class ShimUnavailable(RefletError):
    """The shim does not answer; the containers' processes are not touched by that."""


class ShimRefused(RefletError):
    """The shim could not do what it was asked."""


Listed = tuple[str, str, str, str]
"""A container in a list: its id, its pod's uid, its name and its state."""


@dataclass(frozen=True, slots=True)
class Listing:
    """Every container at one moment; the tag is another one as soon as any of them is.

    Whoever has a listing asks with its tag, and is told that nothing has changed, or everything.
    """

    tag: str = ""
    containers: tuple[Listed, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class StartOrder:
    """A container to start: its record, what must not be in it, and the root that it sees.

    Without a *root* it sees the machine's.

    The representation shows neither arguments nor environment, which hold secrets.
    """

    record: dict[str, Any]
    arguments: tuple[str, ...] = field(repr=False)
    environment: dict[str, str] = field(repr=False)
    root: ContainerRoot | None = None

    def document(self) -> dict[str, Any]:
        """The order as JSON has it."""
        root = None if self.root is None else self.root.document()
        return {**fields_of(self), "root": root}

    @classmethod
    def of(cls, document: dict[str, Any]) -> Self:
        """Read what ``document`` gave."""
        root = document.get("root")
        return cls(
            record=document["record"],
            arguments=tuple(document["arguments"]),
            environment=document["environment"],
            root=None if root is None else ContainerRoot.of(root),
        )


@dataclass(frozen=True, slots=True)
class Executed:
    """How a command inside a container ended; the representation does not show its output.

    *exit_code* is None when it did not end in time and was killed.  *output* is of both streams,
    at most 10 KiB.
    """

    exit_code: int | None
    output: str = field(default="", repr=False)

    def document(self) -> dict[str, Any]:
        """The same as JSON has it."""
        return fields_of(self)


def encoded(document: dict[str, Any]) -> bytes:
    """One line of the protocol."""
    return json.dumps(document, separators=(",", ":")).encode() + b"\n"


def decoded(line: bytes) -> dict[str, Any]:
    """Read one line; ValueError for anything else."""
    document = json.loads(line)
    if not isinstance(document, dict):
        raise ValueError("a line of the shim's protocol is an object")  # noqa: TRY004 - see above
    return document


def socket_path(folder: Path) -> Path:
    """Where the shim of an agent listens."""
    return folder / SOCKET
