"""The agent's line to its shim: finds it or starts one, asks it, and finds it again when lost."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from signal import SIGTERM
from typing import Final, Self, TypeVar, assert_never

from reflet.errors import RefletError
from reflet.node.shim import protocol
from reflet.node.shim.container_records import ContainerRecord
from reflet.node.shim.protocol import (
    ContainerList,
    Executed,
    ListedContainer,
    ShimAnswer,
    ShimRefused,
    ShimUnavailable,
    StartContainer,
)
from reflet.node.shim.shim_socket import socket_path
from reflet.processes.child import Child, start_child
from reflet.processes.program import Program
from reflet.runtime.clock import Clock, SystemClock
from reflet.runtime.permanent_tasks import PermanentTasks
from reflet.runtime.tasks import Failure, TaskOwner

STARTUP_TIMEOUT: Final = 15.0  # seconds for a shim to come up
LOOK_EVERY: Final = 0.02  # seconds between two looks whether it has
RETRY_EVERY: Final = 1.0  # seconds between two tries where one has failed
ANSWER_TIMEOUT: Final = 30.0  # seconds for an answer that needs no grace period
HANDED_ON: Final = ("PATH", "PYTHONPATH", "LANG", "LC_ALL")
"""The variables that the shim itself needs; containers get none of them from it."""

logger = logging.getLogger(__name__)

Ended = Callable[[str], None]
A = TypeVar("A", bound=protocol.Message)


class ShimClient:
    """Asks the shim whose files are in *folder*; starts one when there is none.

    *on_ended* is told the uid of a pod of which a container has ended.  Nobody was told while the
    line to the shim was lost: *on_lost* is called once it answers again, or another one does.
    Leaving the context leaves the shim and the containers as they are; ``stop`` ends it.
    """

    def __init__(
        self,
        folder: Path,
        *,
        on_ended: Ended = lambda _: None,
        on_lost: Callable[[], None] = lambda: None,
        clock: Clock | None = None,
        permanent: PermanentTasks | None = None,
    ) -> None:
        self._folder = folder
        self._on_ended = on_ended
        self._on_lost = on_lost
        self._clock = clock or SystemClock()
        self._tasks = TaskOwner("line to the shim")
        self._permanent = permanent or PermanentTasks(clock=self._clock)
        self._writer: asyncio.StreamWriter | None = None
        self._pending: dict[int, asyncio.Future[ShimAnswer]] = {}
        self._numbers = itertools.count(1)
        self._shim: Child | None = None
        self._is_up = asyncio.Event()
        self._is_down = asyncio.Event()
        self._stopping = asyncio.Event()
        self._problem = ""
        self._was_up = False
        self.pid = 0

    async def __aenter__(self) -> Self:
        await self._tasks.__aenter__()
        self._permanent.keep(self._tasks, self._stay_connected, name="shim")
        try:
            await self.up()
        except BaseException:
            await self.__aexit__(None, None, None)
            raise
        return self

    async def __aexit__(self, *failure: *Failure) -> None:
        try:
            await self._tasks.__aexit__(*failure)
        finally:
            if self._shim is not None:
                self._shim.close()

    @property
    def is_connected(self) -> bool:
        """Whether there is somebody to ask."""
        return self._writer is not None

    async def up(self) -> None:
        """Return when there is somebody to ask; ShimUnavailable when that takes too long."""
        try:
            async with asyncio.timeout(STARTUP_TIMEOUT):
                await self._is_up.wait()
        except TimeoutError as error:
            raise ShimUnavailable(
                f"the shim in {self._folder} did not come up: "
                + (self._problem or f"see {protocol.JOURNAL} there")
            ) from error

    # Asking

    async def start(self, order: StartContainer) -> ContainerRecord:
        """Start a container; its record tells when that could not be done."""
        return (await self._ask_for(protocol.ContainerAnswer, order)).record

    async def listing(self, known: ContainerList) -> ContainerList:
        """Every container; *known* itself when it is still true."""
        match await self._ask(protocol.ListChanges(known.tag)):
            case protocol.Unchanged():
                return known
            case ContainerList() as changed:
                return changed
            case other:
                raise _unexpected(other)

    async def listed(self, uid: str = "") -> tuple[ListedContainer, ...]:
        """Every container, or those of one pod."""
        return (await self._ask_for(ContainerList, protocol.ListContainers(uid))).containers

    async def records(self, uid: str) -> list[ContainerRecord]:
        """The records of a pod's containers, the newest first."""
        return list(
            (await self._ask_for(protocol.ContainerRecords, protocol.ListRecords(uid))).records
        )

    async def execute(
        self, container: str, arguments: Sequence[str], *, timeout: float
    ) -> Executed:
        """Run a command in a container; ShimRefused when that cannot be done."""
        request = protocol.ExecSync(container, tuple(arguments), timeout)
        return await self._ask_for(Executed, request, takes=timeout)

    async def run_command(self, order: protocol.ExecStream) -> int | None:
        """Run a command on streams, however long it takes; what it returned, None if killed.

        Whoever no longer waits has it killed.  ShimRefused when it cannot be run.
        """
        try:
            return (await self._ask_for(Executed, order, takes=None)).exit_code
        except asyncio.CancelledError:
            if self._writer is not None:  # nobody waits for the answer
                stop = protocol.Asked(next(self._numbers), protocol.StopExec(order.command))
                self._writer.write(protocol.encoded(stop))
            raise

    async def close_stdin(self, container: str) -> bool:
        """Let a container that reads once only see the end; False when it has none any more."""
        return (await self._ask_for(protocol.Done, protocol.CloseStdin(container))).did

    async def signal(self, container: str, number: int) -> bool:
        """Send a signal to a container's first process; False when it has ended."""
        return (await self._ask_for(protocol.Done, protocol.SignalContainer(container, number))).did

    async def end(self, container: str, grace: float) -> ContainerRecord:
        """End a container, by force after *grace* seconds."""
        request = protocol.StopContainer(container, grace)
        return (await self._ask_for(protocol.ContainerAnswer, request, takes=grace)).record

    async def remove(self, container: str) -> None:
        """Forget a container that has ended."""
        await self._ask_for(protocol.Done, protocol.RemoveContainer(container))

    async def stop(self) -> None:
        """End the shim, and start none any more; for an agent that has ended all containers."""
        self._stopping.set()
        shim = self._shim
        if self._writer is not None:
            number = next(self._numbers)
            self._writer.write(protocol.encoded(protocol.Asked(number, protocol.StopShim())))
            with contextlib.suppress(ConnectionError, TimeoutError):
                await self._writer.drain()
                # A shim that writes to a closed line loses what it has not read of it.
                async with asyncio.timeout(STARTUP_TIMEOUT):
                    await self._is_down.wait()
        elif shim is not None:
            shim.signal(SIGTERM)  # started a moment ago, and nobody listens there yet
        if shim is not None:
            await shim.wait()

    # inside

    async def _ask_for(
        self, kind: type[A], request: protocol.ContainerRequest, *, takes: float | None = 0.0
    ) -> A:
        answer = await self._ask(request, takes=takes)
        if not isinstance(answer, kind):
            raise _unexpected(answer)
        return answer

    async def _ask(
        self, request: protocol.ContainerRequest, *, takes: float | None = 0.0
    ) -> ShimAnswer:
        """Ask for what may take that many seconds, and a while for the answer; None for ever."""
        writer = self._writer
        if writer is None:
            raise ShimUnavailable(
                "the shim has been stopped"
                if self._stopping.is_set()
                else "the shim is away; it is looked for, and started if there is none"
            )
        number = next(self._numbers)
        answer: asyncio.Future[ShimAnswer] = asyncio.get_running_loop().create_future()
        self._pending[number] = answer
        try:
            writer.write(protocol.encoded(protocol.Asked(number, request)))
            await writer.drain()
            async with asyncio.timeout(None if takes is None else takes + ANSWER_TIMEOUT):
                return await answer
        except ConnectionError as error:
            raise ShimUnavailable(f"the line to the shim was lost: {error}") from error
        except TimeoutError as error:
            what = type(request).__name__
            raise ShimUnavailable(f"the shim did not answer {what} in time") from error
        finally:
            self._pending.pop(number, None)

    async def _stay_connected(self) -> None:
        while not self._stopping.is_set():
            try:
                reader, writer = await self._connected()
                try:
                    await self._read(reader, writer)
                    if self._writer is None:
                        raise ShimUnavailable("it ended the line without a greeting")
                finally:
                    self._writer = None
                    self._is_up.clear()
                    self._is_down.set()
                    writer.close()
                    self._fail_pending()
            except (OSError, RefletError) as error:
                if self._stopping.is_set():
                    break
                level = logging.DEBUG if str(error) == self._problem else logging.ERROR
                self._problem = str(error)
                logger.log(level, "the shim cannot be reached: %s", error)
                await self._clock.sleep(RETRY_EVERY)
                continue
            self._problem = ""
            if not self._stopping.is_set():
                logger.warning("the line to the shim is lost; the containers go on")
        await asyncio.Event().wait()  # told to stop: until the line is closed nothing is to be done

    async def _connected(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        path = socket_path(self._folder)
        deadline = self._clock.monotonic() + STARTUP_TIMEOUT
        while True:
            try:
                return await asyncio.open_unix_connection(path, limit=protocol.LONGEST_LINE)
            except (FileNotFoundError, ConnectionRefusedError) as error:
                if self._stopping.is_set():
                    raise ShimUnavailable("the shim has been stopped") from error
                if self._clock.monotonic() > deadline:
                    raise ShimUnavailable(f"the shim does not come up: {error}") from error
                if self._shim is None or self._shim.ending is not None:
                    self._shim = self._started()
            await self._clock.sleep(LOOK_EVERY)

    def _started(self) -> Child:
        journal = self._folder / protocol.JOURNAL
        environment = {name: os.environ[name] for name in HANDED_ON if name in os.environ}
        return start_child(
            Program(
                arguments=(sys.executable, "-m", "reflet.node.shim.service", str(self._folder)),
                environment=environment,
                directory=Path("/"),
                standard_input=Path(os.devnull),
                standard_output=journal,
                standard_error=journal,
            )
        )

    async def _read(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            if line := await reader.readline():
                self._greeted(protocol.read_greeting(line), writer)
            while line := await reader.readline():
                match protocol.read_told(line):
                    case protocol.Answered(number=number, answer=answer):
                        if waiting := self._waiting(number):
                            waiting.set_result(answer)
                    case protocol.Declined(number=number, reason=reason):
                        if waiting := self._waiting(number):
                            waiting.set_exception(ShimRefused(reason))
                    case protocol.ContainerEnded(uid=uid):
                        self._on_ended(uid)
                    case other:
                        assert_never(other)
        except (ConnectionError, ValueError) as error:
            logger.warning("the line to the shim broke: %s", error)

    def _greeted(self, greeting: protocol.Greeting, writer: asyncio.StreamWriter) -> None:
        before, self.pid = self.pid, greeting.pid
        if greeting.version != protocol.VERSION:
            raise ShimUnavailable(
                f"the shim {self.pid} speaks version {greeting.version}, and this agent "
                f"{protocol.VERSION}: end its containers with the agent that started it"
            )
        self._writer = writer
        self._is_up.set()
        self._is_down.clear()
        is_back, self._was_up = self._was_up, True
        if is_back:
            who = "the same shim" if self.pid == before else "another shim"
            logger.info("%s answers, process %d", who, self.pid)
            self._on_lost()

    def _waiting(self, number: int) -> asyncio.Future[ShimAnswer] | None:
        answer = self._pending.get(number)
        return None if answer is None or answer.done() else answer

    def _fail_pending(self) -> None:
        for answer in self._pending.values():
            if not answer.done():
                answer.set_exception(ShimUnavailable("the line to the shim was lost"))


def _unexpected(answer: ShimAnswer) -> ShimUnavailable:
    return ShimUnavailable(f"the shim answered with {answer!r}, which is no answer to that")
