"""The body of an answer that only a blocking client can read, for an event loop.

Each stream has a thread of its own and not one of the loop's shared ones, of which a few watches
would take all.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Mapping
from typing import Final, Protocol, Self

from reflet.errors import DeadlineExceeded
from reflet.runtime.tasks import Failure

MOST_WAITING: Final = 4 * 1024 * 1024
"""Bytes that may wait for a slow reader before the thread stops to read more."""


class BlockingBody(Protocol):
    """An answer whose head has come and whose body is read by waiting for it."""

    @property
    def status(self) -> int:
        """The HTTP status code."""
        ...

    @property
    def headers(self) -> Mapping[str, str]:
        """The answer's headers, names in lower case."""
        ...

    def read(self) -> bytes:
        """Wait for what comes next; ``b""`` at the end.  Raises TransportError when it breaks."""
        ...

    def interrupt(self) -> None:
        """Make ``read``, in another thread, return or raise at once; raises nothing itself."""
        ...

    def close(self) -> None:
        """Give back the connection, or close it when the body was not read to its end."""
        ...


class ThreadedStream:
    """What *open_body* opens, read in a thread from entering to leaving.  Is a ``Stream``.

    *open_body* waits for the head of the answer, at most *head_timeout* seconds; after *silence*
    seconds without a byte the stream counts as dead.  Leaving interrupts the thread and waits
    for its end; one that still waits for the head is left to end, and clean up, by itself.
    """

    status: int
    headers: Mapping[str, str]

    def __init__(
        self,
        open_body: Callable[[], BlockingBody],
        *,
        server: str,
        head_timeout: float | None,
        silence: float | None,
    ) -> None:
        self._open_body = open_body
        self._server = server
        self._head_timeout = head_timeout
        self._silence = silence
        self._news = asyncio.Event()  # on the loop: the thread has brought something
        # Under the lock, shared by the loop and the thread:
        self._lock = threading.Condition()
        self._body: BlockingBody | None = None  # while it is open
        self._answer: tuple[int, Mapping[str, str]] | None = None
        self._parts: list[bytes] = []
        self._waiting = 0  # bytes in parts
        self._failure: Exception | None = None
        self._ended = False
        self._abandoned = False

    async def __aenter__(self) -> Self:
        self._loop = asyncio.get_running_loop()
        name = f"stream from {self._server}"
        threading.Thread(target=self._run, name=name, daemon=True).start()
        try:
            self.status, self.headers = await self._head()
        except BaseException:
            self._abandon()
            raise
        return self

    async def __aexit__(self, *failure: *Failure) -> None:
        self._abandon()
        while not self._has_ended():
            await self._news.wait()
            self._news.clear()

    async def read(self) -> bytes:
        """Everything that has arrived, at least one byte; ``b""`` at the end of the body."""
        try:
            async with asyncio.timeout(self._silence):
                while True:
                    self._news.clear()
                    with self._lock:
                        parts, self._parts = self._parts, []
                        self._waiting = 0
                        self._lock.notify_all()
                        ended, failure = self._ended, self._failure
                    if parts:
                        return b"".join(parts)
                    if failure is not None:
                        raise failure
                    if ended:
                        return b""
                    await self._news.wait()
        except TimeoutError as error:
            raise DeadlineExceeded(
                f"{self._server}: the stream was silent for {self._silence:g} seconds"
            ) from error

    async def _head(self) -> tuple[int, Mapping[str, str]]:
        try:
            async with asyncio.timeout(self._head_timeout):
                while True:
                    self._news.clear()
                    with self._lock:
                        answer, failure = self._answer, self._failure
                    if answer is not None:
                        return answer
                    if failure is not None:
                        raise failure
                    await self._news.wait()
        except TimeoutError as error:
            raise DeadlineExceeded(f"{self._server}: no answer in time") from error

    def _abandon(self) -> None:
        with self._lock:
            self._abandoned = True
            self._lock.notify_all()
            if self._body is not None:
                # Under the lock, so that the thread cannot close it meanwhile.
                self._body.interrupt()

    def _has_ended(self) -> bool:
        with self._lock:
            return self._ended

    # In the thread

    def _run(self) -> None:
        failure: Exception | None = None
        body: BlockingBody | None = None
        try:
            body = self._open_body()
            with self._lock:
                self._body = body
                self._answer = body.status, body.headers
            self._tell()
            while self._has_room() and (data := body.read()):
                with self._lock:
                    self._parts.append(data)
                    self._waiting += len(data)
                self._tell()
        except Exception as error:  # noqa: BLE001 - raised again where the stream is read
            failure = error
        with self._lock:
            if body is not None:
                body.close()
            # Not kept: it can keep a whole pool of connections alive.
            self._body = None
            self._failure = failure
            self._ended = True
        self._tell()

    def _has_room(self) -> bool:
        """Wait until the reader has caught up; False when nobody reads any more."""
        with self._lock:
            self._lock.wait_for(lambda: self._abandoned or self._waiting < MOST_WAITING)
            return not self._abandoned

    def _tell(self) -> None:
        try:
            self._loop.call_soon_threadsafe(self._news.set)
        except RuntimeError:
            # The loop is closed: nobody listens, and nobody will say so.
            with self._lock:
                self._abandoned = True
