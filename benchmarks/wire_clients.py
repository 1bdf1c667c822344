"""The contestants of the wire benchmark: ways to watch, all with the same decoder.

Owns: how each contestant opens a watch and hands on its events.  Must not know what is measured
(``wire_jobs``) or which server it talks to.

Every contestant lives in an asyncio loop, where Reflet lives, and calls ``take`` with the events
that arrived together.
"""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol, cast
from unittest import mock
from urllib.parse import urlencode

from reflet.api.core.config import ConfigMap
from reflet.api.watch_events import BrokenLine, ErrorEvent, EventDecoder, WatchEvent
from reflet.client.watch import line_runs
from reflet.transport import connection as connection_module
from reflet.transport.auth.certificates import Pem
from reflet.transport.auth.credentials import NoCredentials, StaticToken
from reflet.transport.config.settings import ConnectionSettings
from reflet.transport.connection import Connection
from reflet.transport.http import http2
from reflet.transport.interface import Request

Events = Sequence[WatchEvent[ConfigMap]]
Take = Callable[[Events], None]
Query = tuple[tuple[str, str], ...]

INITIAL_EVENTS_END: Final = "k8s.io/initial-events-end"
STREAMING_LIST: Final[Query] = (
    ("watch", "true"),
    ("sendInitialEvents", "true"),
    ("resourceVersionMatch", "NotOlderThan"),
    ("allowWatchBookmarks", "true"),
)


@dataclass(frozen=True, slots=True)
class Target:
    """A server: its address, whom to trust, and who we are (nobody without a token)."""

    url: str
    ca_file: str
    token: str = ""

    def settings(self) -> ConnectionSettings:
        """As Reflet wants it, with no limit on the rate of requests."""
        return ConnectionSettings(
            server=self.url,
            certificate_authority=Pem("the benchmark's authority", path=Path(self.ca_file)),
            credentials=StaticToken(self.token) if self.token else NoCredentials(),
            qps=0,
        )


class Client(Protocol):
    """A contestant at work.  ``failure`` is set when a watch fails, which spoils the run."""

    failure: asyncio.Future[BaseException]

    def watch(self, path: str, query: Query, take: Take) -> None:
        """Open a watch and go on without waiting; its events go to *take*."""
        ...

    async def close(self) -> None:
        """Close every watch and connection."""
        ...


def decoded(decoder: EventDecoder[ConfigMap], run: bytes) -> Events:
    """The events of a run of lines; an error among them spoils the run."""
    events = decoder.decode_lines(run)
    match events[-1]:
        case ErrorEvent() | BrokenLine() as error:
            raise RuntimeError(f"the watch broke: {error}")
        case _:
            return cast("Events", events)  # an error is always the last


class RefletClient:
    """Ours: a task for each watch."""

    def __init__(self, target: Target) -> None:
        self._connection = Connection(target.settings())
        self._decoder = EventDecoder(ConfigMap)
        self.failure: asyncio.Future[BaseException] = asyncio.get_running_loop().create_future()
        self._tasks: set[asyncio.Task[None]] = set()

    def watch(self, path: str, query: Query, take: Take) -> None:
        """Open a watch in a task of its own."""
        task = asyncio.create_task(self._follow(path, query, take), name=f"watch {path}")
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    async def close(self) -> None:
        """End the tasks, then the connections."""
        tasks = tuple(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._connection.close()

    async def _follow(self, path: str, query: Query, take: Take) -> None:
        request = Request(path=path, query=query, headers=(("accept", "application/json"),))
        async with self._connection.stream(request) as stream:
            if stream.status != 200:
                raise RuntimeError(f"GET {path}: {stream.status}, {await stream.read()!r}")
            async for run in line_runs(stream):
                take(decoded(self._decoder, run))
                del run  # or a silent watch would hold on to its last event

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if task.cancelled() or self.failure.done():
            return
        error = task.exception()
        if error is not None:
            self.failure.set_result(error)


class LibraryOnly(http2.Http2Connection):
    """Our connection as it would be without the short cut: the library sees every byte."""

    def data_received(self, data: bytes) -> None:
        """Hand everything to the h2 library, as much at a time as has arrived."""
        self._last_received = self.loop.time()
        self._ping_sent = False
        self._pass_on(data)


class CurlClient:
    """libcurl's multi interface, driven by the event loop as its manual recommends."""

    def __init__(self, target: Target, *, multiplexed: bool) -> None:
        # By name: it is installed for the benchmark only, where a type checker does not look.
        self._curl: Any = importlib.import_module("pycurl")
        self._target = target
        self._multiplexed = multiplexed
        self._loop = asyncio.get_running_loop()
        self._decoder = EventDecoder(ConfigMap)
        self.failure: asyncio.Future[BaseException] = self._loop.create_future()
        self._timer: asyncio.TimerHandle | None = None
        self._watches: list[Any] = []
        self._running = 0  # transfers, as far as we have heard
        self._multi: Any = self._curl.CurlMulti()
        pipelining = self._curl.PIPE_MULTIPLEX if multiplexed else self._curl.PIPE_NOTHING
        self._multi.setopt(self._curl.M_PIPELINING, pipelining)
        self._multi.setopt(self._curl.M_SOCKETFUNCTION, self._on_socket)
        self._multi.setopt(self._curl.M_TIMERFUNCTION, self._on_timer)

    def watch(self, path: str, query: Query, take: Take) -> None:
        """Add a transfer whose write callback decodes."""
        curl, easy = self._curl, self._curl.Curl()
        easy.setopt(curl.URL, f"{self._target.url}{path}?{urlencode(query)}")
        easy.setopt(curl.CAINFO, self._target.ca_file)
        easy.setopt(curl.NOSIGNAL, 1)
        easy.setopt(curl.FAILONERROR, 1)
        headers = ["Accept: application/json"]
        if self._target.token:
            headers.append(f"Authorization: Bearer {self._target.token}")
        easy.setopt(curl.HTTPHEADER, headers)
        if self._multiplexed:
            easy.setopt(curl.HTTP_VERSION, curl.CURL_HTTP_VERSION_2TLS)
            easy.setopt(curl.PIPEWAIT, 1)
        else:
            easy.setopt(curl.HTTP_VERSION, curl.CURL_HTTP_VERSION_1_1)
        easy.setopt(curl.WRITEFUNCTION, self._writer(take))
        self._watches.append(easy)
        self._running += 1
        self._multi.add_handle(easy)

    async def close(self) -> None:
        """Let libcurl close everything."""
        for easy in self._watches:
            self._multi.remove_handle(easy)
            easy.close()
        self._multi.close()
        if self._timer is not None:
            self._timer.cancel()

    def _writer(self, take: Take) -> Callable[[bytes], None]:
        rest = b""

        def write(chunk: bytes) -> None:
            nonlocal rest
            end = chunk.rfind(b"\n") + 1
            if end:
                take(decoded(self._decoder, rest + chunk[:end]))
                rest = chunk[end:]
            else:
                rest += chunk

        return write

    def _on_socket(self, what: int, descriptor: int, _multi: object, _data: object) -> None:
        curl, loop = self._curl, self._loop
        loop.remove_reader(descriptor)
        loop.remove_writer(descriptor)
        if what in (curl.POLL_IN, curl.POLL_INOUT):
            loop.add_reader(descriptor, self._act, descriptor, curl.CSELECT_IN)
        if what in (curl.POLL_OUT, curl.POLL_INOUT):
            loop.add_writer(descriptor, self._act, descriptor, curl.CSELECT_OUT)

    def _on_timer(self, milliseconds: int) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if milliseconds >= 0:
            self._timer = self._loop.call_later(
                milliseconds / 1000, self._act, self._curl.SOCKET_TIMEOUT, 0
            )

    def _act(self, descriptor: int, ready: int) -> None:
        _, running = self._multi.socket_action(descriptor, ready)
        ended, self._running = self._running - running, running
        if not ended:
            return
        _, _, failed = self._multi.info_read()
        if failed and not self.failure.done():
            self.failure.set_result(RuntimeError(f"curl: {failed[0][1:]}"))


@dataclass(frozen=True, slots=True)
class Contestant:
    """One way to watch."""

    title: str
    make: Callable[[Target], Client]
    patches: Sequence[Any] = ()
    uvloop: bool = False
    needs_pycurl: bool = False

    def prepared(self) -> ExitStack:
        """The patches, in force until the stack is closed."""
        with ExitStack() as patched:
            for patch in self.patches:
                patched.enter_context(patch)
            return patched.pop_all()

    def run(self, main: Any) -> None:
        """Run a coroutine in the loop that this contestant wants."""
        factory = importlib.import_module("uvloop").new_event_loop if self.uvloop else None
        with self.prepared(), asyncio.Runner(loop_factory=factory) as runner:
            runner.run(main)


async def _no_http2(*_: object) -> None:
    """Stand in for the dialling of HTTP/2: the server did not choose it."""


CONTESTANTS: Final = {
    "h2": Contestant("ours, HTTP/2", RefletClient),
    "h2_uvloop": Contestant("ours, HTTP/2, uvloop", RefletClient, uvloop=True),
    "h2_library": Contestant(
        "HTTP/2, every frame through h2",
        RefletClient,
        patches=(mock.patch.object(http2, "Http2Connection", LibraryOnly),),
    ),
    "http1": Contestant(
        "ours, HTTP/1.1 (aiohttp)",
        RefletClient,
        patches=(mock.patch.object(connection_module, "_dial", _no_http2),),
    ),
    "curl_http2": Contestant(
        "pycurl, HTTP/2",
        lambda target: CurlClient(target, multiplexed=True),
        needs_pycurl=True,
    ),
    "curl_http1": Contestant(
        "pycurl, HTTP/1.1",
        lambda target: CurlClient(target, multiplexed=False),
        needs_pycurl=True,
    ),
}
