"""A development server in a thread of its own, for code with and without an event loop.

Imports nothing of weight before a server is started: the pytest plugin needs it.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    import asyncio
    import threading
    from contextlib import AbstractContextManager
    from pathlib import Path

    from reflet.devserver.faults import Fault, SeenRequest
    from reflet.devserver.server import DevServer
    from reflet.devserver.storage.storage import StorageSnapshot

T = TypeVar("T")


class RunningServer:
    """A development server in a thread of its own.

    All methods may be called from any thread, with or without an event loop.

    - *server*: a server that runs
    - *loop*: the event loop of its thread
    """

    def __init__(self, server: DevServer, loop: asyncio.AbstractEventLoop) -> None:
        self.server = server
        self._loop = loop
        self.url: str = server.url
        self.token: str = server.token
        self.kubeconfig: Path = server.kubeconfig_path
        self.ca_data: bytes = server.ca_data

    def call(self, function: Callable[[], T]) -> T:
        """Run a function in the server's thread and give its result.

        - *function*: called without arguments
        """
        import asyncio  # noqa: PLC0415 - see the head of the module

        async def run() -> T:
            return function()

        return asyncio.run_coroutine_threadsafe(run(), self._loop).result()

    def add_fault(self, fault: Fault) -> None:
        """Let something go wrong."""
        self.call(lambda: self.server.faults.add(fault))

    @property
    def requests(self) -> tuple[SeenRequest, ...]:
        """The requests that came so far."""
        return self.call(self.server.requests.all)

    def snapshot(self) -> StorageSnapshot:
        """Remember all objects as they are now."""
        return self.call(self.server.snapshot)

    def restore(self, snapshot: StorageSnapshot) -> None:
        """Put all objects back to what they were; see ``DevServer.restore``."""
        self.call(lambda: self.server.restore(snapshot))

    def restart(self, seconds: float = 0.0) -> None:
        """Break all connections and listen again after some seconds, with the same state."""
        self._wait_for(self.server.restart(seconds))

    def started_over(self, snapshot: StorageSnapshot) -> RunningServer:
        """Give the server to somebody else; see ``DevServer.start_over``."""
        self._wait_for(self.server.start_over(snapshot))
        return RunningServer(self.server, self._loop)

    def disconnect(self) -> None:
        """Break all connections; clients may connect again."""
        self.call(self.server.disconnect)

    def _wait_for(self, work: Coroutine[Any, Any, None]) -> None:
        import asyncio  # noqa: PLC0415 - see the head of the module

        asyncio.run_coroutine_threadsafe(work, self._loop).result()


class _Thread:
    """The thread of one server, from start to end."""

    def __init__(self, options: dict[str, Any]) -> None:
        self._options = options
        self._failure: BaseException | None = None
        self.running: RunningServer | None = None

    def __enter__(self) -> RunningServer:
        import threading  # noqa: PLC0415 - see the head of the module

        self._is_up = threading.Event()
        self._thread: threading.Thread = threading.Thread(
            target=self._run, name="reflet development server"
        )
        self._thread.start()
        self._is_up.wait()
        if self.running is None:
            self._thread.join()
            raise RuntimeError("the development server did not start") from self._failure
        return self.running

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stopped.set)
        self._thread.join()
        if self._failure is not None:
            raise self._failure

    def _run(self) -> None:
        import asyncio  # noqa: PLC0415 - see the head of the module

        try:
            asyncio.run(self._serve())
        except BaseException as error:  # noqa: BLE001 - raised in the thread that waits
            self._failure = error
        finally:
            self._is_up.set()

    async def _serve(self) -> None:
        import asyncio  # noqa: PLC0415 - see the head of the module

        from reflet.devserver.server import DevServer  # noqa: PLC0415 - the same

        self._stopped = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        async with DevServer(**self._options) as server:
            self.running = RunningServer(server, self._loop)
            self._is_up.set()
            await self._stopped.wait()


def running_server(options: dict[str, Any]) -> AbstractContextManager[RunningServer]:
    """Run a server for the length of a ``with`` block, for fixtures of one's own.

    - *options*: those of ``DevServer``
    """
    return _Thread(options)
