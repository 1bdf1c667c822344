"""The process dies with us, where it cannot ask for that itself."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from reflet.processes.child import Child
from reflet.processes.process_table import children_of
from reflet.processes.program import NotStarted
from reflet.supervisor import death_watch

# A supervisor that starts a process, says who it is, and waits to be killed.
SUPERVISOR = """
import asyncio, sys
from reflet.processes.child import start_child
from reflet.processes.program import Program
from reflet.supervisor import death_watch

async def main():
    async with death_watch.death_watch(needed=True) as deaths:
        command = ("/bin/sleep", "600")
        child = start_child(Program(command, {"PATH": "/bin:/usr/bin"}))
        deaths.follow(child)
        print(child.pid, flush=True)
        await asyncio.sleep(600)

asyncio.run(main())
"""


def test_the_process_is_killed_with_its_supervisor() -> None:
    with subprocess.Popen([sys.executable, "-c", SUPERVISOR], stdout=subprocess.PIPE) as supervisor:
        assert supervisor.stdout is not None
        pid = int(supervisor.stdout.readline())
        descriptor = os.pidfd_open(pid)
        supervisor.send_signal(signal.SIGKILL)
        supervisor.wait()
        supervisor.stdout.read()  # ends when the last process that has it is gone

    os.close(descriptor)
    assert not Path("/proc", str(pid), "exe").exists()


async def test_the_watcher_is_gone_with_its_block() -> None:
    async with death_watch.death_watch(needed=True):
        during = children_of(os.getpid())

    assert len(during) == 1
    assert children_of(os.getpid()) == []


async def test_where_the_kernel_does_it_nobody_watches() -> None:
    async with death_watch.death_watch(needed=False) as deaths:
        deaths.forget()

        assert children_of(os.getpid()) == []


async def test_a_watcher_that_cannot_be_started_leaves_no_descriptor(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def cannot(*_: object, **__: object) -> Child:
        raise NotStarted("no process", exit_code=126)

    monkeypatch.setattr(death_watch, "start_child", cannot)

    # The end of each test looks for pipes that were left.
    with pytest.raises(NotStarted):
        async with death_watch.death_watch(needed=True):
            pass
