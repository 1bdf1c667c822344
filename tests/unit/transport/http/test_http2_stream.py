from __future__ import annotations

import asyncio

import pytest
from h2.errors import ErrorCodes
from h2.settings import SettingCodes

from reflet.errors import DeadlineExceeded, TransportError
from reflet.transport.failures import ConnectionReplaced
from reflet.transport.http.http2_stream import STREAM_WINDOW, Http2Stream
from reflet.transport.interface import Request
from tests.unit.transport.dialling import body_of, connection_to, exchange_on
from tests.unit.transport.scripted_servers import Http2Request, Http2Server


class RecordingOwner:
    """A connection that only remembers what the exchange asked of it."""

    server = "https://server"

    def __init__(self) -> None:
        self.loop: asyncio.AbstractEventLoop = asyncio.get_running_loop()
        self.granted = 0
        self.acknowledged = 0
        self.forgotten: list[bool] = []

    def send_window_update(self, stream_id: int, size: int) -> None:
        self.granted += size

    def acknowledge(self, stream_id: int, size: int) -> None:
        self.acknowledged += size

    def forget(self, exchange: Http2Stream, *, reset: bool) -> None:
        self.forgotten.append(reset)


def exchange_with(owner: RecordingOwner, **headers: str) -> Http2Stream:
    exchange = Http2Stream(owner, 1)
    exchange.sent = True
    exchange.take_head(200, {name.replace("_", "-"): value for name, value in headers.items()})
    return exchange


async def test_reading_gives_everything_that_has_arrived_in_one_piece() -> None:
    exchange = exchange_with(RecordingOwner())
    exchange.take_data(b"one ")
    exchange.take_data(b"two")

    assert await exchange.read() == b"one two"


async def test_an_exchange_that_gives_way_is_read_out_and_the_server_sends_no_more() -> None:
    owner = RecordingOwner()
    exchange = exchange_with(owner)
    exchange.take_counted_data(b"abc", 3)
    exchange.give_way()

    assert owner.forgotten == [True]
    assert await exchange.read() == b"abc"
    with pytest.raises(ConnectionReplaced):
        await exchange.read()


async def test_an_answer_that_is_whole_gives_way_whole() -> None:
    owner = RecordingOwner()
    exchange = exchange_with(owner)
    exchange.take_data(b"abc")
    exchange.take_end()
    exchange.give_way()

    assert owner.forgotten == [False]
    assert await exchange.read_all() == b"abc"


async def test_what_arrived_before_a_failure_is_read_first() -> None:
    exchange = exchange_with(RecordingOwner())
    exchange.take_data(b"abc")
    exchange.take_failure(TransportError("broken"))

    assert await exchange.read() == b"abc"
    for _ in range(2):
        with pytest.raises(TransportError, match="broken"):
            await exchange.read()


async def test_a_failure_after_the_end_changes_nothing() -> None:
    exchange = exchange_with(RecordingOwner())
    exchange.take_data(b"abc")
    exchange.take_end()
    exchange.take_failure(TransportError("broken"))

    assert await exchange.read_all() == b"abc"
    assert await exchange.read() == b""


async def test_the_first_failure_is_the_one_that_is_told() -> None:
    exchange = exchange_with(RecordingOwner())
    exchange.take_failure(DeadlineExceeded("first"))
    exchange.take_failure(TransportError("second"))

    with pytest.raises(DeadlineExceeded, match="first"):
        await exchange.read()


@pytest.mark.parametrize(("sent", "ended", "reset"), [(1, 1, False), (0, 1, True), (1, 0, True)])
async def test_the_server_is_told_when_a_side_had_not_finished(
    sent: int, ended: int, reset: bool
) -> None:
    owner = RecordingOwner()
    exchange = exchange_with(owner)
    exchange.sent = bool(sent)
    if ended:
        exchange.take_end()
    exchange.close()

    assert owner.forgotten == [reset]


async def test_closing_wakes_the_reader() -> None:
    exchange = exchange_with(RecordingOwner())
    reading = asyncio.create_task(exchange.read())
    await asyncio.sleep(0)
    exchange.close()

    with pytest.raises(TransportError, match="the stream was closed"):
        await reading


async def test_a_cancelled_read_loses_nothing() -> None:
    exchange = exchange_with(RecordingOwner())
    reading = asyncio.create_task(exchange.read())
    await asyncio.sleep(0)
    exchange.take_data(b"abc")
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading

    assert await exchange.read() == b"abc"


async def test_the_server_may_send_as_much_as_was_read_and_no_more() -> None:
    owner = RecordingOwner()
    exchange = exchange_with(owner)
    read = 0
    for size in (1, STREAM_WINDOW // 2, 10, STREAM_WINDOW - 1, STREAM_WINDOW):
        exchange.take_data(b"x" * size)
        assert owner.granted <= read
        read += len(await exchange.read())
        assert owner.granted > read - STREAM_WINDOW // 2


async def test_bytes_that_the_library_counted_are_granted_once_and_only_by_it() -> None:
    owner = RecordingOwner()
    exchange = exchange_with(owner)
    exchange.take_counted_data(b"x" * STREAM_WINDOW, STREAM_WINDOW + 5)
    assert owner.acknowledged == 0
    await exchange.read()

    assert (owner.acknowledged, owner.granted) == (STREAM_WINDOW + 5, 0)


async def test_bytes_that_nobody_read_are_acknowledged_at_the_end() -> None:
    owner = RecordingOwner()
    exchange = exchange_with(owner)
    exchange.take_counted_data(b"abc", 3)
    exchange.close()

    assert owner.acknowledged == 3


# Silence


@pytest.mark.virtual_time
async def test_silence_past_the_limit_fails_the_exchange() -> None:
    exchange = exchange_with(RecordingOwner())
    exchange.limit_silence(30)
    began = asyncio.get_running_loop().time()

    with pytest.raises(DeadlineExceeded, match="silent for 30 seconds"):
        await exchange.read()
    assert asyncio.get_running_loop().time() - began == pytest.approx(30)


@pytest.mark.virtual_time
async def test_every_byte_begins_the_silence_anew() -> None:
    exchange = exchange_with(RecordingOwner())
    exchange.limit_silence(30)
    loop = asyncio.get_running_loop()
    began = loop.time()
    for moment in (29, 58, 87):
        loop.call_later(moment, exchange.take_data, b"x")

    for _ in range(3):
        assert await exchange.read() == b"x"
    with pytest.raises(DeadlineExceeded):
        await exchange.read()
    assert loop.time() - began == pytest.approx(87 + 30)


@pytest.mark.virtual_time
async def test_bytes_that_wait_for_a_slow_reader_are_not_silence() -> None:
    exchange = exchange_with(RecordingOwner())
    exchange.limit_silence(30)
    exchange.take_data(b"abc")
    await asyncio.sleep(1000)

    assert await exchange.read() == b"abc"


@pytest.mark.virtual_time
@pytest.mark.parametrize("counted", [True, False])
async def test_a_server_that_a_slow_reader_held_back_gets_time_to_go_on(counted: bool) -> None:
    exchange = exchange_with(RecordingOwner())
    exchange.limit_silence(30)
    if counted:
        exchange.take_counted_data(b"x" * STREAM_WINDOW, STREAM_WINDOW)
    else:
        exchange.take_data(b"x" * STREAM_WINDOW)
    await asyncio.sleep(89)  # one second before the clock looks again
    await exchange.read()
    asyncio.get_running_loop().call_later(2, exchange.take_data, b"more")

    assert await exchange.read() == b"more"


@pytest.mark.virtual_time
async def test_a_new_limit_replaces_the_old_one() -> None:
    exchange = exchange_with(RecordingOwner())
    exchange.limit_silence(30)
    exchange.limit_silence(None)
    asyncio.get_running_loop().call_later(1000, exchange.take_end)

    assert await exchange.read() == b""


async def test_a_silent_stream_is_given_back_to_the_server() -> None:
    async def script(request: Http2Request) -> None:
        request.head()
        await request.for_ever()

    settings = {SettingCodes.MAX_CONCURRENT_STREAMS: 1}
    async with (
        Http2Server(script, settings=settings) as server,
        connection_to(server) as connection,
    ):
        async with exchange_on(connection) as exchange:
            exchange.limit_silence(0.02)
            with pytest.raises(DeadlineExceeded):
                await exchange.read()

        assert await server.requests[0].reset_code == ErrorCodes.CANCEL
        assert connection.room == 1
        assert connection._state.open_outbound_streams == 0


# Back-pressure


@pytest.mark.parametrize("path", ["/counted", "/uncounted", "/padded"])
async def test_a_reader_that_does_not_read_stops_its_server_and_nobody_else(path: str) -> None:
    body = bytes(range(256)) * (4 * STREAM_WINDOW // 256)

    async def script(request: Http2Request) -> None:
        if request.path == "/other":
            return await request.answer(body=body, counted=False)
        request.head(headers=[("content-length", str(len(body)))] * (path == "/counted"))
        pad = 11 if path == "/padded" else None
        await request.data(body, pad=pad, frame=16_000, end=True)
        return None

    async with (
        Http2Server(script) as server,
        connection_to(server) as connection,
        exchange_on(connection, Request(path=path)) as exchange,
    ):
        await server.until(lambda: server.requests[0].stalled)
        assert 0.9 * STREAM_WINDOW < server.requests[0].sent <= STREAM_WINDOW

        assert await body_of(connection, Request(path="/other")) == body

        assert server.requests[0].sent <= STREAM_WINDOW
        assert await exchange.read_all() == body
