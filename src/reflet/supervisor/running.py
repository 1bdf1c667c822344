"""One run, from the first signal that could be lost to the last file that is removed.

Owns: the order in which things are set up and taken down again.  Must not know what happens in
between.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, ExitStack

from reflet.processes.reaping import become_reaper, kill_orphans
from reflet.runtime.clock import Clock
from reflet.supervisor.configuration_sources import ConfigurationSource
from reflet.supervisor.private_root import PrivateRoot, private_root
from reflet.supervisor.run_options import RunOptions
from reflet.supervisor.supervisor import Supervisor
from reflet.supervisor.terminal import Terminal, forwarded_signals
from reflet.volumes.tear_down import Kept


async def run_process(
    opening: AbstractAsyncContextManager[ConfigurationSource],
    options: RunOptions,
    *,
    say: Callable[[str], None],
    clock: Clock | None = None,
) -> int:
    """Run a process with the configuration of the source that *opening* opens; the exit code.

    When this returns, nothing that the process has started runs any more and its files are
    gone, whatever happened.
    """
    become_reaper()
    terminal = Terminal.found()
    left: list[Kept] = []
    try:
        with ExitStack() as stack:
            root = stack.enter_context(private_root(options.root, left))
            if root.on_disk:
                say(f"note: the files are on disk, in {root.path}: {root.on_disk}")
            if terminal is not None:
                stack.enter_context(terminal.job_control())
            return await _run(root, terminal, opening, options, say=say, clock=clock)
    finally:
        for kept in left:
            say(f"warning: a file is left over: {kept}")


async def _run(
    root: PrivateRoot,
    terminal: Terminal | None,
    opening: AbstractAsyncContextManager[ConfigurationSource],
    options: RunOptions,
    *,
    say: Callable[[str], None],
    clock: Clock | None,
) -> int:
    supervisor = Supervisor(root, options, say=say, terminal=terminal, clock=clock)
    with forwarded_signals(supervisor.heard):
        try:
            async with opening as source:
                return await supervisor.run(source)
        finally:
            # Only now: a source may have had a child of its own, for credentials.
            await kill_orphans(clock=clock)
