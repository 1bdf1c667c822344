from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack

import pytest
from h2.errors import ErrorCodes
from h2.settings import SettingCodes

from reflet.errors import ConnectionRefused, DeadlineExceeded, TransportError
from reflet.transport.failures import ConnectionReplaced
from reflet.transport.http import http2_pool
from reflet.transport.http.http2 import Http2Connection
from reflet.transport.http.http2_pool import ATTEMPTS, Http2Transport
from reflet.transport.interface import Request
from tests.patience import overload
from tests.unit.transport.dialling import dial_to, transport_to
from tests.unit.transport.scripted_servers import Http2Request, Http2Server

GET = Request(path="/")
POST = Request(method="POST", path="/", body=b"{}")


async def ok(request: Http2Request) -> None:
    await request.answer(body=b"ok")


async def quiet(request: Http2Request) -> None:
    request.head()
    await request.for_ever()


async def never(request: Http2Request) -> None:
    await request.for_ever()


async def test_an_answer_is_whole_with_its_status_and_headers() -> None:
    async def script(request: Http2Request) -> None:
        await request.answer(404, b"gone", headers=[("content-type", "text/plain")])

    async with Http2Server(script) as server, transport_to(server) as transport:
        response = await transport.send(GET)

    assert (response.status, response.body) == (404, b"gone")
    assert response.headers == {"content-length": "4", "content-type": "text/plain"}


async def test_a_stream_is_read_while_it_arrives() -> None:
    async def script(request: Http2Request) -> None:
        request.head(headers=[("content-type", "application/json")])
        await request.data(b"event 0\n")
        await server.until(lambda: len(server.requests) == 2)
        await request.data(b"event 1\n")
        await server.until(lambda: len(server.requests) == 3)
        await request.data(b"", end=True)

    async def watch_or_ok(request: Http2Request) -> None:
        await (script if request.path == "/watch" else ok)(request)

    async with Http2Server(watch_or_ok) as server, transport_to(server) as transport:
        async with transport.stream(Request(path="/watch")) as stream:
            assert stream.status == 200
            assert stream.headers["content-type"] == "application/json"
            for number in range(2):
                assert await stream.read() == b"event %d\n" % number
                await transport.send(GET)
            assert await stream.read() == b""
        assert transport.connections == 1


# Connections


async def test_three_hundred_streams_over_a_limit_of_a_hundred_open_three_connections() -> None:
    settings = {SettingCodes.MAX_CONCURRENT_STREAMS: 100}
    async with (
        Http2Server(quiet, settings=settings) as server,
        transport_to(server) as transport,
        AsyncExitStack() as stack,
    ):
        streams = [transport.stream(Request(path=f"/{number}")) for number in range(300)]
        await asyncio.gather(*(stack.enter_async_context(stream) for stream in streams))

        assert len(server.connections) == transport.connections == 3
        assert [len(peer.streams) for peer in server.connections] == [100, 100, 100]


async def test_requests_one_after_another_share_a_connection() -> None:
    settings = {SettingCodes.MAX_CONCURRENT_STREAMS: 1}
    async with Http2Server(ok, settings=settings) as server, transport_to(server) as transport:
        for _ in range(250):
            await transport.send(GET)

        assert len(server.connections) == 1


async def test_a_server_that_allows_no_stream_is_not_asked_for_ever() -> None:
    settings = {SettingCodes.MAX_CONCURRENT_STREAMS: 0}
    async with Http2Server(ok, settings=settings) as server, transport_to(server) as transport:
        with pytest.raises(TransportError):
            await transport.send(GET)

        assert len(server.connections) == ATTEMPTS


async def test_a_farewell_moves_new_requests_while_old_streams_go_on_to_their_end() -> None:
    async def script(request: Http2Request) -> None:
        if request.path != "/watch":
            return await request.answer(body=b"new")
        request.head()
        request.peer.goaway(2**31 - 1)
        await request.data(b"before ")
        await server.until(lambda: len(server.requests) == 3)
        request.peer.goaway(request.stream_id)
        await request.data(b"after", end=True)
        return None

    async with Http2Server(script) as server, transport_to(server) as transport:
        async with transport.stream(Request(path="/watch")) as stream:
            assert await stream.read() == b"before "
            assert (await transport.send(GET)).body == b"new"
            assert (await transport.send(GET)).body == b"new"
            assert await stream.read() == b"after"

        assert [len(peer.streams) for peer in server.connections] == [1, 2]
        await server.connections[0].gone.wait()
        assert server.open_connections == 1


async def test_unused_connections_are_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http2_pool, "IDLE_CONNECTION_LIFE", 0.05)
    async with Http2Server(ok) as server, transport_to(server) as transport:
        await transport.send(GET)

        await server.until(lambda: server.open_connections == 0)
        assert transport.connections == 0
        assert (await transport.send(GET)).body == b"ok"


async def test_a_connection_that_was_adopted_is_let_go_as_well(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(http2_pool, "IDLE_CONNECTION_LIFE", 0.05)
    async with Http2Server(ok) as server, transport_to(server) as transport:
        transport.adopt(await dial_to(server)(lambda: None))

        await server.until(lambda: server.open_connections == 0)


async def test_a_connection_that_was_adopted_is_watched_when_it_is_done_with() -> None:
    async with Http2Server(quiet) as server, transport_to(server) as transport:
        transport.adopt(await dial_to(server)(lambda: None))
        async with transport.stream(GET):
            transport._reap()  # finds it busy, so nothing is left to wait for

        assert transport._reaper is not None
        assert len(server.connections) == 1


async def test_only_what_was_unused_long_enough_is_let_go() -> None:
    settings = {SettingCodes.MAX_CONCURRENT_STREAMS: 1}

    async def script(request: Http2Request) -> None:
        await (quiet if request.path == "/watch" else ok)(request)

    async with (
        Http2Server(script, settings=settings) as server,
        transport_to(server) as transport,
        transport.stream(Request(path="/watch")),
    ):
        await transport.send(GET)
        transport._reap()
        assert transport.connections == 2

        transport._connections[1].idle_since -= http2_pool.IDLE_CONNECTION_LIFE
        transport._reap()
        assert transport.connections == 1
        await server.connections[1].gone.wait()


# Time and cancellation


async def given_up(server: Http2Server, transport: Http2Transport) -> None:
    """Send with little time, and with more until the server has seen it: connecting counts too."""
    seconds = 0.05
    while not server.requests:
        with pytest.raises(DeadlineExceeded):
            await transport.send(Request(path="/", timeout=seconds))
        seconds *= 2


async def test_an_answer_that_does_not_come_in_time_is_given_up() -> None:
    async with Http2Server(never) as server, transport_to(server) as transport:
        await given_up(server, transport)

        assert await server.requests[0].reset_code == ErrorCodes.CANCEL
        assert transport._connections[0].idle


async def test_the_time_of_send_bounds_the_whole_body() -> None:
    async with Http2Server(quiet) as server, transport_to(server) as transport:
        await given_up(server, transport)

        assert await server.requests[0].reset_code == ErrorCodes.CANCEL


async def test_the_time_of_a_stream_bounds_only_its_head() -> None:
    async def script(request: Http2Request) -> None:
        if request.path == "/never":
            return await request.for_ever()
        request.head()
        await server.until(
            lambda: len(server.requests) == 2 and server.requests[1].reset_code.done()
        )
        await request.data(b"late", end=True)
        return None

    seconds = 0.5 * overload()
    async with (
        Http2Server(script) as server,
        transport_to(server) as transport,
        transport.stream(Request(path="/", timeout=seconds)) as stream,
    ):
        with pytest.raises(DeadlineExceeded):
            async with transport.stream(Request(path="/never", timeout=seconds + 0.05)):
                pytest.fail("there was no head")
        assert await stream.read() == b"late"


async def test_a_stream_that_is_silent_too_long_fails() -> None:
    async with Http2Server(quiet) as server, transport_to(server) as transport:
        async with transport.stream(GET, silence=0.05) as stream:
            with pytest.raises(DeadlineExceeded, match="silent"):
                await stream.read()

        assert await server.requests[0].reset_code == ErrorCodes.CANCEL


async def test_an_answer_without_a_byte_is_not_waited_for_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(http2_pool, "ANSWER_TIMEOUT", 0.05)
    async with Http2Server(never) as server, transport_to(server) as transport:
        with pytest.raises(DeadlineExceeded):
            await transport.send(GET)

        assert len(server.requests) == 1


async def test_a_body_that_is_never_let_in_is_not_waited_for_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(http2_pool, "ANSWER_TIMEOUT", 0.05)
    async with Http2Server(never, stingy=True) as server, transport_to(server) as transport:
        with pytest.raises(DeadlineExceeded):
            await transport.send(Request(method="POST", path="/", body=bytes(100_000)))

        assert await server.requests[0].reset_code == ErrorCodes.CANCEL


async def test_cancelling_send_closes_its_stream_at_once() -> None:
    async with Http2Server(never) as server, transport_to(server) as transport:
        sending = asyncio.create_task(transport.send(GET))
        await server.until(lambda: server.requests)
        sending.cancel()

        assert await server.requests[0].reset_code == ErrorCodes.CANCEL
        assert transport._connections[0].idle


async def test_cancelling_the_reader_of_a_stream_closes_it_at_once() -> None:
    async def read(transport: Http2Transport) -> None:
        async with transport.stream(GET, silence=10) as stream:
            await stream.read()

    async with Http2Server(quiet) as server, transport_to(server) as transport:
        reading = asyncio.create_task(read(transport))
        await server.until(lambda: server.requests)
        reading.cancel()

        assert await server.requests[0].reset_code == ErrorCodes.CANCEL
        assert transport._connections[0].idle


async def test_a_cancelled_dial_leaves_the_next_one_to_whoever_waits() -> None:
    reached = asyncio.Event()

    async with Http2Server(ok) as server:
        real = dial_to(server)

        async def dial(on_room: Callable[[], None]) -> Http2Connection:
            if not reached.is_set():
                reached.set()
                await asyncio.get_running_loop().create_future()
            return await real(on_room)

        async with transport_to(server, dial) as transport:
            first = asyncio.create_task(transport.send(GET))
            await reached.wait()
            second = asyncio.create_task(transport.send(GET))
            await asyncio.sleep(0)
            first.cancel()

            assert (await second).body == b"ok"


async def test_a_dial_that_takes_too_long_counts_as_no_answer() -> None:
    async def dial(on_room: Callable[[], None]) -> Http2Connection:
        await asyncio.get_running_loop().create_future()
        raise AssertionError

    async with Http2Server(ok) as server, transport_to(server, dial) as transport:
        with pytest.raises(DeadlineExceeded):
            await transport.send(Request(path="/", timeout=0.02))


async def test_a_failed_dial_is_shared_with_everybody_who_waited_for_it() -> None:
    dials = 0
    goes_on = asyncio.Event()

    async def dial(on_room: Callable[[], None]) -> Http2Connection:
        nonlocal dials
        dials += 1
        await goes_on.wait()
        raise ConnectionRefusedError

    async with Http2Server(ok) as server, transport_to(server, dial) as transport:
        waiting = [asyncio.create_task(transport.send(GET)) for _ in range(20)]
        await asyncio.sleep(0)
        goes_on.set()
        failures = await asyncio.gather(*waiting, return_exceptions=True)
        with pytest.raises(ConnectionRefused):
            await transport.send(GET)

    assert all(isinstance(failure, ConnectionRefused) for failure in failures)
    assert len({id(failure) for failure in failures}) == 20  # each has a traceback of its own
    assert dials == 2  # whoever comes later dials again


# Giving way


async def counted(request: Http2Request) -> None:
    """A watch that brings one event, whose frame the h2 library counts."""
    request.head()
    await request.data(b"event\n", pad=3)
    await request.for_ever()


async def test_a_retired_transport_closes_what_is_idle_at_once() -> None:
    async with Http2Server(ok) as server, transport_to(server) as transport:
        await transport.send(GET)
        streams = transport.retire()
        await server.connections[0].gone.wait()

        assert (streams, transport.is_unused) == ([], True)


async def test_what_runs_on_a_retired_transport_ends_as_it_would_have() -> None:
    async def script(request: Http2Request) -> None:
        await asked.wait()
        await request.answer(body=b"late")

    asked = asyncio.Event()
    async with Http2Server(script) as server, transport_to(server) as transport:
        sending = asyncio.create_task(transport.send(GET))
        await server.until(lambda: server.requests)
        streams = transport.retire()
        was_unused = transport.is_unused
        asked.set()
        answer = await sending
        await server.connections[0].gone.wait()

        assert (streams, was_unused, answer.body, transport.is_unused) == ([], False, b"late", True)


async def test_streams_of_a_retired_transport_give_way_one_by_one() -> None:
    async with (
        Http2Server(counted) as server,
        transport_to(server) as transport,
        transport.stream(GET) as one,
        transport.stream(GET) as other,
    ):
        await server.until(lambda: sum(request.sent for request in server.requests) == 12)
        first, second = transport.retire()
        first()
        await server.until(lambda: any(each.reset_code.done() for each in server.requests))
        still_open = server.open_connections
        second()
        await server.connections[0].gone.wait()

        assert still_open == 1
        for stream in (one, other):
            assert await stream.read() == b"event\n"
            with pytest.raises(ConnectionReplaced):
                await stream.read()
        assert transport.is_unused


async def test_a_request_that_came_too_late_to_a_retired_transport_is_answered() -> None:
    async with Http2Server(ok) as server, transport_to(server) as transport:
        await transport.send(GET)
        transport.retire()
        answer = await transport.send(GET)

        assert (answer.body, transport.is_unused) == (b"ok", False)
        transport.retire()
        assert transport.is_unused
