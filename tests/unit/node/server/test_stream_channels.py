"""Channels to a container: which streams are meant, places, and clients that mean no good."""

from __future__ import annotations

import asyncio
import gc

import pytest

from reflet.api.core.pods import Pod
from reflet.api.meta import ObjectMeta
from reflet.errors import TransportError
from reflet.node.server import stream_channels
from reflet.node.server.stream_channels import (
    AskedStreams,
    StreamPlaces,
    asked_streams,
    opened_channels,
)
from reflet.node.server.upgrading import Agreed
from reflet.transport.serving.http_answers import Answer, Question
from reflet.transport.upgrades.channels import STATUS, STDERR, STDIN, STDOUT, V5
from reflet.transport.upgrades.spdy import SpdySession, SpdyStream
from reflet.transport.upgrades.websocket import WebSocket
from tests.byte_lines import FullLine, MemoryLine

POD = Pod(metadata=ObjectMeta(name="web", namespace="shop", uid="u1"))
OUTPUT = frozenset({STDOUT})
BY_SPDY = Agreed(False, "v4.channel.k8s.io", ())
BY_WEBSOCKET = Agreed(True, V5, ())


def asked(*path: str, **query: str) -> AskedStreams | Answer:
    found = {("shop", "web"): POD}
    return asked_streams(Question(path, query, {}), lambda *name: found.get(name))


def test_streams_are_asked_for_in_the_kubelets_words() -> None:
    wanted = asked("exec", "shop", "web", "main", input="1", output="true", error="0")

    assert wanted == AskedStreams(POD, "main", frozenset({STDIN, STDOUT}), tty=False)
    assert asked("exec", "shop", "web", "u1", "main", input="1", output="true") == wanted


def test_a_terminal_has_no_standard_error() -> None:
    wanted = asked("exec", "shop", "web", "main", output="1", error="1", tty="1")

    assert wanted == AskedStreams(POD, "main", OUTPUT, tty=True)


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("exec/shop/web", 404),
        ("exec/shop/web/u1/main/more", 404),
        ("exec/shop/nobody/main", 404),
        ("exec/shop/web/u2/main", 404),
        ("exec/shop/web/main", 400),
    ],
)
def test_what_is_no_container_or_has_no_stream_is_refused(path: str, status: int) -> None:
    answer = asked(*path.split("/"))

    assert isinstance(answer, Answer)
    assert answer.status == status


def test_only_so_many_places_are_given() -> None:
    places = StreamPlaces(1)
    with places.place() as first, places.place() as second:
        refusal = places.refusal()

        assert (first, second) == (True, False)
        assert refusal is not None
        assert (refusal.status, refusal.retry_after) == (429, 5)
    assert places.refusal() is None


class Client:
    """Whoever asks by SPDY, and the node's end of the line."""

    def __init__(self) -> None:
        here, self.there = MemoryLine.pair()
        self.session = SpdySession(here, is_client=True)
        self._reading = asyncio.ensure_future(self.session.run())

    async def leave(self) -> None:
        await self.session.close()
        self._reading.cancel()
        await asyncio.gather(self._reading, return_exceptions=True)


def streams_in_memory() -> int:
    return sum(isinstance(each, SpdyStream) for each in gc.get_objects())


async def test_thousands_of_streams_one_after_the_other_fill_no_memory() -> None:
    client = Client()
    for kind in ("error", "stdout"):
        await client.session.open({"streamtype": kind})
    async with opened_channels(client.there, BY_SPDY, OUTPUT, tty=False) as (channels, _):
        for _ in range(3000):
            stream = await client.session.open({"streamtype": "stdin"})
            await stream.write(b"x" * 100)
            await stream.reset()
            await asyncio.sleep(0)
        last = await client.session.open({"streamtype": "stdin"})
        with pytest.raises(TransportError, match="reset"):
            await last.read()

        assert set(channels) == {STDOUT, STATUS}
        assert streams_in_memory() < 20
        await client.leave()


async def test_streams_of_no_known_kind_and_second_ones_are_reset() -> None:
    client = Client()
    first = await client.session.open({"streamtype": "error"})
    second = await client.session.open({"streamtype": "error"})
    unknown = await client.session.open({"streamtype": "soul"})
    await client.session.open({"streamtype": "stdout"})
    async with opened_channels(client.there, BY_SPDY, OUTPUT, tty=False) as (channels, _):
        for refused in (second, unknown):
            with pytest.raises(TransportError, match="reset"):
                await refused.read()
        await channels[STATUS].write(b"well")

        assert await first.read() == b"well"
        await client.leave()


async def test_what_a_client_sends_where_nobody_reads_stops_nothing() -> None:
    client = Client()
    errors = await client.session.open({"streamtype": "error"})
    stdin = await client.session.open({"streamtype": "stdin"})
    wanted = frozenset({STDIN})
    async with opened_channels(client.there, BY_SPDY, wanted, tty=False) as (channels, _):
        await errors.write(bytes(2**20))
        await stdin.write(b"in")

        assert await channels[STDIN].read() == b"in"
        await client.leave()


@pytest.mark.virtual_time
async def test_a_client_that_opens_no_streams_has_thirty_seconds() -> None:
    client = Client()
    begun = asyncio.get_running_loop().time()
    with pytest.raises(TimeoutError):
        async with opened_channels(client.there, BY_SPDY, OUTPUT, tty=False):
            pass

    waited = asyncio.get_running_loop().time() - begun
    assert waited == pytest.approx(stream_channels.STREAMS_TIMEOUT, abs=2)
    await client.leave()


async def test_the_end_waits_until_whoever_reads_slowly_has_all() -> None:
    here, there = SlowLine.pair()
    client = WebSocket(here, is_client=True)

    async def serve() -> None:
        streams = frozenset({STDOUT, STDERR})
        async with opened_channels(there, BY_WEBSOCKET, streams, tty=False) as (channels, _):
            await channels[STATUS].write(b"status")

    serving = asyncio.ensure_future(serve())
    for _ in range(50):
        await asyncio.sleep(0)
    assert not there.is_closed
    assert isinstance(there, SlowLine)
    there.is_taken.set()
    heard = [await client.receive() for _ in range(3)]
    await serving

    assert [each and each.payload for each in heard] == [b"\1", b"\3status", None]


class SlowLine(MemoryLine):
    """A line whose other side takes what was written when it likes."""

    def __init__(self) -> None:
        super().__init__()
        self.is_taken = asyncio.Event()

    async def flush(self) -> None:
        await self.is_taken.wait()


@pytest.mark.virtual_time
async def test_a_client_that_reads_nothing_is_left_when_it_is_time_to_stop() -> None:
    line = FullLine()
    serving = asyncio.ensure_future(never_ending(line))
    await asyncio.sleep(1)
    serving.cancel()
    await asyncio.wait((serving,), timeout=10)

    assert serving.cancelled()


async def never_ending(line: FullLine) -> None:
    async with opened_channels(line, BY_WEBSOCKET, OUTPUT, tty=False) as (channels, _):
        await channels[STDOUT].write(b"x")
