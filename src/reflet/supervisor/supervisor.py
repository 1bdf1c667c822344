"""The life of a process that has a container's configuration.

Waits for the configuration, starts the process, and does what is to be done when something changes
and when the process ends.  What that is decide ``configuration_changes`` and ``run_options``; this
file obeys.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Final

from reflet.errors import RefletError
from reflet.processes.child import KILL_TIMEOUT, Child, start_child
from reflet.processes.crash_backoff import CrashBackoff
from reflet.processes.exit_status import SIGNALLED, Ending, signal_name
from reflet.processes.program import Grouping, Program
from reflet.processes.reaping import OrphanReaper
from reflet.runtime.backoff import Backoff
from reflet.runtime.clock import Clock, SystemClock
from reflet.runtime.tasks import TaskOwner
from reflet.runtime.threads import in_thread
from reflet.supervisor.configuration_changes import (
    Outfit,
    Reaction,
    SignalOnChange,
    changed_files,
    described,
    fixed_parts,
    outfit_change,
    reaction_to,
)
from reflet.supervisor.configuration_sources import ConfigurationSource
from reflet.supervisor.container_configuration import (
    ContainerConfiguration,
    child_environment,
    command_for,
)
from reflet.supervisor.death_watch import DeathWatch, death_watch
from reflet.supervisor.isolation import TetheredStarts
from reflet.supervisor.mount_tree import MountPlan, MountTree, plan_mounts
from reflet.supervisor.private_root import PrivateRoot
from reflet.supervisor.run_options import RunOptions
from reflet.supervisor.terminal import ENDING, Terminal, stop_ourselves
from reflet.volumes.volume_errors import VolumeError

PATIENCE: Final = 1.0
"""Seconds after which it is said what is waited for."""
FIRST_REWRITE: Final = 1.0
LONGEST_REWRITE: Final = 60.0
"""Seconds until files that could not be written are tried again."""
LONGEST_DEBOUNCE: Final = 10
"""Times the debounce that changes without a pause may put off what is done about them."""

Say = Callable[[str], None]


class ContainerRefused(RefletError):
    """The kubelet would not start the container; the message is its own."""


class Supervisor:
    """Runs one process as long as it lives, and as often as it is to be started.

    ``run`` returns the exit code.  ``heard`` is to be called with every signal that is sent to
    us.  Nothing is told to *say* that may be secret.  What the process starts with goes to
    *announce*, once.
    """

    def __init__(
        self,
        root: PrivateRoot,
        options: RunOptions,
        *,
        say: Say,
        announce: Say | None = None,
        terminal: Terminal | None = None,
        clock: Clock | None = None,
    ) -> None:
        self._root = root
        self._options = options
        self._say = say
        self._announce = announce
        self._terminal = terminal
        self._clock = SystemClock() if clock is None else clock
        self._tree = MountTree(root, linked=not options.isolate)
        self._starts = TetheredStarts(root, isolated=options.isolate)
        self._deaths = DeathWatch()
        self._latest: ContainerConfiguration | None = None
        self._source_error: Exception | None = None
        self._news = asyncio.Event()
        self._told_to_end: int | None = None
        self._child: Child | None = None
        self._said: set[str] = set()
        self._unwritten: str | None = None  # why the files of the latest configuration are
        self._rewrites = Backoff(
            first=FIRST_REWRITE,
            ceiling=LONGEST_REWRITE,
            jitter=0.2,
            reset_after=None,
            clock=self._clock,
        )

    async def run(self, source: ConfigurationSource) -> int:
        """Run until the process has ended for good; return the exit code.

        Raises ContainerRefused when the kubelet would not start the container, NotStarted when
        the system does not, and the source's errors until there is a configuration.
        """
        async with death_watch(clock=self._clock) as self._deaths, TaskOwner("run") as tasks:
            tasks.start(self._follow(source), name="configuration")
            tasks.start(OrphanReaper(clock=self._clock).run(), name="orphans")
            return await self._live()

    def heard(self, number: int) -> None:
        """A signal was sent to us: pass it on, or end when there is nobody to pass it on to."""
        if number in ENDING:
            self._told_to_end = number
            self._news.set()
        child = self._child
        if child is None:
            return
        try:
            if number in {signal.SIGTSTP, signal.SIGCONT}:
                child.signal_group(number)
            else:
                child.signal(number)
        except PermissionError:
            self._say(f"warning: {signal_name(number)} is not passed on: {_NOT_OURS}")
        if number == signal.SIGTSTP and self._terminal is None:
            stop_ourselves()
            child.signal_group(signal.SIGCONT)

    # The configuration

    async def _follow(self, source: ConfigurationSource) -> None:
        try:
            async for configuration in source.configurations():
                self._latest = configuration
                self._news.set()
        except Exception as error:
            # Not only errors of ours: a machine that has no thread for a source, for one, would
            # otherwise be waited for without end.
            self._source_error = error
            self._news.set()
            if self._latest is None:
                return  # whoever waits for a configuration raises it
            if not isinstance(error, RefletError):
                raise
            self._say(f"warning: {error}; the process keeps what it has")

    async def _ready(self, patience: float | None) -> ContainerConfiguration | None:
        """The configuration, once the kubelet would start the container; None if told to end."""
        deadline = None if patience is None else self._clock.monotonic() + patience
        tell_at = self._clock.monotonic() + PATIENCE
        # Whoever waits for nothing still waits for the first answer.
        while self._told_to_end is None:
            latest = self._latest
            if latest is not None and latest.refusal is None:
                return latest
            if latest is None and self._source_error is not None:
                raise self._source_error
            why = "there is no configuration yet" if latest is None else latest.refusal or ""
            now = self._clock.monotonic()
            if latest is not None and deadline is not None and now >= deadline:
                raise ContainerRefused(why)
            if now >= tell_at:
                self._say_once(f"waiting: {why}")
            moments = [moment for moment in (tell_at, deadline) if moment and moment > now]
            await self._news_until(min(moments, default=now + PATIENCE))
        return None

    async def _news_until(self, moment: float) -> bool:
        """Wait for news, at most until a moment; whether there are any."""
        try:
            async with asyncio.timeout(max(0.0, moment - self._clock.monotonic())):
                await self._news.wait()
        except TimeoutError:
            return False
        self._news.clear()
        return True

    def _outfit(self, configuration: ContainerConfiguration) -> Outfit:
        wishes = self._options.environment
        variables = configuration.environment.values
        container = configuration.container
        environment = child_environment(
            variables, self._options.local, wishes, root=str(self._root.path)
        )
        # The kubelet expands what the container's variables say, and nothing of the machine.
        own = {
            name: environment[name]
            for name in (*variables, *wishes.settings)
            if name in environment
        }
        plan = plan_mounts(configuration.pod, container.name, own)
        return Outfit(
            command=command_for(container, own, self._options.command),
            environment=environment,
            plan=plan,
            fixed=fixed_parts(plan, configuration.volumes),
        )

    # The life

    async def _live(self) -> int:
        backoff = CrashBackoff()
        patience: float | None = self._options.wait
        while (configuration := await self._ready(patience)) is not None:
            patience = None
            self._news.clear()
            ending = await self._one_life(configuration)
            if ending is None:
                continue  # something is new, and it ends only to begin again
            if self._told_to_end is not None or not self._options.restart.wants_another(ending):
                return ending.exit_code
            ended_at = self._clock.monotonic()
            left = backoff.left(ended_at=ended_at, now=ended_at)
            when = f"in {left:g} s" if left else "now"
            self._say(f"the process {ending}; it is started again {when}")
            if left:
                # What is new may be just what it needs.
                await self._news_until(ended_at + left)
            backoff = backoff.restarted(ended_at=ended_at, now=self._clock.monotonic())
        return SIGNALLED + (self._told_to_end or 0)

    async def _one_life(self, configuration: ContainerConfiguration) -> Ending | None:
        """Start the process and see to it; how it ended, None when a change ended it."""
        outfit = self._outfit(configuration)
        for sentence in (*outfit.plan.left_out, *configuration.left_out()):
            self._say_once(f"note: {sentence}")
        if configuration.has_programs and not self._root.runs_programs:
            self._say_once(f"note: no file in {self._root.path} can be run: --root DIR may help")
        await in_thread(lambda: self._lay_out(configuration, outfit.plan))
        if self._told_to_end is not None:
            return None  # meanwhile, when there was nobody to pass it on to
        if self._announce is not None:
            self._announce(_introduction(configuration, self._root.path))
            self._announce = None
        child = self._start(outfit, configuration)
        try:
            ending = await self._attend(child, _Known(configuration, outfit))
        finally:
            self._child = None
            if child.ending is None:
                await _killed(child)
            self._deaths.forget()
            if self._terminal is not None:
                self._terminal.take_back()
        failure = self._starts.failure()
        if failure is not None:
            raise failure
        return ending

    def _lay_out(self, configuration: ContainerConfiguration, plan: MountPlan) -> None:
        self._tree.write(configuration.volumes)
        self._tree.arrange(plan, configuration.volumes)

    def _start(self, outfit: Outfit, configuration: ContainerConfiguration) -> Child:
        program = Program(
            outfit.command,
            outfit.environment,
            directory=self._directory(configuration),
            grouping=Grouping.GROUP,
        )
        wrapped = self._starts.wrap(program, self._tree.sources)
        child = self._child = start_child(wrapped, clock=self._clock)
        self._deaths.follow(child)
        if self._terminal is not None:
            self._terminal.give(child)
        return child

    def _directory(self, configuration: ContainerConfiguration) -> Path | None:
        """The container's own folder for its own command, where there is such a folder."""
        wanted = configuration.container.working_dir
        if self._options.command or not wanted:
            return None
        if Path(wanted).is_dir():
            return Path(wanted)
        self._say_once(f"note: there is no {wanted} here, so it runs in the current folder")
        return None

    async def _attend(self, child: Child, known: _Known) -> Ending | None:
        ended = asyncio.ensure_future(child.wait())
        try:
            while not ended.done():
                if not await self._news_or(ended):
                    continue
                if await self._act_on_news(child, ended, known):
                    return child.ending if self._told_to_end is not None else None
            return ended.result()
        finally:
            ended.cancel()

    async def _news_or(self, ended: asyncio.Future[Ending]) -> bool:
        """Wait for news, or until files are to be written that could not be; False at the end."""
        rewrite = None if self._unwritten is None else self._rewrites.next_delay()
        news = asyncio.ensure_future(self._news.wait())
        try:
            await asyncio.wait((news, ended), timeout=rewrite, return_when=asyncio.FIRST_COMPLETED)
            return not ended.done()
        finally:
            news.cancel()

    # Changes

    async def _act_on_news(
        self, child: Child, ended: asyncio.Future[Ending], known: _Known
    ) -> bool:
        """Do what is to be done about what is new; True when the process was ended for it."""
        configuration = await self._settled(ended)
        if configuration is None or ended.done() or self._told_to_end is not None:
            return False
        if configuration.refusal is not None:
            if configuration.refusal != known.refusal:
                self._say(f"warning: {configuration.refusal}; the process keeps what it has")
            known.refusal = configuration.refusal
            return False
        if self._unwritten is not None:
            return False  # what is new is told of, or begun anew, when all of it is there
        try:
            now = self._outfit(configuration)
        except RefletError as error:
            self._say(f"warning: {error}; the process keeps what it has")
            return False
        change = outfit_change(known.outfit, now)
        files = changed_files(known.outfit.plan, known.configuration.volumes, configuration.volumes)
        reaction = reaction_to(self._options.on_change, change, files)
        what = described(change, files)
        known.take(configuration, now)
        match reaction:
            case Reaction.NOTHING:
                return False
            case Reaction.RESTART:
                self._say(f"changed: {what}; restarting")
                return await self._end_for_change(child, configuration.grace)
            case Reaction.SIGNAL:
                self._signal_change(child, what)
            case Reaction.TELL:
                missed = f"; only a restart brings {described(change, ())}" if change else ""
                self._say(f"changed: {what}{missed}")
        return False

    async def _settled(self, ended: asyncio.Future[Ending]) -> ContainerConfiguration | None:
        """Write new files at once, and return when it has been quiet for long enough."""
        longest = self._clock.monotonic() + LONGEST_DEBOUNCE * self._options.debounce
        while True:
            self._news.clear()
            latest = self._latest
            if latest is not None:
                await self._refresh(latest)
            quiet = min(self._clock.monotonic() + self._options.debounce, longest)
            if ended.done() or self._told_to_end is not None:
                return latest
            if not await self._news_until(quiet):
                return latest

    async def _refresh(self, configuration: ContainerConfiguration) -> None:
        # The process may hold the lock of its own volume: whoever writes waits, the loop must not.
        try:
            await in_thread(lambda: self._tree.write(configuration.volumes))
        except VolumeError as error:
            if str(error) != self._unwritten:
                self._say(f"warning: {error}; the files stay as they are")
            self._unwritten = str(error)
        else:
            self._unwritten = None
            self._rewrites.reset()

    def _signal_change(self, child: Child, what: str) -> None:
        if not isinstance(self._options.on_change, SignalOnChange):
            raise TypeError("only a rule with a signal leads here")
        number = self._options.on_change.number
        self._say(f"changed: {what}; sending {signal_name(number)}")
        try:
            child.signal(number)
        except PermissionError:
            self._say(f"warning: {signal_name(number)} is not sent: {_NOT_OURS}")

    async def _end_for_change(self, child: Child, grace: float) -> bool:
        try:
            await child.end(grace)
        except PermissionError:
            self._say(f"warning: the process is not restarted: {_NOT_OURS}")
            return False
        return True

    def _say_once(self, text: str) -> None:
        if text not in self._said:
            self._said.add(text)
            self._say(text)


_NOT_OURS: Final = "it runs as another user by now"


class _Known:
    """What the process has, as far as it was told."""

    def __init__(self, configuration: ContainerConfiguration, outfit: Outfit) -> None:
        self.take(configuration, outfit)

    def take(self, configuration: ContainerConfiguration, outfit: Outfit) -> None:
        self.refusal: str | None = None
        self.configuration = configuration
        self.outfit = outfit


async def _killed(child: Child) -> None:
    """Kill what nobody will look after any more."""
    child.kill()
    try:
        async with asyncio.timeout(KILL_TIMEOUT):
            await child.wait()
    except TimeoutError:
        child.close()  # it became another user, or waits for a broken disk


def _introduction(configuration: ContainerConfiguration, root: Path) -> str:
    """Return how much a process starts with, and where its files are."""
    files = sum(len(contents.files) for contents in configuration.volumes.values())
    variables = len(configuration.environment.variables)
    return (
        f"{variables} variable{'s' * (variables != 1)}, {files} file{'s' * (files != 1)}, "
        f"REFLET_ROOT={root}"
    )
