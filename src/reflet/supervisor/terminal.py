"""The terminal, and the signals that are sent to us and meant for the process.

The process has the terminal while it runs, and we have it when it does not; both stop and go on
together (Ctrl-Z, fg).  Signals are heard for as long as there is something to clean up.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from reflet.processes.child import Child
from reflet.processes.process_source import STOPPED
from reflet.processes.process_table import group_members, process_entry


class Terminal:
    """The terminal on standard input; *descriptor* is that of the terminal.

    ``found`` gives it where handing it over is right: we have it, and nobody else is in our
    process group.  In a pipeline with a pager the others need it as well.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._child: Child | None = None

    @classmethod
    def found(cls) -> Terminal | None:
        """The terminal that we may hand over, None when there is none."""
        try:
            descriptor = sys.stdin.fileno()
            if os.tcgetpgrp(descriptor) != os.getpgrp():
                return None
        except (AttributeError, OSError, ValueError):
            return None  # no standard input at all, or no terminal, or not the one of our session
        alone = {entry.pid for entry in group_members(os.getpgrp())} == {os.getpid()}
        return cls(descriptor) if alone else None

    def give(self, child: Child) -> None:
        """Put the process in the foreground, and go on with it should it have tried before."""
        self._child = child
        self._set_foreground(child.group)
        # Whoever reads a terminal that is not theirs yet is stopped.
        child.signal_group(signal.SIGCONT)

    def take_back(self) -> None:
        """Put ourselves in the foreground, whether the process still runs or not."""
        self._child = None
        self._set_foreground(os.getpgrp())

    @contextmanager
    def job_control(self) -> Iterator[None]:
        """Stop with the process, and go on with it, while the block lasts."""
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGCHLD, self._look)
        try:
            yield
        finally:
            loop.remove_signal_handler(signal.SIGCHLD)

    def _look(self) -> None:
        child = self._child
        if child is None or child.ending is not None or not _is_stopped(child.pid):
            return
        self._set_foreground(os.getpgrp())
        stop_ourselves()
        # Where a shell controls jobs, somebody has just asked us to go on.
        if os.tcgetpgrp(self._descriptor) == os.getpgrp():
            self._set_foreground(child.group)
        child.signal_group(signal.SIGCONT)

    def _set_foreground(self, group: int) -> None:
        # In the background, this very call would stop us.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTTOU})
        try:
            os.tcsetpgrp(self._descriptor, group)
        except ProcessLookupError:
            return  # the process has ended meanwhile
        except OSError:
            return  # the terminal has been closed
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


def stop_ourselves() -> None:
    """Stop until we are told to go on; where nobody could tell us to, go on at once."""
    handler = signal.signal(signal.SIGTSTP, signal.SIG_DFL)
    signal.raise_signal(signal.SIGTSTP)
    signal.signal(signal.SIGTSTP, handler)
    signal.siginterrupt(signal.SIGTSTP, False)


def _is_stopped(pid: int) -> bool:
    entry = process_entry(pid)
    return entry is not None and entry.state == STOPPED


FORWARDED: Final = (
    signal.SIGINT,
    signal.SIGTERM,
    signal.SIGQUIT,
    signal.SIGHUP,
    signal.SIGUSR1,
    signal.SIGUSR2,
    signal.SIGWINCH,
    signal.SIGTSTP,
    signal.SIGCONT,
)

ENDING: Final = frozenset({signal.SIGINT, signal.SIGTERM, signal.SIGQUIT})
"""After one of these the end of the process is the end of all: nothing is started again."""


@contextmanager
def forwarded_signals(heard: Callable[[int], None]) -> Iterator[None]:
    """Call *heard* with every signal to forward while the block lasts.

    What was ignored when we started stays ignored, for the process as well: ``nohup`` works.
    """
    loop = asyncio.get_running_loop()
    numbers = [number for number in FORWARDED if signal.getsignal(number) != signal.SIG_IGN]
    for number in numbers:
        loop.add_signal_handler(number, heard, number)
    try:
        yield
    finally:
        for number in numbers:
            loop.remove_signal_handler(number)
