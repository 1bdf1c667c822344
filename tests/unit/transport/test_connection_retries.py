"""Requests that are sent again: a 401, a Retry-After; and those that wait for the rate limit."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

import pytest

from reflet.errors import (
    CredentialsError,
)
from reflet.testing.virtual_time import ManualClock
from reflet.transport.auth.credentials import StaticToken
from reflet.transport.connection import retry_after
from tests.unit.transport.connection_scenes import (
    POST,
    UNAUTHORIZED,
    Answer,
    Ask,
    Renewable,
    both_ways,
    busy,
    connection_to,
    in_order,
    sent,
    streamed,
    values,
)
from tests.unit.transport.scripted_http1 import Http1Peer, Http1Server

# 401


@both_ways
async def test_a_refused_request_is_asked_again_with_renewed_credentials(ask: Ask) -> None:
    async with (
        Http1Server(in_order(UNAUTHORIZED, Answer())) as server,
        connection_to(server, credentials=Renewable(2)) as connection,
    ):
        assert await ask(connection) == (200, b"ok")

    said = [values(request, "authorization") for request in server.requests]
    assert said == [["Bearer token-1"], ["Bearer token-2"]]


@both_ways
async def test_credentials_are_renewed_once_for_a_request(ask: Ask) -> None:
    async with (
        Http1Server(in_order(UNAUTHORIZED)) as server,
        connection_to(server, credentials=Renewable(1000)) as connection,
    ):
        assert await ask(connection) == (401, b"who?")

    assert len(server.requests) == 2


@both_ways
async def test_a_refusal_is_final_where_nothing_can_be_renewed(ask: Ask) -> None:
    async with (
        Http1Server(in_order(UNAUTHORIZED)) as server,
        connection_to(server, credentials=StaticToken("token")) as connection,
    ):
        assert await ask(connection) == (401, b"who?")

    assert len(server.requests) == 1


async def test_a_later_request_may_renew_again() -> None:
    async with (
        Http1Server(in_order(UNAUTHORIZED, Answer(), UNAUTHORIZED, Answer())) as server,
        connection_to(server, credentials=Renewable(1000)) as connection,
    ):
        assert await sent(connection) == (200, b"ok")
        assert await sent(connection) == (200, b"ok")

    assert values(server.requests[-1], "authorization") == ["Bearer token-3"]


async def test_many_requests_refused_together_renew_once() -> None:
    async def only_the_second_token(peer: Http1Peer) -> None:
        while True:
            request = await peer.request()
            # All are asked before the first is answered.
            await peer.server.until(lambda: len(server.requests) >= 20)
            known = values(request, "authorization") == ["Bearer token-2"]
            peer.answer(b"ok", status="200 OK" if known else "401 Unauthorized")

    credentials = Renewable(1000)
    async with (
        Http1Server(only_the_second_token) as server,
        connection_to(server, credentials=credentials) as connection,
    ):
        answers = await asyncio.gather(*(sent(connection) for _ in range(20)))

    assert answers == [(200, b"ok")] * 20
    assert credentials.number == 2


async def test_a_renewal_that_fails_is_raised_and_the_stream_closed() -> None:
    class Failing(Renewable):
        async def refused(self, sent: Mapping[str, str] | None = None, /) -> bool:
            raise CredentialsError("the plugin failed")

    async def endless(peer: Http1Peer) -> None:
        await peer.request()
        peer.write(b"HTTP/1.1 401 Unauthorized\r\nTransfer-Encoding: chunked\r\n\r\n")
        await peer.client_left()
        left.set()

    left = asyncio.Event()

    async with (
        Http1Server(endless) as server,
        connection_to(server, credentials=Failing(1)) as connection,
    ):
        with pytest.raises(CredentialsError, match="the plugin failed"):
            await streamed(connection)
        await left.wait()


# Patience


@both_ways
@pytest.mark.parametrize(
    "status", ["429 Too Many Requests", "500 Oops", "502 Bad Gateway", "503 Later"]
)
async def test_a_server_that_asks_for_patience_gets_it(ask: Ask, status: str) -> None:
    clock = ManualClock()

    async with (
        Http1Server(in_order(busy(status), busy(status, after="30"), Answer())) as server,
        connection_to(server, clock=clock) as connection,
    ):
        assert await ask(connection) == (200, b"ok")

    assert clock.monotonic() == 37


@both_ways
@pytest.mark.parametrize(
    "answer",
    [
        busy(after=None),
        busy(after="61"),
        busy(after="9" * 400),
        busy(after="Wed, 21 Oct 2026 07:28:00 GMT"),
        busy("500 Oops", after=None),
        busy("504 Gateway Timeout"),
        busy("409 Conflict"),
        busy("202 Accepted"),
    ],
    ids=lambda answer: f"{answer.status[:3]} {dict(answer.headers)}"[:40],
)
async def test_any_other_answer_is_passed_on(ask: Ask, answer: Answer) -> None:
    clock = ManualClock()

    async with (
        Http1Server(in_order(answer)) as server,
        connection_to(server, clock=clock) as connection,
    ):
        assert await ask(connection) == (int(answer.status[:3]), b"busy")

    assert len(server.requests) == 1
    assert clock.monotonic() == 0


@both_ways
async def test_patience_ends_after_ten_repeats(ask: Ask) -> None:
    clock = ManualClock()

    async with (
        Http1Server(in_order(busy(after="60"))) as server,
        connection_to(server, clock=clock) as connection,
    ):
        assert await ask(connection) == (429, b"busy")

    assert len(server.requests) == 11
    assert clock.monotonic() == 600


async def test_a_repeated_request_is_whole() -> None:
    async with (
        Http1Server(in_order(busy(), UNAUTHORIZED, Answer("201 Created"))) as server,
        connection_to(server, clock=ManualClock(), credentials=Renewable(2)) as connection,
    ):
        assert await sent(connection, POST) == (201, b"ok")

    assert [(r.method, r.target, r.body) for r in server.requests] == [
        ("POST", "/api", POST.body)
    ] * 3


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("0", 0.0), (" 5 ", 5.0), ("", None), ("-1", None), ("1.5", None), ("٣", None), ("1e3", None)],
)
def test_only_whole_seconds_count_as_retry_after(text: str, seconds: float | None) -> None:
    assert retry_after({"retry-after": text}) == seconds


async def test_more_requests_than_the_rate_limit_allows_wait() -> None:
    clock = ManualClock()

    async with (
        Http1Server(in_order(Answer())) as server,
        connection_to(server, clock=clock, qps=0.5, burst=2) as connection,
    ):
        await sent(connection)
        await sent(connection)
        assert clock.monotonic() == 0
        await sent(connection)

    assert clock.monotonic() == 2


async def test_streams_are_outside_the_rate_limit() -> None:
    clock = ManualClock()

    async with (
        Http1Server(in_order(Answer())) as server,
        connection_to(server, clock=clock, qps=0.5, burst=1) as connection,
    ):
        for _ in range(5):
            await streamed(connection)

    assert clock.monotonic() == 0


async def test_a_long_wait_for_the_rate_limit_names_the_request(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with (
        Http1Server(in_order(Answer())) as server,
        connection_to(server, clock=ManualClock(), qps=0.5, burst=1) as connection,
    ):
        await sent(connection)
        await sent(connection, POST)

    (record,) = (each for each in caplog.records if each.name == "reflet.transport.rate_limit")
    assert record.getMessage().endswith(": POST:/api")
