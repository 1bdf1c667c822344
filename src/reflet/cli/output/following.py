"""From what a reflector learns to what a person reads.

What is printed of it and what is not, what is said about the server, and which errors end a watch
that otherwise survives everything.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, Final, assert_never

from reflet.api.resources import Resource
from reflet.api.status import is_expired
from reflet.api.unstructured import AnyObject
from reflet.cli.output.change_output import ChangeOutput
from reflet.client.client import Client
from reflet.errors import (
    ApiError,
    BadRequest,
    ConfigurationError,
    CredentialsError,
    Forbidden,
    Invalid,
    MethodNotSupported,
    NotAcceptable,
    NotFound,
    ParseError,
    TransportError,
)
from reflet.informer.handlers.changes import Change
from reflet.informer.process_deltas import Updater
from reflet.informer.reflector.endings import PROGRAMMING_ERRORS
from reflet.informer.reflector.loop import ListFailed
from reflet.runtime.backoff import Backoff
from reflet.runtime.clock import Clock, SystemClock
from reflet.store.deltas import Changed, Delta, Replaced, Resynced
from reflet.store.store import Store

REFUSED_FOR_GOOD: Final = (
    BadRequest,
    ConfigurationError,
    Forbidden,
    Invalid,
    MethodNotSupported,
    NotAcceptable,
    NotFound,
    ParseError,
)
"""Refusals of what was asked for: before anything was seen, to ask again changes nothing."""

ENOUGH_TEXT: Final = 64 * 1024
"""Characters that are written at once."""

IS_BACK: Final = "the server is back"

Say = Callable[[str], None]


async def find_patiently(
    client: Client, name: str, *, say: Say, clock: Clock | None = None
) -> Resource:
    """The resource that *name* means on this server, asked for until there is an answer."""
    clock = clock or SystemClock()
    backoff = Backoff(clock=clock)
    waited = False
    while True:
        try:
            resource = await client.find(name)
        except (ApiError, CredentialsError, TransportError) as error:
            if isinstance(error, REFUSED_FOR_GOOD):
                raise
            if not waited:
                say(_not_yet(error))
            waited = True
            await clock.sleep(backoff.next_delay())
        else:
            if waited:
                say(IS_BACK)
            return resource


class Following:
    """Prints what changes, and says what happens to the server.  Is a ``Sink``.

    Until the first SYNCED, an error of ``REFUSED_FOR_GOOD`` ends it: ``run`` raises it.  Afterwards
    nothing does but the end of the output.
    """

    def __init__(
        self,
        resource: Resource,
        output: ChangeOutput,
        *,
        write: Callable[[str], None],
        say: Say,
    ) -> None:
        self._resource = resource
        self._output = output
        self._write = write
        self._say = say
        self._store: Store[AnyObject] = Store()
        self._updater = Updater(self._store, self._tell)
        self._synced = False
        self._lost = False
        self._last_said = ""
        self._end: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def run(self, reflecting: Coroutine[Any, Any, None]) -> None:
        """Run *reflecting*, which feeds this, until cancelled or until there is an end."""
        task = asyncio.create_task(reflecting, name=f"watch of {self._resource}")
        try:
            done, _ = await asyncio.wait((task, self._end), return_when=asyncio.FIRST_COMPLETED)
            for ended in done:
                ended.result()
        finally:
            task.cancel()
            await asyncio.wait((task,))

    # What is printed

    def apply(self, delta: Delta[AnyObject], /) -> None:
        """Print what is new in *delta*."""
        if self._end.done():
            return
        try:
            self._apply(delta)
        except Exception as error:  # noqa: BLE001 - the reflector would go on; raised by run
            self._end.set_exception(error)

    def _apply(self, delta: Delta[AnyObject]) -> None:
        match delta:
            case Changed(events=events):
                self._updater.changed(events)
            case Replaced(items=items, version=version):
                self._updater.replaced(items, version, initial=not self._synced)
                if not self._synced:
                    self._synced = True
                    self._write(self._output.synced(len(items)))
            case Resynced():
                pass
            case _:
                assert_never(delta)

    def _tell(self, changes: Sequence[Change[AnyObject]], /, *, repeated: bool) -> None:
        if repeated:
            changes = [change for change in changes if not change.is_resync]
        text = ""
        for shown in self._output.changed(changes):
            text += shown
            if len(text) > ENOUGH_TEXT:
                self._write(text)
                text = ""
        if text:
            self._write(text)

    # What is said

    def connection_changed(self, error: Exception | None) -> None:
        """The server is lost, with *error*, or back."""
        self._lost = error is not None
        if error is None:
            self._say(IS_BACK)
        elif not self._is_the_end(error):
            words = f"warning: lost the server: {error}; trying again"
            self._say(words if self._synced else _not_yet(error))

    def failed(self, error: Exception) -> None:
        """A pass of the reflector has failed, and another follows."""
        cause = error.__cause__ if isinstance(error, ListFailed) else error
        if cause is None or self._is_the_end(cause) or self._lost or is_expired(cause):
            return  # said already, or of no concern to a reader
        if isinstance(cause, PROGRAMMING_ERRORS):
            return  # it ends the reflector, and so the command
        words = f"warning: {error}; trying again"
        if words != self._last_said:
            self._last_said = words
            self._say(words)

    def _is_the_end(self, error: BaseException) -> bool:
        if self._synced or not isinstance(error, REFUSED_FOR_GOOD):
            return False
        if not self._end.done():
            unknown = ParseError(
                f"the server has no {self._resource}: see reflet api-resources for what it has"
            )
            self._end.set_exception(unknown if isinstance(error, NotFound) else error)
        return True


def _not_yet(error: Exception) -> str:
    return f"warning: cannot watch yet: {error}; trying again"
