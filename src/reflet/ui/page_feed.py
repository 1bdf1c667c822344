"""The document of a page and its changes, as server-sent events for any number of readers.

A reader has a place among the changes and nothing else: who is slow, or was away, gets the changes
since, and where those are forgotten the whole document.  So memory is bounded by what is kept, and
not by who reads.
"""

from __future__ import annotations

import asyncio
import zlib
from collections import deque
from collections.abc import AsyncGenerator, Callable
from typing import TYPE_CHECKING, Final

import msgspec

from reflet.insight.page.page_document import PageChange, PageDocument
from reflet.runtime.threads import in_thread
from reflet.runtime.waits import Arrivals

if TYPE_CHECKING:
    Packer = zlib._Compress  # noqa: SLF001 - what compressobj gives has no public name

HEARTBEAT: Final = 15.0  # seconds; a browser that hears nothing for three of them connects again
MOST_KEPT: Final = 512  # changes
MOST_BYTES: Final = 4 << 20  # of changes
PIECE: Final = 64 << 10  # bytes
LARGE: Final = 256 << 10  # bytes that take long enough to compress to leave the loop to others
_GZIP: Final = 31  # for zlib: gzip's header, the largest window


class PageFeed:
    """Changes in order, numbered; *document* gives the whole at any time.

    *run* is this run's own word, random: numbers of another run mean nothing here.
    """

    def __init__(self, document: Callable[[], PageDocument], *, run: str) -> None:
        self._document = document
        self._run = run
        self._changes: deque[bytes] = deque()
        self._bytes = 0
        self._version = 0
        self._news = Arrivals()

    def publish(self, change: PageChange) -> None:
        """Send a change to everybody; the document has it already."""
        self._version += 1
        data = self._event("change", msgspec.json.encode(change))
        self._changes.append(data)
        self._bytes += len(data)
        while len(self._changes) > MOST_KEPT or self._bytes > MOST_BYTES:
            self._bytes -= len(self._changes.popleft())
        self._news.wake()

    def start_over(self) -> None:
        """Everything is different: everybody gets the whole document."""
        self._version += 1
        self._changes.clear()
        self._bytes = 0
        self._news.wake()

    async def events(self, last: str = "", *, gzip: bool = False) -> AsyncGenerator[bytes, None]:
        """Yield the events after the one of that id, for ever."""
        packer = zlib.compressobj(wbits=_GZIP) if gzip else None
        place = self._place_of(last)
        while True:
            place, data = self._since(place)
            data = data if packer is None else await _packed(packer, data)
            # In pieces: a reader has a time for each, and a slow line needs more than one.
            for first in range(0, len(data), PIECE):
                yield data[first : first + PIECE]
            while place == self._version:
                try:
                    async with asyncio.timeout(HEARTBEAT):
                        await self._news.wait()
                except TimeoutError:
                    yield _pack(packer, b": here\n\n") if packer else b": here\n\n"

    def _since(self, place: int | None) -> tuple[int, bytes]:
        """What a reader at a place lacks, and where it is then."""
        missed = 0 if place is None else self._version - place
        if place is None or missed > len(self._changes):
            return self._version, self._event("document", msgspec.json.encode(self._document()))
        kept = list(self._changes)[len(self._changes) - missed :]
        return self._version, b"".join(kept)

    def _place_of(self, last: str) -> int | None:
        run, _, number = last.partition(".")
        if run != self._run or not number.isdecimal() or len(number) > 18:
            return None
        place = int(number)
        return place if place <= self._version else None

    def _event(self, name: str, data: bytes) -> bytes:
        head = f"id: {self._run}.{self._version}\nevent: {name}\ndata: "
        return b"%b%b\n\n" % (head.encode(), data)


async def _packed(packer: Packer, data: bytes) -> bytes:
    if len(data) < LARGE:
        return _pack(packer, data)
    return await in_thread(lambda: _pack(packer, data))


def _pack(packer: Packer, data: bytes) -> bytes:
    return packer.compress(data) + packer.flush(zlib.Z_SYNC_FLUSH)
