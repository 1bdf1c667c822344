"""A page at a port: what is put on the board arrives at whoever reads."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from datetime import datetime, timedelta
from typing import Any

import msgspec
import pytest

from reflet.errors import ConfigurationError
from reflet.insight.page.page_document import PageChange
from reflet.testing.virtual_time import VirtualClock
from reflet.ui.page import LOOK_EVERY, Page
from tests.page_scenes import NOON, OF_WEB, WHOLE, board, change, config_map, pod

LATER = NOON + timedelta(hours=1)
INFO = config_map({"LEVEL": "info"})
DEBUG = config_map({"LEVEL": "debug"}, at=LATER, version="2")
PATIENCE = 20.0


@contextlib.asynccontextmanager
async def reading(page: Page, token: str = "") -> AsyncGenerator[asyncio.StreamReader, None]:
    address = page.url.partition("/#")[0].removeprefix("http://")
    host, _, port = address.rpartition(":")
    reader, writer = await asyncio.open_connection(host.strip("[]"), int(port))
    shown = token or page.token
    writer.write(
        f"GET /events HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {shown}\r\n\r\n".encode()
    )
    try:
        async with asyncio.timeout(PATIENCE):
            yield reader
    finally:
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()


async def event(reader: asyncio.StreamReader) -> tuple[str, Any]:
    head = await reader.readuntil(b"data: ")
    name = head.rpartition(b"event: ")[2].split(b"\n")[0].decode()
    return name, msgspec.json.decode(await reader.readuntil(b"\n\n"))


async def test_a_reader_gets_the_document_and_then_what_changes() -> None:
    shown = board(INFO, pods=(pod(WHOLE, metadata=OF_WEB),))
    async with Page(shown) as page, reading(page) as reader:
        first = await event(reader)
        change(shown, INFO, DEBUG, at=LATER)
        page.changed()
        second = await event(reader)

    assert (first[0], first[1]["title"]) == ("document", "shop")
    assert second[0] == "change"
    assert list(second[1]["sources"]) == ["ConfigMap/shop/settings"]


async def test_another_board_is_shown_to_who_reads_already() -> None:
    async with Page(board()) as page, reading(page) as reader:
        await event(reader)
        page.replace(board(INFO))
        name, document = await event(reader)

    assert (name, list(document["sources"])) == ("document", ["ConfigMap/shop/settings"])


async def test_without_the_token_there_is_no_document() -> None:
    async with Page(board(INFO)) as page, reading(page, "guess") as reader:
        answer = await reader.read()

    assert answer.startswith(b"HTTP/1.1 401 ")
    assert b"settings" not in answer


@pytest.mark.virtual_time
async def test_what_arrives_by_time_alone_is_noticed() -> None:
    mounted = {"volumeMounts": [{"name": "v", "mountPath": "/etc/shop"}]}
    volume = {"name": "v", "configMap": {"name": "settings", "defaultMode": 420}}
    clock = VirtualClock(LATER)
    shown = board(INFO, pods=(pod(mounted, metadata=OF_WEB, volumes=(volume,)),))
    change(shown, INFO, DEBUG, at=LATER)

    def state() -> str:
        return page.document().workloads["Deployment/shop/web"].arrivals[0].to[0].state

    async with Page(shown, clock=clock) as page:
        before = state()
        await asyncio.sleep(120 + 2 * LOOK_EVERY)
        after = state()

    assert (before, after) == ("on-its-way", "current")


@pytest.mark.virtual_time
async def test_a_machine_that_had_no_memory_for_a_look_has_the_next_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shown = board()
    refresh = shown.refresh
    looks: list[datetime] = []

    def refresh_or_fail(now: datetime) -> PageChange | None:
        looks.append(now)
        if len(looks) == 2:
            raise MemoryError
        return refresh(now)

    monkeypatch.setattr(shown, "refresh", refresh_or_fail)
    async with Page(shown, clock=VirtualClock(LATER)):
        await asyncio.sleep(4 * LOOK_EVERY)

    assert len(looks) >= 4


def test_every_page_has_a_token_of_its_own() -> None:
    first, second = Page(board()), Page(board())

    assert first.token != second.token
    assert len(first.token) >= 32
    assert first.url.endswith(f"/#token={first.token}")


async def test_the_page_is_for_this_machine_alone() -> None:
    with pytest.raises(ConfigurationError, match="loopback"):
        Page(board(), host="0.0.0.0")


async def test_ipv6_is_written_as_addresses_write_it() -> None:
    async with Page(board(), host="::1") as page:
        assert page.url.startswith("http://[::1]:")
