"""What the agent and its shim say to each other: one JSON document a line, on a local socket.

The agent sends ``Asked``, a number and one of ``ShimRequest``.  The shim first sends ``Greeting``,
then one of ``Told`` at a time: what it answers, or declines, carries the number of the question.
All but the greeting are tagged by their class, in the field ``type``; either side matches them
exhaustively.  The requests have the names of the CRI where it has the same.

Upstream: cri-api/pkg/apis/runtime/v1/api.proto, RuntimeService

Text may hold any bytes, as surrogates, since arguments, variables and paths do.  The JSON of the
standard library carries those and msgspec's refuses them: so the one makes the line, and the other
only makes its parts from types and checks them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import msgspec

from reflet.errors import RefletError
from reflet.node.shim.container_records import ContainerRecord
from reflet.pleg.runtime_status import RuntimeState
from reflet.processes.container_plan import ContainerRoot

VERSION: Final = 4
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


class Message(msgspec.Struct, frozen=True, tag=True, forbid_unknown_fields=True):
    """Something that is said.  Its representation shows nothing of it, which may be secret."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"


class Greeting(msgspec.Struct, frozen=True):
    """The first line of a connection, in the form that every version of this protocol has."""

    version: int
    pid: int


# What can be asked


class StartContainer(Message, frozen=True, kw_only=True):
    """Start a container: its record, what must not be in it, and the root that it sees.

    Without a *root* it sees the machine's.  Answered by ``ContainerAnswer``.
    """

    record: ContainerRecord
    arguments: tuple[str, ...]
    environment: Mapping[str, str]
    root: ContainerRoot | None = None


class ListContainers(Message, frozen=True):
    """Name every container, or those of one pod.  Answered by ``ContainerList``."""

    uid: str = ""


class ListChanges(Message, frozen=True):
    """Name every container, unless nothing has changed since the list of that tag.

    Answered by ``ContainerList`` or ``Unchanged``.
    """

    tag: str


class ListRecords(Message, frozen=True):
    """All about the containers of a pod, the newest first.  Answered by ``ContainerRecords``."""

    uid: str


class ExecSync(Message, frozen=True):
    """Run a command in a container for *timeout* seconds at most.  Answered by ``Executed``."""

    id: str
    arguments: tuple[str, ...]
    timeout: float


class ExecStream(Message, frozen=True, kw_only=True):
    """Run a command in a container, on these streams, until it ends or ``StopExec`` names it.

    *streams* are paths of pipes, or three times that of a terminal; without one it is empty.
    Answered by ``Executed``, without output.
    """

    id: str
    arguments: tuple[str, ...]
    command: str
    streams: tuple[str, str, str]
    terminal: bool = False


class StopExec(Message, frozen=True):
    """Kill a command that was started by ``ExecStream``.  Answered by ``Done``."""

    command: str


class CloseStdin(Message, frozen=True):
    """Let a container that reads once only see the end of its input.  Answered by ``Done``."""

    id: str


class SignalContainer(Message, frozen=True):
    """Send a signal to a container's first process.  Answered by ``Done``."""

    id: str
    signal: int


class StopContainer(Message, frozen=True):
    """End a container, by force after *grace* seconds.  Answered by ``ContainerAnswer``."""

    id: str
    grace: float


class RemoveContainer(Message, frozen=True):
    """Forget a container that has ended.  Answered by ``Done``."""

    id: str


class StopShim(Message, frozen=True):
    """End the shim itself; the end of the connection is the answer."""


ContainerRequest = (
    StartContainer
    | ListContainers
    | ListChanges
    | ListRecords
    | ExecSync
    | ExecStream
    | StopExec
    | CloseStdin
    | SignalContainer
    | StopContainer
    | RemoveContainer
)
ShimRequest = ContainerRequest | StopShim


# What is answered


class ContainerAnswer(Message, frozen=True):
    """A container as it is now."""

    record: ContainerRecord


class ContainerRecords(Message, frozen=True):
    """Several, the newest first."""

    records: tuple[ContainerRecord, ...]


class ListedContainer(NamedTuple):
    """A container in a list."""

    id: str
    uid: str
    name: str
    state: RuntimeState


class ContainerList(Message, frozen=True):
    """Every container at one moment; the tag is another one as soon as any of them is.

    Whoever has a list asks with its tag, and is told that nothing has changed, or everything.
    """

    tag: str = ""
    containers: tuple[ListedContainer, ...] = ()


class Unchanged(Message, frozen=True):
    """The list of that tag is still true."""


class Executed(Message, frozen=True):
    """How a command inside a container ended.

    *exit_code* is None when it did not end in time and was killed.  *output* is of both streams,
    at most 10 KiB.
    """

    exit_code: int | None
    output: str = ""


class Done(Message, frozen=True):
    """Whether there was anything to be done."""

    did: bool


ShimAnswer = ContainerAnswer | ContainerRecords | ContainerList | Unchanged | Executed | Done


# How it is said


class Asked(msgspec.Struct, frozen=True):
    """A request, and the number that the answer to it carries.

    What it is comes to light in a second step, so that one of no known form can be refused by
    its number.
    """

    number: int
    request: Any

    def read(self) -> ShimRequest:
        """The request; ValueError when this version knows none of that form."""
        request: ShimRequest = msgspec.convert(self.request, ShimRequest)
        return request


class Answered(Message, frozen=True):
    """The answer to the request of that number."""

    number: int
    answer: ShimAnswer


class Declined(Message, frozen=True):
    """Why the request of that number cannot be done."""

    number: int
    reason: str


class ContainerEnded(Message, frozen=True):
    """News: a container has ended, of the pod *uid*."""

    id: str
    uid: str


Told = Answered | Declined | ContainerEnded


def encoded(said: Message | Asked | Greeting) -> bytes:
    """One line of the protocol."""
    return json.dumps(msgspec.to_builtins(said), separators=(",", ":")).encode() + b"\n"


def read_greeting(line: bytes) -> Greeting:
    """Read the first line that a shim says; ValueError for anything else."""
    return msgspec.convert(json.loads(line), Greeting)


def read_asked(line: bytes) -> Asked:
    """Read a line that an agent says; ValueError for anything else."""
    return msgspec.convert(json.loads(line), Asked)


def read_told(line: bytes) -> Told:
    """Read any other line that a shim says; ValueError for anything else."""
    told: Told = msgspec.convert(json.loads(line), Told)
    return told
