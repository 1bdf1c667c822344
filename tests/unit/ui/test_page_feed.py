"""Events for readers that are quick, slow, or were away: each ends with the same page."""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import AsyncGenerator
from typing import Any

import msgspec
import pytest

from reflet.insight.page.page_document import PageChange, PageDocument
from reflet.ui.page_feed import HEARTBEAT, LARGE, MOST_BYTES, MOST_KEPT, PIECE, PageFeed

Event = tuple[str, str, Any]


class Scene:
    """A document that counts, and a feed of it."""

    def __init__(self) -> None:
        self.count = 0
        self.padding = ""
        self.feed = PageFeed(self.document, run="r")

    def document(self) -> PageDocument:
        return PageDocument(
            title=self.padding,
            kind="live",
            began=0.0,
            now=float(self.count),
            notes=(),
            sources={},
            workloads={},
            edits=(),
        )

    def change(self, note: str = "") -> None:
        self.count += 1
        self.feed.publish(PageChange(now=float(self.count), notes=(note,)))


def read(data: bytes) -> list[Event]:
    """The id, name and document of each event."""
    found = []
    for text in data.decode().split("\n\n"):
        if text and not text.startswith(":"):
            head, name, content = text.split("\n")
            found.append((head[4:], name[7:], msgspec.json.decode(content[6:])))
    return found


async def once(events: AsyncGenerator[bytes, None]) -> list[Event]:
    return read(await anext(events))


async def test_who_comes_gets_the_document() -> None:
    scene = Scene()
    events = scene.feed.events()

    [(place, name, document)] = await once(events)

    assert (place, name, document["now"]) == ("r.0", "document", 0.0)
    await events.aclose()


async def test_changes_follow_in_order() -> None:
    scene = Scene()
    events = scene.feed.events()
    await once(events)

    scene.change()
    scene.change()

    assert [(place, name, said["now"]) for place, name, said in await once(events)] == [
        ("r.1", "change", 1.0),
        ("r.2", "change", 2.0),
    ]
    await events.aclose()


async def test_who_was_away_gets_what_was_missed() -> None:
    scene = Scene()
    for _ in range(5):
        scene.change()
    events = scene.feed.events("r.3")

    assert [place for place, _, _ in await once(events)] == ["r.4", "r.5"]
    await events.aclose()


@pytest.mark.parametrize("last", ["", "another.3", "r.", "r.x", "r.99", "r.-1", "r." + "9" * 400])
async def test_who_comes_from_elsewhere_gets_the_document(last: str) -> None:
    scene = Scene()
    for _ in range(5):
        scene.change()
    events = scene.feed.events(last)

    assert [name for _, name, _ in await once(events)] == ["document"]
    await events.aclose()


async def test_who_is_too_slow_gets_the_document_and_memory_stays_bounded() -> None:
    scene = Scene()
    events = scene.feed.events()
    await once(events)

    for _ in range(MOST_KEPT + 1):
        scene.change()

    assert len(scene.feed._changes) == MOST_KEPT
    [(place, name, _)] = await once(events)
    assert (place, name) == (f"r.{MOST_KEPT + 1}", "document")
    await events.aclose()


async def test_large_changes_are_kept_by_their_bytes() -> None:
    scene = Scene()
    for _ in range(9):
        scene.change("x" * (MOST_BYTES // 4))

    assert sum(map(len, scene.feed._changes)) <= MOST_BYTES


async def test_another_board_is_a_document_for_everybody() -> None:
    scene = Scene()
    scene.change()
    events = scene.feed.events("r.1")
    waiting = asyncio.ensure_future(once(events))
    await asyncio.sleep(0)

    scene.feed.start_over()

    assert [name for _, name, _ in await waiting] == ["document"]
    await events.aclose()


async def test_a_large_document_comes_in_pieces() -> None:
    scene = Scene()
    scene.padding = "x" * 3 * PIECE
    events = scene.feed.events()

    pieces = [await anext(events) for _ in range(4)]

    assert [len(piece) for piece in pieces[:3]] == [PIECE] * 3
    assert [name for _, name, _ in read(b"".join(pieces))] == ["document"]
    await events.aclose()


@pytest.mark.virtual_time
async def test_a_quiet_page_gives_signs_of_life() -> None:
    events = Scene().feed.events()
    await anext(events)
    began = asyncio.get_running_loop().time()

    assert await anext(events) == b": here\n\n"
    assert asyncio.get_running_loop().time() - began == HEARTBEAT
    await events.aclose()


@pytest.mark.parametrize("size", [10, 2 * LARGE])
async def test_compressed_events_can_be_read_as_they_come(size: int) -> None:
    scene = Scene()
    scene.padding = "x" * size
    events = scene.feed.events(gzip=True)
    unpacking = zlib.decompressobj(wbits=31)

    first = read(unpacking.decompress(await anext(events)))
    scene.change()
    second = read(unpacking.decompress(await anext(events)))

    assert ([name for _, name, _ in first], [name for _, name, _ in second]) == (
        ["document"],
        ["change"],
    )
    assert first[0][2]["title"] == scene.padding
    await events.aclose()
