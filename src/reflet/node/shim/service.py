"""The shim's process: it answers agents on a socket, and outlives them.

It ends when an agent tells it to, or when it has had neither agent nor container for a while.

What it says of itself is in ``shim.log``, which is its standard error, so that what Python itself
says at the end is there, too; and which does not grow without end, since a shim may run for years.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import fcntl
import logging
import os
import sys
from pathlib import Path
from signal import SIGINT, SIGTERM
from typing import Final, TextIO

from reflet.errors import RefletError
from reflet.node.shim import protocol
from reflet.node.shim.shim import Shim
from reflet.node.shim.shim_socket import socket_path
from reflet.processes.process_table import refuse_inspection
from reflet.processes.program import system_words
from reflet.runtime.descriptors import PLENTY, raise_descriptor_limit
from reflet.runtime.permanent_tasks import TaskEnded
from reflet.runtime.tasks import TaskOwner

UNEMPLOYED: Final = 30.0  # seconds without agent and without containers after which it ends
PR_SET_NO_NEW_PRIVS: Final = 38

logger = logging.getLogger(__name__)

LARGEST: Final = 2**20  # bytes; as much again is in the file before
STREAMS: Final = (1, 2)  # standard output and standard error
_FLAGS: Final = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC


class ShimService:
    """Answers agents on a socket; ends when it is told to, or has nothing to do."""

    def __init__(self, shim: Shim, *, unemployed: float = UNEMPLOYED) -> None:
        self._shim = shim
        self._unemployed = unemployed
        self._agents: set[asyncio.StreamWriter] = set()
        self._stopped = asyncio.Event()

    async def run(self, socket: Path) -> None:
        """Serve until there is no reason to."""
        server = await asyncio.start_unix_server(self._serve, socket, limit=protocol.LONGEST_LINE)
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(SIGTERM, self._stopped.set)
        # Ctrl-C in a terminal is meant for the agent, which tells us if we are to end.
        loop.add_signal_handler(SIGINT, lambda: None)
        async with server, TaskOwner("service of the shim") as tasks:
            tasks.start(self._watch_for_idleness(), name="idleness")
            tasks.start(self._watch_for_the_end(), name="end of the shim")
            await self._stopped.wait()
            for agent in tuple(self._agents):
                agent.close()

    async def _watch_for_idleness(self) -> None:
        while True:
            await asyncio.sleep(self._unemployed)
            if not self._agents and not self._shim.has_work:
                self._stopped.set()

    async def _watch_for_the_end(self) -> None:
        try:
            await self._shim.ended()
        except TaskEnded as error:
            # The containers go on, and the agent starts another shim, which adopts them.
            logger.error("the shim ends: %s", error)  # noqa: TRY400 - the task's end is logged
            self._stopped.set()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._agents.add(writer)

        def tell(news: protocol.ContainerEnded) -> None:
            writer.write(protocol.encoded(news))

        self._shim.listen(tell)
        try:
            writer.write(protocol.encoded(protocol.Greeting(protocol.VERSION, os.getpid())))
            async with TaskOwner("requests") as tasks:
                while line := await reader.readline():
                    asked = protocol.read_asked(line)
                    try:
                        request = asked.read()
                    except ValueError:
                        # The text of such an error may hold a part of the request.
                        logger.error("a request was not understood")  # noqa: TRY400 - see above
                        reason = "the shim does not understand the request"
                        writer.write(protocol.encoded(protocol.Declined(asked.number, reason)))
                        continue
                    if isinstance(request, protocol.StopShim):
                        self._stopped.set()
                        return
                    answering = self._answer(asked.number, request, writer)
                    tasks.start(answering, name=f"request {type(request).__name__}")
        except (ConnectionError, ValueError) as error:
            logger.warning("an agent is no longer heard: %s", error)
        finally:
            self._shim.forget(tell)
            self._agents.discard(writer)
            writer.close()

    async def _answer(
        self, number: int, request: protocol.ContainerRequest, writer: asyncio.StreamWriter
    ) -> None:
        told: protocol.Told
        try:
            told = protocol.Answered(number, await self._shim.answer(request))
        except (RefletError, OSError) as error:
            told = protocol.Declined(number, str(error))
        except MemoryError as error:
            told = protocol.Declined(number, f"the shim is {system_words(error)}")
        except (KeyError, TypeError, ValueError) as error:
            # An environment that cannot be one, for example; the text may hold a part of it.
            name = type(request).__name__
            logger.error("%s failed: %s", name, type(error).__name__)  # noqa: TRY400 - see above
            told = protocol.Declined(number, f"the shim failed at {name}")
        writer.write(protocol.encoded(told))


def main(arguments: list[str]) -> int:
    """Keep the containers of the agent whose folder is the first argument."""
    folder = Path(arguments[0])
    logging.basicConfig(
        level=logging.INFO,
        handlers=[JournalHandler(folder / protocol.JOURNAL)],
        format="%(asctime)s %(levelname)s %(message)s",
    )
    lock = os.open(folder / protocol.LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return 0  # another one keeps already
    never_gain_privileges()
    raise_descriptor_limit(PLENTY)
    refuse_inspection()  # it is handed every container's variables
    os.umask(0o077)
    socket = socket_path(folder)
    socket.unlink(missing_ok=True)
    asyncio.run(_keep(folder))
    socket.unlink(missing_ok=True)
    return 0


def never_gain_privileges() -> None:
    """Keep this process and all it starts from becoming more by running a set-user-ID program."""
    library = ctypes.CDLL(None, use_errno=True)
    if hasattr(library, "prctl"):  # Linux; elsewhere nothing forbids it
        library.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)


async def _keep(folder: Path) -> None:
    shim = Shim(folder / "pods")
    async with shim.opened():
        await ShimService(shim).run(socket_path(folder))


class JournalHandler(logging.StreamHandler[TextIO]):
    """Writes to standard error, and turns the file over that this is.

    Where standard error is anything else than *path*, a terminal for one, nothing is turned over.
    """

    def __init__(self, path: Path, *, largest: int = LARGEST) -> None:
        super().__init__(sys.stderr)
        self._path = path
        self._largest = largest

    def emit(self, record: logging.LogRecord) -> None:
        """Write a line; first make room for it."""
        with contextlib.suppress(OSError):  # a full disk or no descriptor: it grows a little more
            self._make_room()
        super().emit(record)

    def _make_room(self) -> None:
        now = os.fstat(STREAMS[-1])
        if now.st_size < self._largest or not os.path.samestat(now, self._path.stat()):
            return
        self._path.replace(self._path.with_name(f"{self._path.name}.1"))
        descriptor = os.open(self._path, _FLAGS, 0o600)
        try:
            for stream in STREAMS:
                os.dup2(descriptor, stream)  # what Python itself says at the end goes there, too
        finally:
            os.close(descriptor)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
