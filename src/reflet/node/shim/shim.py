"""Looks after containers, whose processes are the children of whoever runs this.

It starts and ends them, reads what they write, and puts a record of each life on disk, its exit
code above all.  An agent that is killed and started again finds everything as it is, and what ended
meanwhile is on record.  A shim that is killed itself is replaced, and the new one adopts what
runs; only the exit codes of those it adopts are lost.

The process has one thread, always: it forks, and a child that forks with locks held by other
threads may never run.

Upstream: pkg/kubelet/kuberuntime/kuberuntime_container.go, killContainer
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import resource
import secrets
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from signal import SIGKILL
from typing import Final, NoReturn, assert_never

from reflet.node.shim import protocol
from reflet.node.shim.commands import RunningCommands, Streams, execute
from reflet.node.shim.container_records import ContainerRecord, records_below, termination_message
from reflet.node.shim.container_streams import ContainerStreams
from reflet.node.shim.log_files import utc_now
from reflet.node.shim.strays import (
    CONTAINER_ID,
    all_strays,
    kill_left_to_us,
    kill_processes,
)
from reflet.processes.child import Child, adopt_child, kill_left_behind
from reflet.processes.container_plan import ContainerPlan
from reflet.processes.container_start import OutOfResources, start_container
from reflet.processes.exit_status import Ending, Vanished
from reflet.processes.process_table import ProcessIdentity, environment_of
from reflet.processes.program import SHORTAGES, NotStarted, system_words
from reflet.processes.reaping import OrphanReaper, become_reaper
from reflet.runtime.permanent_tasks import PermanentTasks
from reflet.runtime.tasks import TaskOwner

TRY_AGAIN: Final = 1.0  # seconds until what could not be done for want of something is tried again
LIMITS: Final = (resource.RLIMIT_NOFILE, resource.RLIMIT_AS)

Listener = Callable[[protocol.ContainerEnded], None]

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class _Kept:
    """A container's life, and what looks after it while it lasts."""

    record: ContainerRecord
    environment: Mapping[str, str] | None = field(default=None, repr=False)
    child: Child | None = None
    streams: ContainerStreams | None = None
    starting: asyncio.Event | None = None
    is_adopted: bool = False
    over: asyncio.Event = field(default_factory=asyncio.Event)


class Shim:
    """Keeps the containers whose folders are below *pods*; open while the context is.

    Containers have the limits of the moment in which this was made, whatever becomes of ours.
    """

    def __init__(self, pods: Path) -> None:
        self._pods = pods
        self._limits = tuple((kind, *resource.getrlimit(kind)) for kind in LIMITS)
        self._kept: dict[str, _Kept] = {}
        self._commands = RunningCommands()
        self._tasks = TaskOwner("shim")
        self._permanent = PermanentTasks()
        self._listeners: set[Listener] = set()
        self._last_listed = protocol.ContainerList()

    @contextlib.asynccontextmanager
    async def opened(self) -> AsyncIterator[None]:
        """Take over what runs, keep until the block ends, and let go of it without ending it."""
        become_reaper()
        reaper = OrphanReaper()
        async with self._tasks:
            self._take_over()
            self._permanent.keep(self._tasks, reaper.run, name="reaper of orphans")
            try:
                yield
            finally:
                for _ in range(2):  # it reaps what it has seen twice
                    reaper.look()
                for kept in self._kept.values():
                    if kept.child is not None:
                        kept.child.close()
                    if kept.streams is not None:
                        kept.streams.close()

    @property
    def has_work(self) -> bool:
        """Whether any process runs."""
        return any(kept.child or kept.starting for kept in self._kept.values())

    async def ended(self) -> NoReturn:
        """Wait for ever, or raise TaskEnded when the shim cannot keep what it promises."""
        await self._permanent.ended()

    def listen(self, listener: Listener) -> None:
        """Be told when containers end."""
        self._listeners.add(listener)

    def forget(self, listener: Listener) -> None:
        """Be told no more."""
        self._listeners.discard(listener)

    async def answer(self, request: protocol.ContainerRequest) -> protocol.ShimAnswer:
        """Do what a request asks; RefletError when that cannot be done."""
        match request:
            case protocol.StartContainer():
                return protocol.ContainerAnswer(await self.start(request))
            case protocol.ListContainers(uid=uid):
                return protocol.ContainerList(containers=self.listed(uid))
            case protocol.ListChanges(tag=tag):
                return self.changes_since(tag)
            case protocol.ListRecords(uid=uid):
                return protocol.ContainerRecords(tuple(self.records(uid)))
            case protocol.ExecSync(id=container, arguments=arguments, timeout=timeout):
                return await self.execute(container, arguments, timeout)
            case protocol.ExecStream():
                return await self._commands.run(request, self._start_command)
            case protocol.StopExec(command=command):
                return protocol.Done(self._commands.stop(command))
            case protocol.CloseStdin(id=container):
                streams = self._of(container).streams
                return protocol.Done(streams is not None and streams.end_input())
            case protocol.SignalContainer(id=container, signal=number):
                return protocol.Done(self.signal(container, number))
            case protocol.StopContainer(id=container, grace=grace):
                return protocol.ContainerAnswer(await self.end(container, grace))
            case protocol.RemoveContainer(id=container):
                return protocol.Done(self.remove(container))
            case _:
                assert_never(request)

    # What can be asked

    async def start(self, order: protocol.StartContainer) -> ContainerRecord:
        """Start a container; one that could not be started is on record as ended.

        For want of descriptors, memory or disk it is refused, and had no life: these may be there
        again soon, and a pod that is never restarted must not fail for them.
        """
        record = order.record
        known = self._kept.get(record.id)
        if known is not None:
            return known.record
        kept = self._kept[record.id] = _Kept(record, order.environment)
        kept.starting = asyncio.Event()
        # To its end, whoever asked: an agent that is killed meanwhile finds the container running.
        starting = self._begin(kept, order)
        refusal = await asyncio.shield(self._tasks.start(starting, name=f"start of {record.name}"))
        if refusal:
            raise protocol.ShimRefused(f"container {record.name} is not started: {refusal}")
        return kept.record

    async def _begin(self, kept: _Kept, order: protocol.StartContainer) -> str:
        """Start a container, or note that it cannot be; what it lacks if it may be tried again."""
        record = kept.record
        try:
            await self._start(kept, order)
        except (OutOfResources, *SHORTAGES) as error:
            del self._kept[record.id]
            with contextlib.suppress(*SHORTAGES):  # for want of the same
                record.remove_files()
            return str(error) if isinstance(error, OutOfResources) else system_words(error)
        except NotStarted as error:
            kept.record = kept.record.not_started(str(error), utc_now())
            self._write(kept)
        finally:
            if kept.starting is not None:
                kept.starting.set()
            kept.starting = None
        return ""

    async def _start(self, kept: _Kept, order: protocol.StartContainer) -> None:
        def note(identity: ProcessIdentity) -> None:
            kept.record = record.running(identity, utc_now())
            kept.record.write()

        record = kept.record
        record.write()
        streams = ContainerStreams(record)
        try:
            with contextlib.ExitStack() as opened:
                ends = streams.open_for_container()
                for descriptor in ends:
                    opened.callback(os.close, descriptor)
                plan = self._plan(record, order.arguments, order.environment, ends)
                identity = await start_container(replace(plan, root=order.root), note)
            try:
                child = Child(identity, is_init=record.is_isolated)
            except BaseException:
                os.kill(identity.pid, SIGKILL)  # nobody would look after it
                raise
        except BaseException:
            streams.finish()
            raise
        self._look_after(kept, child, streams)

    async def execute(
        self, container: str, arguments: tuple[str, ...], timeout: float
    ) -> protocol.Executed:
        """Run a command beside a container's first process; it is killed after *timeout* seconds.

        Raises ShimRefused when the container does not run, or the command cannot be run in it.
        """
        return await execute(partial(self._started_beside, container, arguments), timeout)

    async def _start_command(self, order: protocol.ExecStream, streams: Streams) -> Child:
        return await self._started_beside(
            order.id, order.arguments, streams, has_terminal=order.terminal
        )

    async def _started_beside(
        self,
        container: str,
        arguments: tuple[str, ...],
        streams: Streams,
        *,
        has_terminal: bool = False,
    ) -> Child:
        kept = self._of(container)
        if kept.child is None:
            raise protocol.ShimRefused(f"container {kept.record.name} does not run")
        first = kept.child.pid
        environment = kept.environment if kept.environment is not None else environment_of(first)
        plan = replace(
            self._plan(kept.record, arguments, environment, streams),
            joins=first if kept.record.is_isolated else None,
            has_terminal=has_terminal,
        )
        try:
            return Child(await start_container(plan, lambda _: None), keeps_group=True)
        except NotStarted as error:
            raise protocol.ShimRefused(str(error)) from error

    def changes_since(self, tag: str) -> protocol.ContainerList | protocol.Unchanged:
        """Every container, unless nothing has changed since the list of *tag*."""
        containers = self.listed()
        if not self._last_listed.tag or containers != self._last_listed.containers:
            self._last_listed = protocol.ContainerList(secrets.token_hex(), containers)
        return protocol.Unchanged() if tag == self._last_listed.tag else self._last_listed

    def listed(self, uid: str = "") -> tuple[protocol.ListedContainer, ...]:
        """Name every container; those of one pod if it is given."""
        return tuple(
            protocol.ListedContainer(record.id, record.uid, record.name, record.state)
            for record in self.records(uid)
        )

    def records(self, uid: str = "") -> list[ContainerRecord]:
        """The records of one pod, or of all, the newest life of a container first."""
        found = [kept.record for kept in self._kept.values() if not uid or kept.record.uid == uid]
        return sorted(found, key=lambda record: -record.attempt)

    def signal(self, container: str, number: int) -> bool:
        """Send a signal to a container's first process; False when it has ended."""
        child = self._of(container).child
        return child is not None and child.signal(number)

    async def end(self, container: str, grace: float) -> ContainerRecord:
        """End a container and all of its processes, with force after *grace* seconds."""
        kept = self._of(container)
        if kept.starting is not None:
            await kept.starting.wait()  # what is not there yet cannot be ended
        if kept.child is not None:
            await kept.child.end(grace)
            await kept.over.wait()
        return kept.record

    def remove(self, container: str) -> bool:
        """Forget a container that has ended, its files too."""
        kept = self._kept.get(container)
        if kept is None:
            return False
        if kept.child is not None or kept.starting is not None:
            raise protocol.ShimRefused(f"container {container} still runs")
        del self._kept[container]
        kept.record.remove_files()
        return True

    # inside

    def _of(self, container: str) -> _Kept:
        kept = self._kept.get(container)
        if kept is None:
            raise protocol.ShimRefused(f"there is no container {container}")
        return kept

    def _plan(
        self,
        record: ContainerRecord,
        arguments: tuple[str, ...],
        environment: Mapping[str, str],
        streams: tuple[int, int, int],
    ) -> ContainerPlan:
        """A process of a container, which runs as all of them do."""
        return ContainerPlan(
            arguments=arguments,
            environment={**environment, CONTAINER_ID: record.id},
            streams=streams,
            directory=record.directory,
            user=record.user,
            group=record.group,
            groups=record.groups,
            capabilities=record.capabilities,
            limits=self._limits,
        )

    def _look_after(self, kept: _Kept, child: Child, streams: ContainerStreams) -> None:
        kept.child, kept.streams = child, streams
        name = f"container {kept.record.name} of {kept.record.uid}"
        self._tasks.start(self._until_its_end(kept, child, streams), name=name)

    async def _until_its_end(self, kept: _Kept, child: Child, streams: ContainerStreams) -> None:
        ending = await child.wait()
        try:
            await self._end_strays(kept)
        except SHORTAGES as error:
            # Its first process is dead all the same, and whoever waits for that is told.
            logger.warning("strays of container %s: %s", kept.record.name, system_words(error))
            self._tasks.start(self._end_strays_later(kept), name="strays")
        finally:
            try:
                streams.finish()
            except SHORTAGES as error:
                logger.warning("log of container %s: %s", kept.record.name, system_words(error))
            kept.child = kept.streams = None
            self._note_end(kept, ending)
            kept.over.set()
            for listener in tuple(self._listeners):
                listener(protocol.ContainerEnded(kept.record.id, kept.record.uid))

    async def _end_strays(self, kept: _Kept) -> None:
        """Kill what left the container's session; a PID namespace has taken it along already."""
        container = kept.record.id
        if kept.record.is_isolated:
            return
        if kept.is_adopted:
            # Its processes are not left to us.
            kill_processes(all_strays().get(container, ()))
        else:
            known = {each.child.pid for each in self._kept.values() if each.child is not None}
            await kill_left_to_us(container, spare=known)

    async def _end_strays_later(self, kept: _Kept) -> None:
        while True:
            await asyncio.sleep(TRY_AGAIN)
            with contextlib.suppress(*SHORTAGES):
                await self._end_strays(kept)
                return

    def _note_end(self, kept: _Kept, ending: Ending) -> None:
        record = kept.record
        failed = ending.exit_code != 0
        kept.record = record.ended(
            ending, utc_now(), message=termination_message(record, failed=failed)
        )
        self._write(kept)

    def _write(self, kept: _Kept) -> None:
        """Put a record on disk, now or when there is room again; memory has it at once."""
        if not self._written(kept):
            self._tasks.start(self._write_later(kept), name=f"record of {kept.record.name}")

    async def _write_later(self, kept: _Kept) -> None:
        while True:
            await asyncio.sleep(TRY_AGAIN)
            if self._written(kept):
                return

    def _written(self, kept: _Kept) -> bool:
        if self._kept.get(kept.record.id) is not kept:
            return True  # removed meanwhile
        try:
            if Path(kept.record.folder).is_dir():  # a pod that was taken away needs no record
                kept.record.write()
        except SHORTAGES as error:
            logger.warning("record of container %s: %s", kept.record.name, system_words(error))
            return False
        return True

    def _take_over(self) -> None:
        """Adopt what an earlier shim left."""
        strays = all_strays()
        for record in records_below(self._pods):
            kept = self._kept[record.id] = _Kept(record)
            if record.finished_at is not None:
                continue
            identity = record.identity  # without one it never became its command
            is_init = record.is_isolated
            child = None if identity is None else adopt_child(identity, is_init=is_init)
            if child is None:
                # First, so that nobody writes any more while what was written is read.
                kill_processes(strays.get(record.id, ()))
                self._note_vanished(kept)
                continue
            kept.is_adopted = True
            streams = ContainerStreams(record)
            streams.adopted()
            self._look_after(kept, child, streams)
        for container, entries in strays.items():
            known = self._kept.get(container)
            # Others than ours belong to another agent of this machine.
            if known is not None and known.child is None:
                kill_processes(entries)

    def _note_vanished(self, kept: _Kept) -> None:
        record = kept.record
        if record.identity is not None and not record.is_isolated:  # else nothing outlives it
            kill_left_behind(record.identity)
        ContainerStreams(record).finish()
        self._note_end(kept, Vanished())
