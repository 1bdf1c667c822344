"""What is on disk about each life of a container, so that nothing is lost when a process dies.

A record is written by the shim alone, always as a whole.  It holds neither arguments nor
environment: those may be secrets.

Upstream: pkg/kubelet/kuberuntime/kuberuntime_container.go, getTerminationMessage
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import msgspec
from msgspec.structs import replace

from reflet.node.server.log_reading import last_words
from reflet.pleg.runtime_status import RuntimeContainerStatus, RuntimeState
from reflet.processes.exit_status import Ending, Exited, Killed, Vanished
from reflet.processes.process_table import ProcessIdentity

PRIVATE: Final = 0o600
START_ERROR: Final = "StartError"
START_ERROR_CODE: Final = 128  # what container runtimes report for what could not be started
LONGEST_MESSAGE: Final = 4096  # bytes of a termination message
LOG_MESSAGE_BYTES: Final = 2048
LOG_MESSAGE_LINES: Final = 80
FALL_BACK: Final = "FallbackToLogsOnError"
KEPT_LIVES: Final = 2
"""The life of now and the one before, as the kubelet keeps them for ``logs --previous``."""


class ContainerRecord(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One life of a container.  *attempt* counts from 0; *folder* is where its files are.

    *fingerprint* tells what it was made from.  Times are seconds since 1970, for people.
    *directory* to *capabilities* are those of every process in it; one that *is_isolated* has
    namespaces of its own.  One with *stdin* reads a pipe, with *stdin_once* to an end.
    """

    id: str
    uid: str
    name: str
    attempt: int
    folder: str
    fingerprint: str = ""
    image: str = ""
    created_at: float = 0.0
    started_at: float | None = None
    finished_at: float | None = None
    pid: int | None = None
    start: int | None = None
    boot: str = ""
    exit_code: int | None = None
    signal: int = 0
    reason: str = ""
    message: str = ""
    message_file: str = ""
    message_policy: str = ""
    directory: str = ""
    user: int | None = None
    group: int | None = None
    groups: tuple[int, ...] | None = None
    capabilities: tuple[int, ...] | None = None
    is_isolated: bool = False
    stdin: bool = False
    stdin_once: bool = False

    @property
    def state(self) -> RuntimeState:
        """What the container is doing, as far as the record tells."""
        if self.finished_at is not None:
            return RuntimeState.EXITED
        return RuntimeState.CREATED if self.pid is None else RuntimeState.RUNNING

    @property
    def identity(self) -> ProcessIdentity | None:
        """Which process it is; None before it has one."""
        if self.pid is None or self.start is None:
            return None
        return ProcessIdentity(pid=self.pid, start=self.start, boot=self.boot)

    @property
    def path(self) -> Path:
        """The file of this record."""
        return Path(self.folder, f"{self.attempt}.json")

    @property
    def log(self) -> Path:
        """The file with what it wrote, the newest part of it."""
        return Path(self.folder, f"{self.attempt}.log")

    def pipe(self, stream: str) -> Path:
        """The named pipe into which it writes *stream*, or which it reads."""
        return Path(self.folder, f"{self.attempt}.{stream}")

    def running(self, identity: ProcessIdentity, now: datetime) -> ContainerRecord:
        """The record once the process runs."""
        return replace(
            self,
            pid=identity.pid,
            start=identity.start,
            boot=identity.boot,
            started_at=now.timestamp(),
        )

    def ended(self, ending: Ending, now: datetime, *, message: str = "") -> ContainerRecord:
        """The record once the process has ended."""
        code, number, reason = _outcome(ending)
        return replace(
            self,
            finished_at=now.timestamp(),
            exit_code=code,
            signal=number,
            reason=reason,
            message=message,
        )

    def not_started(self, message: str, now: datetime) -> ContainerRecord:
        """The record of a container whose process could not be started."""
        moment = now.timestamp()
        return replace(
            self,
            started_at=moment,
            finished_at=moment,
            exit_code=START_ERROR_CODE,
            reason=START_ERROR,
            message=message,
        )

    def runtime_status(self) -> RuntimeContainerStatus:
        """The same for whoever asks a runtime."""
        return RuntimeContainerStatus(
            id=self.id,
            name=self.name,
            state=self.state,
            created_at=_moment(self.created_at),
            started_at=_moment(self.started_at),
            finished_at=_moment(self.finished_at),
            exit_code=self.exit_code,
            signal=self.signal,
            reason=self.reason,
            message=self.message,
            restart_count=self.attempt,
            image=self.image,
        )

    def write(self) -> None:
        """Put the record on disk in one step."""
        write_private(self.path, json.dumps(msgspec.to_builtins(self)).encode())

    def remove_files(self) -> None:
        """Remove everything of this life."""
        for path in Path(self.folder).glob(f"{self.attempt}.*"):
            path.unlink(missing_ok=True)


def termination_message(record: ContainerRecord, *, failed: bool) -> str:
    """What a container left as its last word: its file, or, by its policy, the end of its log."""
    text = b""
    if record.message_file:
        with contextlib.suppress(OSError):
            descriptor = os.open(
                record.message_file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
            )
            try:
                text = os.read(descriptor, LONGEST_MESSAGE)
            finally:
                os.close(descriptor)
    if not text and failed and record.message_policy == FALL_BACK:
        with contextlib.suppress(OSError):
            text = last_words(
                record.log, most_bytes=LOG_MESSAGE_BYTES, most_lines=LOG_MESSAGE_LINES
            )
    return text.decode(errors="replace")


def write_private(path: Path, content: bytes) -> None:
    """Write a file that only we can read, in one step: readers see the old or the new one."""
    temporary = path.with_name(f".{path.name}.new")
    with contextlib.suppress(FileNotFoundError):
        temporary.unlink()
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, PRIVATE)
    try:
        rest = memoryview(content)
        while rest:
            rest = rest[os.write(descriptor, rest) :]
    finally:
        os.close(descriptor)
    temporary.rename(path)


def records_below(pods: Path) -> Iterator[ContainerRecord]:
    """Yield every record below the folder of all pods; what is no record is left out."""
    for pod in _entries(pods):
        for folder in _entries(pod / "containers"):
            for path in _entries(folder):
                if path.suffix != ".json":
                    continue
                try:
                    yield msgspec.convert(json.loads(path.read_bytes()), ContainerRecord)
                except (OSError, ValueError):
                    continue  # of another version, or gone: nothing here can be done about it


def _entries(folder: Path) -> list[Path]:
    """What is in a folder, in order; nothing in one that is gone, or is none."""
    try:
        return sorted(folder.iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return []


def _outcome(ending: Ending) -> tuple[int | None, int, str]:
    match ending:
        case Exited(code=code):
            return code, 0, "Error" if code else "Completed"
        case Killed(signal=number):
            return ending.exit_code, number, "Error"
        case Vanished():
            return None, 0, ""


def _moment(seconds: float | None) -> datetime | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)
