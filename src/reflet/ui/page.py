"""A page at a port: a board that is kept fresh, its feed, and who may read it."""

from __future__ import annotations

import asyncio
import secrets
from contextlib import AsyncExitStack
from typing import Final, Self

from reflet.errors import ConfigurationError
from reflet.insight.page.page_document import PageDocument
from reflet.runtime.clock import Clock, SystemClock
from reflet.runtime.permanent_tasks import PermanentTasks
from reflet.runtime.tasks import Failure, TaskOwner
from reflet.runtime.waits import came_within
from reflet.transport.serving.http_answers import HttpAnswers
from reflet.ui.board import Board
from reflet.ui.page_answers import PageAnswers, is_loopback
from reflet.ui.page_feed import PageFeed

TOGETHER: Final = 0.05  # seconds; what changes in one go is one change of the page
LOOK_EVERY: Final = 5.0  # seconds; what is on its way arrives without a word
MOST_READERS: Final = 32


class Page:
    """Shows *board* at *host* and *port* while the context is open; port 0 takes a free one.

    *host* is an address of this machine for itself: there is no other, since what is sent is not
    encrypted.  ``changed`` is called by whoever fills the board.
    """

    def __init__(
        self,
        board: Board,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        token: str = "",
        clock: Clock | None = None,
    ) -> None:
        if not is_loopback(host):
            raise ConfigurationError(
                f"{host} is not a loopback address, and the page is not encrypted: serve it on "
                "127.0.0.1, and forward the port with ssh -L or kubectl port-forward"
            )
        self.board = board
        self.token = token or secrets.token_urlsafe(24)
        self._clock = clock or SystemClock()
        self._due = asyncio.Event()
        self._feed = PageFeed(self.document, run=secrets.token_hex(4))
        self._tasks = TaskOwner("page")
        answers = PageAnswers(self._feed, token=self.token)
        self._answers = HttpAnswers(host, port, answers.answer, most=2 * MOST_READERS)
        self._closing = AsyncExitStack()

    @property
    def url(self) -> str:
        """The address of the page, with the token at its end."""
        host = f"[{self._answers.host}]" if ":" in self._answers.host else self._answers.host
        return f"http://{host}:{self._answers.port}/#token={self.token}"

    @property
    def port(self) -> int:
        """The port, once the page is entered."""
        return self._answers.port

    def document(self) -> PageDocument:
        """All of the page, now."""
        return self.board.document(self._clock.now())

    def changed(self) -> None:
        """The board has something new."""
        self._due.set()

    def replace(self, board: Board) -> None:
        """Show another board."""
        self.board = board
        board.refresh(self._clock.now())
        self._feed.start_over()

    async def __aenter__(self) -> Self:
        self.board.refresh(self._clock.now())
        async with AsyncExitStack() as undo:
            await undo.enter_async_context(self._answers)
            await undo.enter_async_context(self._tasks)
            PermanentTasks(clock=self._clock).keep(self._tasks, self._keep_fresh, name="page")
            self._closing = undo.pop_all()
        return self

    async def __aexit__(self, *failure: *Failure) -> None:
        await self._closing.__aexit__(*failure)

    async def _keep_fresh(self) -> None:
        while True:
            if await came_within(self._due, LOOK_EVERY, clock=self._clock):
                await self._clock.sleep(TOGETHER)
            self._due.clear()
            change = self.board.refresh(self._clock.now())
            if change is not None:
                self._feed.publish(change)
