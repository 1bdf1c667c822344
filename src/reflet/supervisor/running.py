"""One run, from the first signal that could be lost to the last file that is removed."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, ExitStack

from reflet.processes.reaping import become_reaper, kill_orphans
from reflet.runtime.clock import Clock
from reflet.supervisor.configuration_sources import ConfigurationSource
from reflet.supervisor.private_root import private_root
from reflet.supervisor.run_options import RunOptions
from reflet.supervisor.supervisor import Supervisor
from reflet.supervisor.terminal import Terminal, forwarded_signals
from reflet.volumes.tear_down import Kept


async def run_process(
    opening: AbstractAsyncContextManager[ConfigurationSource],
    options: RunOptions,
    *,
    say: Callable[[str], None],
    announce: Callable[[str], None] | None = None,
    clock: Clock | None = None,
) -> int:
    """Run a process with the configuration of the source that *opening* opens; the exit code.

    What it starts with is told to *announce*, what else happens to *say*.  When this returns,
    nothing that the process has started runs any more and its files are gone, whatever happened.
    """
    become_reaper()
    terminal = Terminal.found()
    left: list[Kept] = []
    supervisor: Supervisor | None = None
    early: list[int] = []

    def heard(number: int) -> None:
        if supervisor is None:
            early.append(number)
        else:
            supervisor.heard(number)

    try:
        with ExitStack() as stack:
            # Before the first file and until the last one is gone: by its default action, a
            # signal in between would end us and leave the values of Secrets behind.
            stack.enter_context(forwarded_signals(heard))
            root = stack.enter_context(private_root(options.root, left))
            if root.on_disk:
                say(f"note: the files are on disk, in {root.path}: {root.on_disk}")
            if terminal is not None:
                stack.enter_context(terminal.job_control())
            supervisor = Supervisor(
                root, options, say=say, announce=announce, terminal=terminal, clock=clock
            )
            for number in early:
                supervisor.heard(number)
            try:
                async with opening as source:
                    return await supervisor.run(source)
            finally:
                # Only now: a source may have had a child of its own, for credentials.
                await kill_orphans(clock=clock)
    finally:
        for kept in left:
            say(f"warning: a file is left over: {kept}")
