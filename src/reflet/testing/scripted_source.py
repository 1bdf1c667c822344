"""A source that does what a script says, and remembers what it was asked.

Plays lists and watches in order, on whatever event loop asks.

Upstream: client-go/tools/cache/testing/fake_controller_source.go, FakeControllerSource (there a
state with a history, here a script)
"""

from __future__ import annotations

import asyncio
import enum
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeAlias, TypeVar

from reflet.api.codec import Listing
from reflet.api.core.config import ConfigMap
from reflet.api.meta import KubernetesObject, ListMeta, ObjectMeta
from reflet.api.options import ListOptions, WatchOptions
from reflet.api.watch_events import WatchEvent
from reflet.errors import DeadlineExceeded
from reflet.runtime.gate import Gate

T = TypeVar("T", bound=KubernetesObject)

_INITIAL_EVENTS_END: Final = "k8s.io/initial-events-end"


class Quiet(enum.Enum):
    """How a stream can bring nothing."""

    HEALTHY = enum.auto()
    """It stays open, and nothing happens on the server."""
    DEAD = enum.auto()
    """Nobody is at the other end: DeadlineExceeded once the reader's *silence* is over."""


@dataclass(frozen=True, slots=True)
class After:
    """Nothing for *seconds*, then the next step."""

    seconds: float


Step: TypeAlias = "WatchEvent[T] | Sequence[WatchEvent[T]] | After | Quiet | Exception"
"""An event, events that arrive together, a pause, an open end, or how the stream breaks."""

WatchScript: TypeAlias = "Sequence[Step[T]] | Exception"
"""What a watch brings before the server closes it; or why it is refused."""


class ScriptEnded(Exception):
    """The script has no answer to a request."""


class ScriptedSource(Generic[T]):
    """Answers lists and watches in the order in which they are given.

    ::

        source = ScriptedSource(
            lists=[listing("5"), listing("40")], watches=[[bookmark("9"), GONE]]
        )

    ``requests`` says what was asked, in words; ``asked`` has the options.  A watch beyond the
    last is open and quiet; a list beyond the last is a ScriptEnded.  ``open_watches`` is how many
    were not closed again.

    - *lists*: answers to list requests, or errors, in order
    - *watches*: what each watch brings, or why it is refused, in order
    - *gate*: where reflectors wait while the server cannot be reached; None is no gate
    """

    def __init__(
        self,
        *,
        lists: Iterable[Listing[T] | Exception] = (),
        watches: Iterable[WatchScript[T]] = (),
        gate: Gate | None = None,
    ) -> None:
        self.gate = gate
        self.requests: list[str] = []
        self.asked: list[ListOptions | WatchOptions] = []
        self.open_watches = 0
        self._lists = iter(lists)
        self._watches: Iterator[WatchScript[T]] = iter(watches)
        self._quiet = asyncio.Event()

    async def until_quiet(self) -> None:
        """Wait until a watch has brought everything and stays open."""
        await self._quiet.wait()

    async def page(self, options: ListOptions, /) -> Listing[T]:
        """The next list."""
        self.asked.append(options)
        self.requests.append(
            f"page {options.continue_!r}"
            if options.continue_
            else f"list at {options.resource_version or ''!r}"
        )
        answer = next(self._lists, None)
        if answer is None:
            raise ScriptEnded(f"the script has no more lists; asked was: {self.requests}")
        if isinstance(answer, Exception):
            raise answer
        return answer

    @asynccontextmanager
    async def watch(
        self, options: WatchOptions, /, *, silence: float | None
    ) -> AsyncIterator[ScriptedWatch[T]]:
        """The next watch."""
        self.asked.append(options)
        verb = "stream at" if options.send_initial_events else "watch since"
        self.requests.append(f"{verb} {options.resource_version or ''!r}")
        script = next(self._watches, (Quiet.HEALTHY,))
        if isinstance(script, Exception):
            raise script
        self.open_watches += 1
        try:
            yield ScriptedWatch(script, silence, self._quiet)
        finally:
            self.open_watches -= 1


class ScriptedWatch(Generic[T]):
    """Plays one script; ``received_bytes`` counts every event as one.

    - *script*: what the watch brings
    - *quiet*: set when the script has ended and the watch stays open
    """

    def __init__(
        self, script: Sequence[Step[T]], silence: float | None, quiet: asyncio.Event
    ) -> None:
        self.received_bytes = 0
        self._script = script
        self._silence = silence
        self._quiet = quiet

    async def batches(self) -> AsyncIterator[Sequence[WatchEvent[T]]]:
        """Give out one step after another."""
        for step in self._script:
            match step:
                case Exception():
                    raise step
                case After(seconds=seconds):
                    await asyncio.sleep(seconds)
                case Quiet.HEALTHY:
                    await self._for_ever()
                case Quiet.DEAD:
                    if self._silence is None:
                        await self._for_ever()
                    else:
                        await asyncio.sleep(self._silence)
                    raise DeadlineExceeded(f"the stream was silent for {self._silence} s")
                case WatchEvent():
                    self.received_bytes += 1
                    yield [step]
                case _:
                    self.received_bytes += len(step)
                    yield step

    async def _for_ever(self) -> None:
        self._quiet.set()
        await asyncio.get_running_loop().create_future()


def listing(version: str, *items: T, continue_: str = "") -> Listing[T]:
    """A list, or a page of one when there is a token for the next.

    - *version*: the ``resourceVersion`` of the list
    - *items*: the objects
    - *continue_*: token for the next page; empty for the last one
    """
    return Listing(items=items, metadata=ListMeta(resource_version=version, continue_=continue_))


def added(item: T) -> WatchEvent[T]:
    """An object came."""
    return WatchEvent(type="ADDED", object=item)


def modified(item: T) -> WatchEvent[T]:
    """An object changed."""
    return WatchEvent(type="MODIFIED", object=item)


def deleted(item: T) -> WatchEvent[T]:
    """An object went; *item* is its last state."""
    return WatchEvent(type="DELETED", object=item)


def bookmark(
    version: str, *, ends_initial_events: bool = False, kind: Any = ConfigMap
) -> WatchEvent[Any]:
    """The stream is at *version*, and, if so said, the initial events are complete.

    - *ends_initial_events*: whether the initial events of a WatchList are complete
    - *kind*: class of the objects
    """
    annotations = {_INITIAL_EVENTS_END: "true"} if ends_initial_events else {}
    metadata = ObjectMeta(resource_version=version, annotations=annotations)
    return WatchEvent(type="BOOKMARK", object=kind(metadata=metadata))
