"""Keeping containers: their processes are the children of whoever runs this.

Owns: starting and ending them, their logs, and a record on disk of each one's life, its exit code
above all.  It outlives the agent: one that is killed and started again finds everything as it
is, and what ended meanwhile is on record.  A keeper that is killed itself is replaced, and the
new one adopts what runs; only the exit codes of those it adopts are lost.  Must not know pods,
the API server, or why anything runs.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from reflet.node import keeper_protocol as protocol
from reflet.node.container_records import ContainerRecord, records_below
from reflet.node.log_files import LogFile, utc_now
from reflet.node.log_pumps import STREAMS, LogPump
from reflet.node.log_reading import last_words
from reflet.node.stray_processes import (
    CONTAINER_ID,
    all_strays,
    kill_left_to_us,
    kill_processes,
)
from reflet.processes.child import Child, adopt_child, kill_left_behind, start_child
from reflet.processes.endings import Ending, Vanished
from reflet.processes.process_identity import ProcessIdentity
from reflet.processes.program import NotStarted, Program
from reflet.processes.reaping import OrphanReaper, become_reaper
from reflet.runtime.tasks import TaskOwner

LONGEST_MESSAGE: Final = 4096  # bytes of a termination message
LOG_MESSAGE_BYTES: Final = 2048
LOG_MESSAGE_LINES: Final = 80
CONTAINER_UMASK: Final = 0o022
FALL_BACK: Final = "FallbackToLogsOnError"


@dataclass(slots=True)
class _Kept:
    """A container's life, and what looks after it while it lasts."""

    record: ContainerRecord
    child: Child | None = None
    pump: LogPump | None = None
    is_adopted: bool = False
    over: asyncio.Event = field(default_factory=asyncio.Event)


class Keeper:
    """Keeps the containers whose folders are below *pods*; open while the context is."""

    def __init__(self, pods: Path) -> None:
        self._pods = pods
        self._kept: dict[str, _Kept] = {}
        self._tasks = TaskOwner("keeper")
        self._listeners: set[Callable[[dict[str, Any]], None]] = set()
        self._tag = ""
        self._last_listed: list[protocol.Listed] = []

    @contextlib.asynccontextmanager
    async def opened(self) -> AsyncIterator[None]:
        """Take over what runs, keep until the block ends, and let go of it without ending it."""
        become_reaper()
        reaper = OrphanReaper()
        async with self._tasks:
            self._take_over()
            self._tasks.start(reaper.run(), name="reaper of orphans")
            try:
                yield
            finally:
                for _ in ("seen", "and seen again"):
                    reaper.look()
                for kept in self._kept.values():
                    if kept.child is not None:
                        kept.child.close()
                    if kept.pump is not None:
                        kept.pump.close()

    @property
    def has_work(self) -> bool:
        """Whether any process runs."""
        return any(kept.child is not None for kept in self._kept.values())

    def listen(self, listener: Callable[[dict[str, Any]], None]) -> None:
        """Be told when containers end."""
        self._listeners.add(listener)

    def forget(self, listener: Callable[[dict[str, Any]], None]) -> None:
        """Be told no more."""
        self._listeners.discard(listener)

    async def answer(self, asked: Mapping[str, Any]) -> Any:
        """Do what a request asks; RefletError when that cannot be done."""
        match asked.get("do"):
            case "start":
                return self.start(protocol.StartOrder.of(dict(asked["order"])))
            case "list":
                return self.listed(str(asked.get("uid", "")))
            case "listing":
                return self.listing_since(str(asked["tag"]))
            case "status":
                return [each.document() for each in self.records(str(asked["uid"]))]
            case "signal":
                return self.signal(str(asked["id"]), int(asked["signal"]))
            case "end":
                return await self.end(str(asked["id"]), float(asked["grace"]))
            case "remove":
                return self.remove(str(asked["id"]))
            case other:
                raise protocol.KeeperRefused(f"the keeper does not know how to {other}")

    # What can be asked

    def start(self, order: protocol.StartOrder) -> dict[str, Any]:
        """Start a container; one that could not be started is on record as ended."""
        record = ContainerRecord.of(order.record)
        known = self._kept.get(record.id)
        if known is not None:
            return known.record.document()
        kept = self._kept[record.id] = _Kept(record)
        record.write()
        pump = LogPump({stream: record.pipe(stream) for stream in STREAMS}, LogFile(record.log))
        ends = pump.open_for_container()
        nothing = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
        program = Program(
            arguments=order.arguments,
            environment={**order.environment, CONTAINER_ID: record.id},
            directory=Path(order.directory) if order.directory else None,
            user=order.user,
            group=order.group,
            groups=order.groups,
            umask=CONTAINER_UMASK,
            standard_input=nothing,
            standard_output=ends[0],
            standard_error=ends[1],
        )
        try:
            child = start_child(program)
        except NotStarted as error:
            pump.finish()
            kept.record = record.not_started(str(error), utc_now())
            kept.record.write()
            return kept.record.document()
        finally:
            for descriptor in (nothing, *ends):
                os.close(descriptor)
        kept.record = record.running(child.identity, utc_now())
        kept.record.write()
        self._look_after(kept, child, pump)
        return kept.record.document()

    def listing_since(self, tag: str) -> dict[str, Any]:
        """Every container, or None for them when nothing has changed since the listing of *tag*."""
        containers = self.listed()
        if not self._tag or containers != self._last_listed:
            self._tag, self._last_listed = secrets.token_hex(), containers
        return {"tag": self._tag, "containers": None if tag == self._tag else containers}

    def listed(self, uid: str = "") -> list[protocol.Listed]:
        """Name every container: id, pod, name and state; those of one pod if it is given."""
        return [
            (record.id, record.uid, record.name, record.state.value) for record in self.records(uid)
        ]

    def records(self, uid: str = "") -> list[ContainerRecord]:
        """The records of one pod, or of all, the newest life of a container first."""
        found = [kept.record for kept in self._kept.values() if not uid or kept.record.uid == uid]
        return sorted(found, key=lambda record: -record.attempt)

    def signal(self, container: str, number: int) -> bool:
        """Send a signal to a container's first process; False when it has ended."""
        child = self._of(container).child
        return child is not None and child.signal(number)

    async def end(self, container: str, grace: float) -> dict[str, Any]:
        """End a container and all of its processes, with force after *grace* seconds."""
        kept = self._of(container)
        if kept.child is not None:
            await kept.child.end(grace)
            await kept.over.wait()
        return kept.record.document()

    def remove(self, container: str) -> bool:
        """Forget a container that has ended, its files too."""
        kept = self._kept.get(container)
        if kept is None:
            return False
        if kept.child is not None:
            raise protocol.KeeperRefused(f"container {container} still runs")
        del self._kept[container]
        kept.record.remove_files()
        return True

    # inside

    def _of(self, container: str) -> _Kept:
        kept = self._kept.get(container)
        if kept is None:
            raise protocol.KeeperRefused(f"there is no container {container}")
        return kept

    def _look_after(self, kept: _Kept, child: Child, pump: LogPump) -> None:
        kept.child, kept.pump = child, pump
        name = f"container {kept.record.name} of {kept.record.uid}"
        self._tasks.start(self._until_its_end(kept, child, pump), name=name)

    async def _until_its_end(self, kept: _Kept, child: Child, pump: LogPump) -> None:
        ending = await child.wait()
        container = kept.record.id
        if kept.is_adopted:
            # Its processes are not left to us.
            kill_processes(all_strays().get(container, ()))
        else:
            known = {each.child.pid for each in self._kept.values() if each.child is not None}
            await kill_left_to_us(container, spare=known)
        pump.finish()
        self._note_end(kept, ending)
        kept.child = kept.pump = None
        kept.over.set()
        for listener in tuple(self._listeners):
            listener({"ended": kept.record.id, "uid": kept.record.uid})

    def _note_end(self, kept: _Kept, ending: Ending) -> None:
        record = kept.record
        failed = ending.exit_code != 0
        kept.record = record.ended(ending, utc_now(), message=_message(record, failed=failed))
        if Path(record.folder).is_dir():  # a pod that was taken away needs no record
            kept.record.write()

    def _take_over(self) -> None:
        """Adopt what an earlier keeper left."""
        strays = all_strays()
        for found in records_below(self._pods):
            record = found
            kept = self._kept[record.id] = _Kept(record)
            if record.finished_at is not None:
                continue
            if record.identity is None:
                # Killed between the start and its note: the process tells who it is.
                first = min(strays.get(record.id, ()), key=lambda each: each.start, default=None)
                if first is not None:
                    identity = ProcessIdentity.of(first.pid)
                    if identity is not None:
                        record = kept.record = record.running(identity, utc_now())
                        record.write()
            identity = record.identity
            child = None if identity is None else adopt_child(identity)
            if child is None:
                # First, so that nobody writes any more while what was written is read.
                kill_processes(strays.get(record.id, ()))
                self._note_vanished(kept)
                continue
            pipes = {stream: record.pipe(stream) for stream in STREAMS}
            kept.is_adopted = True
            self._look_after(kept, child, LogPump(pipes, LogFile(record.log)))
        for container, entries in strays.items():
            known = self._kept.get(container)
            # Others than ours belong to another agent of this machine.
            if known is not None and known.child is None:
                kill_processes(entries)

    def _note_vanished(self, kept: _Kept) -> None:
        record = kept.record
        if record.identity is not None:
            kill_left_behind(record.identity)
        pump = LogPump({stream: record.pipe(stream) for stream in STREAMS}, LogFile(record.log))
        pump.finish()
        self._note_end(kept, Vanished())


def _message(record: ContainerRecord, *, failed: bool) -> str:
    """What a container left as its last word."""
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
        text = last_words(record.log, most_bytes=LOG_MESSAGE_BYTES, most_lines=LOG_MESSAGE_LINES)
    return text.decode(errors="replace")
