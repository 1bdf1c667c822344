"""The agent's line to its shim.

Owns: finding the shim or starting one, asking it, and asking again after it was lost.  Must not
know what containers are for.
"""

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
from types import TracebackType
from typing import Any, Final, Self

from reflet.errors import RefletError
from reflet.node.shim import protocol
from reflet.node.shim.container_records import ContainerRecord
from reflet.node.shim.protocol import (
    Executed,
    Listed,
    Listing,
    ShimRefused,
    ShimUnavailable,
    StartOrder,
)
from reflet.processes.child import Child, start_child
from reflet.processes.program import Program
from reflet.runtime.clock import Clock, SystemClock
from reflet.runtime.permanent_tasks import PermanentTasks
from reflet.runtime.tasks import TaskOwner

PATIENCE: Final = 15.0  # seconds for a shim to come up
LOOK_EVERY: Final = 0.02  # seconds between two looks whether it has
TRY_EVERY: Final = 1.0  # seconds between two tries where one has failed
ANSWER_PATIENCE: Final = 30.0  # seconds for an answer that needs no grace period
HANDED_ON: Final = ("PATH", "PYTHONPATH", "LANG", "LC_ALL")
"""The variables that the shim itself needs; containers get none of them from it."""

logger = logging.getLogger(__name__)

Ended = Callable[[str], None]


class ShimClient:
    """Asks the shim whose files are in *folder*; starts one when there is none.

    *on_ended* is told the uid of a pod of which a container has ended, and every uid again is
    unknown after the shim was lost: then *on_lost* is called once the new one answers.
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
        self._pending: dict[int, asyncio.Future[Any]] = {}
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

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        try:
            await self._tasks.__aexit__(kind, error, traceback)
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
            async with asyncio.timeout(PATIENCE):
                await self._is_up.wait()
        except TimeoutError as error:
            raise ShimUnavailable(
                f"the shim in {self._folder} did not come up: "
                + (self._problem or f"see {protocol.JOURNAL} there")
            ) from error

    # Asking

    async def start(self, order: StartOrder) -> ContainerRecord:
        """Start a container; its record tells when that could not be done."""
        return ContainerRecord.of(await self._ask("start", order=order.document()))

    async def listing(self, known: Listing) -> Listing:
        """Every container; *known* itself when it is still true."""
        answer = await self._ask("listing", tag=known.tag)
        if answer["containers"] is None:
            return known
        return Listing(str(answer["tag"]), tuple(map(_listed, answer["containers"])))

    async def listed(self, uid: str = "") -> list[Listed]:
        """Every container, or those of one pod: id, pod, name and state."""
        return list(map(_listed, await self._ask("list", uid=uid)))

    async def records(self, uid: str) -> list[ContainerRecord]:
        """The records of a pod's containers, the newest first."""
        return [ContainerRecord.of(each) for each in await self._ask("status", uid=uid)]

    async def execute(
        self, container: str, arguments: Sequence[str], *, timeout: float
    ) -> Executed:
        """Run a command in a container; ShimRefused when that cannot be done."""
        patience = timeout + ANSWER_PATIENCE
        fields = {"id": container, "arguments": list(arguments), "timeout": timeout}
        return Executed(**await self._ask("execute", patience=patience, **fields))

    async def signal(self, container: str, number: int) -> bool:
        """Send a signal to a container's first process; False when it has ended."""
        return bool(await self._ask("signal", id=container, signal=number))

    async def end(self, container: str, grace: float) -> ContainerRecord:
        """End a container, by force after *grace* seconds."""
        answer = await self._ask("end", patience=grace + ANSWER_PATIENCE, id=container, grace=grace)
        return ContainerRecord.of(answer)

    async def remove(self, container: str) -> None:
        """Forget a container that has ended."""
        await self._ask("remove", id=container)

    async def stop(self) -> None:
        """End the shim, and start none any more; for an agent that has ended all containers."""
        self._stopping.set()
        shim = self._shim
        if self._writer is not None:
            self._writer.write(protocol.encoded({"do": "stop"}))
            with contextlib.suppress(ConnectionError, TimeoutError):
                await self._writer.drain()
                # A shim that writes to a closed line loses what it has not read of it.
                async with asyncio.timeout(PATIENCE):
                    await self._is_down.wait()
        elif shim is not None:
            shim.signal(SIGTERM)  # started a moment ago, and nobody listens there yet
        if shim is not None:
            await shim.wait()

    # inside

    async def _ask(self, what: str, *, patience: float = ANSWER_PATIENCE, **fields: Any) -> Any:
        writer = self._writer
        if writer is None:
            raise ShimUnavailable(
                "the shim has been stopped"
                if self._stopping.is_set()
                else "the shim is away; another one is being started"
            )
        number = next(self._numbers)
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._pending[number] = answer
        try:
            writer.write(protocol.encoded({**fields, "do": what, "number": number}))
            await writer.drain()
            async with asyncio.timeout(patience):
                return await answer
        except ConnectionError as error:
            raise ShimUnavailable(f"the shim was lost: {error}") from error
        except TimeoutError as error:
            raise ShimUnavailable(f"the shim did not answer {what!r} in time") from error
        finally:
            self._pending.pop(number, None)

    async def _stay_connected(self) -> None:
        while not self._stopping.is_set():
            try:
                reader, writer = await self._connected()
                try:
                    await self._read(reader, writer)
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
                await self._clock.sleep(TRY_EVERY)
                continue
            self._problem = ""
            if not self._stopping.is_set():
                logger.warning("the shim was lost; the containers go on, and another one begins")
        await asyncio.Event().wait()  # told to stop: until the line is closed nothing is to be done

    async def _connected(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        path = protocol.socket_path(self._folder)
        deadline = self._clock.monotonic() + PATIENCE
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
            while line := await reader.readline():
                message = protocol.decoded(line)
                if "version" in message:
                    self._greet(message)
                    self._writer = writer
                    self._is_up.set()
                    self._is_down.clear()
                    is_another, self._was_up = self._was_up, True
                    if is_another:
                        self._on_lost()
                elif "ended" in message:
                    self._on_ended(str(message["uid"]))
                else:
                    self._settle(message)
        except (ConnectionError, ValueError) as error:
            logger.warning("the line to the shim broke: %s", error)

    def _greet(self, message: dict[str, Any]) -> None:
        self.pid = int(message["pid"])
        if message["version"] != protocol.VERSION:
            raise ShimUnavailable(
                f"the shim {self.pid} speaks version {message['version']}, and this agent "
                f"{protocol.VERSION}: end its containers with the agent that started it"
            )

    def _settle(self, message: dict[str, Any]) -> None:
        answer = self._pending.get(int(message["number"]))
        if answer is None or answer.done():
            return
        if "refusal" in message:
            answer.set_exception(ShimRefused(str(message["refusal"])))
        else:
            answer.set_result(message["answer"])

    def _fail_pending(self) -> None:
        for answer in self._pending.values():
            if not answer.done():
                answer.set_exception(ShimUnavailable("the shim was lost"))


def _listed(each: list[str]) -> Listed:
    return each[0], each[1], each[2], each[3]
