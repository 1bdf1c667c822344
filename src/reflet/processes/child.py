"""One process that we look after, from its start or adoption to its end.

Nothing of its process group stays behind.  There is no thread: the kernel tells the event loop
through a descriptor of the process, and where a kernel has none the process is looked at many times
a second.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
from itertools import count
from signal import SIGCONT, SIGKILL, SIGSTOP, SIGTERM
from typing import Final

from reflet.processes.exit_status import Ending, Killed, Vanished, ending_of
from reflet.processes.proc_files import hears_signal, holds_signal_back
from reflet.processes.process_table import (
    ProcessIdentity,
    boot_id,
    descendants_of,
    group_members,
    process_entry,
)
from reflet.processes.program import SHORTAGES, Program, start_process, system_words
from reflet.runtime.clock import Clock, SystemClock

LOOK_INTERVAL: Final = 0.02
"""Seconds between two looks at what the kernel does not tell by itself."""

LOOKS_BETWEEN: Final = 5
"""Looks at a group that has not ended yet, after which all processes are looked at."""

LOOK_LATER: Final = 1.0
"""Seconds until the next look after one that failed."""

KILL_TIMEOUT: Final = 5.0
"""Seconds for killed processes of a group to be gone: one that waits for a broken disk, or that
became another user, may never be."""


logger = logging.getLogger(__name__)


class Child:
    """A process and the process group that it leads.

    Made by ``start_child`` and ``adopt_child``, used by one event loop.  When the process ends,
    by itself or not, what is left of its group is killed, as a container is when its first
    process ends, unless it *keeps_group*.  ``close`` lets go of it and leaves it running.

    One that *is_init* is the first process of a PID namespace, and ends with everything in it.
    """

    def __init__(
        self,
        identity: ProcessIdentity,
        *,
        is_init: bool = False,
        keeps_group: bool = False,
        clock: Clock | None = None,
    ) -> None:
        self.identity = identity
        self.group = identity.pid
        self._is_init = is_init
        self._keeps_group = keeps_group
        self._ended_by: int | None = None
        self._clock = SystemClock() if clock is None else clock
        self._loop = asyncio.get_running_loop()
        self._ended: asyncio.Future[Ending] = self._loop.create_future()
        self._next_look: asyncio.TimerHandle | None = None
        self._is_being_ended = False
        self._descriptor = open_descriptor(identity.pid)
        if self._descriptor is None:
            self._look_again()
        else:
            self._loop.add_reader(self._descriptor, self._look)

    @property
    def pid(self) -> int:
        """The number of the process; another's, perhaps, once it has ended."""
        return self.identity.pid

    @property
    def ending(self) -> Ending | None:
        """How it ended, None while it runs or when nobody watched."""
        if not self._ended.done() or self._ended.cancelled():
            return None
        return self._ended.result()

    async def wait(self) -> Ending:
        """Return how it ended, when it has; any number of tasks may wait."""
        return await asyncio.shield(self._ended)

    def signal(self, number: int) -> bool:
        """Send a signal to the process alone; False if it has ended.

        Raises ``PermissionError`` when it became another user, as ``sudo`` does.
        """
        if self._ended.done():
            return False
        try:
            if self._descriptor is None or not hasattr(signal, "pidfd_send_signal"):
                # Its number may be another's once it has ended, if it is not our own child.
                if not self.identity.is_running():
                    return False
                os.kill(self.pid, number)
            else:
                signal.pidfd_send_signal(self._descriptor, number)
        except ProcessLookupError:
            return False
        return True

    def signal_group(self, number: int) -> bool:
        """Send a signal to the process and all of its group; False if nobody is there."""
        if self._ended.done():
            return False
        return _signal_group(self.group, number)

    def kill(self) -> None:
        """Kill the whole group now; ``wait`` tells when it is over."""
        self.signal_group(SIGKILL)

    async def end(self, grace: float, *, number: int = SIGTERM) -> Ending:
        """Ask it to end, and after ``grace`` seconds kill it; return how it ended.

        The process is asked first, because many that lead others end these in order.  Where it
        leaves some behind, as a shell does, these are asked too and have what is left of the
        time.  When this returns, nothing of the group runs any more.  Cancelled, it leaves the
        process asked but not killed.  Raises ``PermissionError`` as ``signal`` does.
        """
        if self._ended.done():
            return await self.wait()
        deadline = self._clock.monotonic() + grace
        self._is_being_ended = True
        try:
            self.signal(number)
            if self._is_init and not await self._is_heard(number, deadline):
                await self._do_as_the_signal_would(number, deadline)
            # A stopped process hears nothing before it goes on.
            self.signal_group(SIGCONT)
            await self._until_ended(deadline)
            if self._ended.done() and _signal_group(self.group, number):
                await self._group_ended_by(deadline)
            _signal_group(self.group, SIGKILL)
            ending = await self.wait()
            await self._group_ended_by(self._clock.monotonic() + KILL_TIMEOUT)
        except asyncio.CancelledError:
            if self._ended.done():
                # Nobody comes back for those whom it left behind.
                _signal_group(self.group, SIGKILL)
            raise
        finally:
            self._is_being_ended = False
        return ending

    def close(self) -> None:
        """Stop watching.  The process goes on, and ``wait`` is cancelled."""
        self._stop_looking()
        self._ended.cancel()

    # Ends

    async def _is_heard(self, number: int, deadline: float) -> bool:
        """Whether the process says what a signal means to it; waits while it holds that back.

        A shell holds back everything while it starts a program.  Linux drops the signal when
        that is over, and all the others would be killed unasked at the end of the grace period.
        """
        while not self._ended.done() and self._clock.monotonic() < deadline:
            if hears_signal(self.pid, number):
                return True
            if not holds_signal_back(self.pid, number):
                return False
            await asyncio.wait((self._ended,), timeout=LOOK_INTERVAL)
        return True

    async def _do_as_the_signal_would(self, number: int, deadline: float) -> None:
        """End a process that does not say what a signal means to it.

        The kernel spares the first process of a PID namespace what a signal does to others, and
        ``sleep`` would be there until the end of its grace period.  Killing it takes the others
        along, so it stands still while these have the rest of the time.
        """
        self._ended_by = number
        self.signal(SIGSTOP)
        asked: set[int] = set()
        try:
            while others := self._others():
                for pid in others - asked:
                    for each in (number, SIGCONT):
                        with contextlib.suppress(ProcessLookupError):
                            os.kill(pid, each)
                asked |= others
                if self._clock.monotonic() >= deadline:
                    break
                await self._clock.sleep(LOOK_INTERVAL)
        finally:
            self.signal(SIGKILL)  # also when nobody waits any more: it must not stand still

    def _others(self) -> set[int]:
        """The others of its group; in its namespace all descend from it."""
        return {
            each.pid
            for each in descendants_of(self.pid)
            if each.group == self.group and not each.has_ended
        }

    async def _until_ended(self, deadline: float) -> None:
        left = deadline - self._clock.monotonic()
        if left > 0:
            await asyncio.wait((self._ended,), timeout=left)

    async def _group_ended_by(self, deadline: float) -> None:
        for look in count():
            reap_group(self.group)
            if not _signal_group(self.group, 0):
                return
            # Zombies of others count as members for ever when their parent forgets them.  To find
            # that out, every process of the machine is looked at: not at once, and not each time.
            if look % LOOKS_BETWEEN == LOOKS_BETWEEN - 1 and not group_members(self.group):
                return
            if self._clock.monotonic() >= deadline:
                return
            await self._clock.sleep(LOOK_INTERVAL)

    def _look_again(self, seconds: float = LOOK_INTERVAL) -> None:
        before, self._next_look = self._next_look, self._loop.call_later(seconds, self._look)
        if before is not None:
            before.cancel()

    def _look(self) -> None:
        try:
            ending = self._ending_now()
        except SHORTAGES as error:
            # The kernel would tell us again at once, so it is not heard for a while.  The next look
            # is certain before that, and before anything is said of it: without one, whoever waits
            # for the end would wait for ever.
            self._look_again(LOOK_LATER)
            if self._descriptor is not None:
                self._loop.remove_reader(self._descriptor)
            logger.warning("process %d cannot be looked at: %s", self.pid, system_words(error))
            return
        if ending is None:
            if self._descriptor is None:
                self._look_again()
            else:
                self._loop.add_reader(self._descriptor, self._look)
            return
        self._stop_looking()
        if ending == Killed(SIGKILL) and self._ended_by is not None:
            ending = Killed(self._ended_by)
        if not self._is_being_ended and not self._keeps_group:
            _signal_group(self.group, SIGKILL)
            reap_group(self.group)
        if not self._ended.done():
            self._ended.set_result(ending)

    def _ending_now(self) -> Ending | None:
        try:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
        except ChildProcessError:
            # Started by an earlier life of this program: its code went to another.
            return None if self.identity.is_running() else Vanished()
        return ending_of(status) if pid else None

    def _stop_looking(self) -> None:
        if self._next_look is not None:
            self._next_look.cancel()
            self._next_look = None
        if self._descriptor is not None:
            self._loop.remove_reader(self._descriptor)
            os.close(self._descriptor)
            self._descriptor = None


def start_child(program: Program, *, clock: Clock | None = None) -> Child:
    """Start a program and look after it; raises ``NotStarted``."""
    pid = start_process(program)
    identity = ProcessIdentity.of(pid)
    if identity is None:
        # Nobody but us waits for it, so it cannot be gone.
        raise ProcessLookupError(f"the process {pid}, just started, is not in the process table")
    return Child(identity, clock=clock)


def adopt_child(
    identity: ProcessIdentity, *, is_init: bool = False, clock: Clock | None = None
) -> Child | None:
    """Look after a process that an earlier life of this program started; None if it has ended.

    Its exit code may have gone to another parent, and then its ending is ``Vanished``.
    """
    if not identity.is_running():
        return None
    child = Child(identity, is_init=is_init, clock=clock)
    # Only now does the descriptor hold the number: whoever has it must be the one we mean.
    if not identity.is_running():
        child.close()
        return None
    return child


def kill_left_behind(identity: ProcessIdentity) -> bool:
    """Kill what an ended process, the leader of a session of ours, left; True if there was any.

    While any of a group runs, its number is not given to another process.  Once all of it is gone,
    though, it may be; and after a start of the machine numbers and times begin anew.  So the group
    is not ours after such a start, when another process leads it, when a member is older than
    our leader, and when it is only a part of somebody's session, as the jobs of a shell are.
    """
    if identity.boot != boot_id():
        return False
    leader = process_entry(identity.pid)
    if leader is not None and leader.start != identity.start:
        return False
    members = group_members(identity.pid)
    if not members or any(
        each.start < identity.start or each.session != identity.pid for each in members
    ):
        return False
    return _signal_group(identity.pid, SIGKILL)


def open_descriptor(pid: int) -> int | None:
    """A descriptor that can be read once the process has ended; None where there are none."""
    if not hasattr(os, "pidfd_open"):
        return None
    try:
        return int(os.pidfd_open(pid))
    except OSError:
        # No such system call, or one that a sandbox forbids, or a process that ended and is
        # not our child: then looking tells.
        return None


def reap_group(group: int) -> None:
    """Take the exit codes of children of ours that have ended in this group."""
    try:
        while os.waitpid(-group, os.WNOHANG) != (0, 0):
            pass
    except ChildProcessError:
        return


def _signal_group(group: int, number: int) -> bool:
    try:
        os.killpg(group, number)
    except ProcessLookupError:
        return False
    except PermissionError:
        # All that is left of it runs as another user.
        return True
    return True
