"""What surrounds every request: who asks, in which form, how patiently."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from types import MappingProxyType

import pytest

from reflet._version import __version__
from reflet.blocking.loop_thread import LoopThread
from reflet.errors import (
    ConfigurationError,
    CredentialsError,
    DeadlineExceeded,
    MisuseError,
    TransportError,
)
from reflet.testing.manual_clock import ManualClock
from reflet.transport.auth.certificates import ClientCertificate
from reflet.transport.auth.credentials import Credentials, StaticToken
from reflet.transport.config.settings import ConnectionSettings, Impersonation
from reflet.transport.connection import Connection, retry_after, user_agent
from reflet.transport.interface import Request, Response
from tests.unit.transport.scripted_http1 import Http1Peer, Http1Request, Http1Server

GET = Request(path="/api")
POST = Request(method="POST", path="/api", body=b'{"kind": "ConfigMap"}')

Script = Callable[[Http1Peer], Awaitable[None]]


@dataclass(frozen=True)
class Answer:
    status: str = "200 OK"
    body: bytes = b"ok"
    headers: Sequence[tuple[str, str]] = ()


UNAUTHORIZED = Answer("401 Unauthorized", b"who?")


def busy(status: str = "429 Too Many Requests", *, after: str | None = "7") -> Answer:
    return Answer(status, b"busy", [] if after is None else [("Retry-After", after)])


def in_order(*answers: Answer) -> Script:
    """Gives one answer after the other, whatever the connection; the last one for ever."""
    left = list(answers)

    async def script(peer: Http1Peer) -> None:
        while True:
            await peer.request()
            answer = left.pop(0) if len(left) > 1 else left[0]
            peer.answer(answer.body, status=answer.status, headers=answer.headers)

    return script


async def silence(peer: Http1Peer) -> None:
    await peer.request()
    await peer.client_left()


@asynccontextmanager
async def connection_to(
    server: Http1Server,
    *,
    clock: ManualClock | None = None,
    credentials: Credentials | None = None,
    impersonation: Impersonation | None = None,
    disable_compression: bool = False,
    request_timeout: float | None = None,
    qps: float = 50.0,
    burst: int = 100,
) -> AsyncIterator[Connection]:
    settings = ConnectionSettings(
        server=server.url,
        credentials=credentials or StaticToken("token"),
        impersonation=impersonation,
        disable_compression=disable_compression,
        request_timeout=request_timeout,
        qps=qps,
        burst=burst,
    )
    connection = Connection(settings, clock=clock)
    try:
        yield connection
    finally:
        await connection.close()


async def streamed(connection: Connection, request: Request = GET) -> tuple[int, bytes]:
    async with connection.stream(request) as stream:
        parts = []
        while part := await stream.read():
            parts.append(part)
        return stream.status, b"".join(parts)


async def sent(connection: Connection, request: Request = GET) -> tuple[int, bytes]:
    response = await connection.send(request)
    return response.status, response.body


Ask = Callable[[Connection], Awaitable[tuple[int, bytes]]]
both_ways = pytest.mark.parametrize("ask", [sent, streamed], ids=["send", "stream"])


def values(request: Http1Request, name: str) -> list[str]:
    return [value for each, value in request.headers if each.lower() == name]


class Renewable:
    """Says "token-1" until that is refused, then "token-2", and so on up to *last*."""

    def __init__(self, last: int) -> None:
        self.last = last
        self.number = 1

    async def headers(self) -> Mapping[str, str]:
        return MappingProxyType({"authorization": f"Bearer token-{self.number}"})

    async def client_certificate(self) -> ClientCertificate | None:
        return None

    async def refused(self, sent: Mapping[str, str] | None = None, /) -> bool:
        if sent == await self.headers() and self.number < self.last:
            self.number += 1
        return sent != await self.headers()


# Who asks


@both_ways
async def test_every_request_says_who_asks(ask: Ask) -> None:
    async with Http1Server(in_order(Answer())) as server, connection_to(server) as connection:
        await ask(connection)

    (request,) = server.requests
    assert values(request, "authorization") == ["Bearer token"]
    assert values(request, "user-agent") == [user_agent()]


def test_the_user_agent_tells_version_machine_and_what_the_program_adds() -> None:
    name, about = user_agent("node agent").split(" ", 1)

    assert name == f"reflet/{__version__}"
    assert about.startswith("(linux/")
    assert about.endswith("; node agent)")


async def test_the_headers_of_the_request_itself_are_kept() -> None:
    request = Request(path="/", headers=(("accept", "application/json"),))

    async with Http1Server(in_order(Answer())) as server, connection_to(server) as connection:
        await connection.send(request)

    assert values(server.requests[0], "accept") == ["application/json"]


async def test_each_group_to_act_as_has_a_header_of_its_own() -> None:
    somebody = Impersonation(
        user="jäne", uid="7", groups=("a", "b, c"), extra={"scopes": ("x", "y")}
    )

    async with (
        Http1Server(in_order(Answer())) as server,
        connection_to(server, impersonation=somebody) as connection,
    ):
        await connection.send(GET)

    (request,) = server.requests
    assert [value.encode("latin-1") for value in values(request, "impersonate-user")] == [
        "jäne".encode()
    ]
    assert values(request, "impersonate-uid") == ["7"]
    assert values(request, "impersonate-group") == ["a", "b, c"]
    assert values(request, "impersonate-extra-scopes") == ["x", "y"]


@pytest.mark.parametrize("user", ["a\nb", "a\rx-evil: 1", "a\0", "\udcff", "\x9b"])
def test_a_name_that_no_header_can_carry_is_refused_at_once(user: str) -> None:
    settings = ConnectionSettings(
        server="https://127.0.0.1", impersonation=Impersonation(user=user)
    )

    with pytest.raises(ConfigurationError, match="impersonate-user cannot be sent"):
        Connection(settings)


async def test_without_credentials_nothing_is_asked() -> None:
    class Broken(Renewable):
        async def headers(self) -> Mapping[str, str]:
            raise CredentialsError("the plugin is missing")

    async with (
        Http1Server(in_order(Answer())) as server,
        connection_to(server, credentials=Broken(1)) as connection,
    ):
        with pytest.raises(CredentialsError, match="the plugin is missing"):
            await connection.send(GET)

    assert server.connections == []


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


# Time


@pytest.mark.virtual_time
@both_ways
async def test_the_time_for_a_request_comes_from_the_settings(ask: Ask) -> None:
    async with (
        Http1Server(silence) as server,
        connection_to(server, request_timeout=5) as connection,
    ):
        with pytest.raises(DeadlineExceeded, match="no answer in time"):
            await ask(connection)

        assert asyncio.get_running_loop().time() == pytest.approx(5, abs=0.5)


@pytest.mark.virtual_time
async def test_a_request_may_have_its_own_time() -> None:
    async with (
        Http1Server(silence) as server,
        connection_to(server, request_timeout=5) as connection,
    ):
        with pytest.raises(DeadlineExceeded):
            await connection.send(Request(path="/", timeout=20))

        assert asyncio.get_running_loop().time() == pytest.approx(20, abs=0.5)


# Compression


def gzipped(body: bytes, **headers: str) -> Answer:
    return Answer(body=body, headers=[("Content-Encoding", "gzip"), *headers.items()])


async def answered(answer: Answer) -> Response:
    async with Http1Server(in_order(answer)) as server, connection_to(server) as connection:
        return await connection.send(GET)


async def test_a_compressed_answer_is_decompressed() -> None:
    body = b'{"kind": "ConfigMapList"}' * 1000

    response = await answered(gzipped(gzip.compress(body), Warning="kept"))

    assert response.body == body
    assert response.headers == {"warning": "kept"}


async def test_the_name_of_the_compression_has_no_case() -> None:
    answer = Answer(body=gzip.compress(b"ok"), headers=[("Content-Encoding", "GZIP")])

    assert (await answered(answer)).body == b"ok"


@pytest.mark.parametrize("body", [b"not gzip", gzip.compress(b"cut off" * 99)[:-9]])
async def test_broken_compression_is_a_broken_transport(body: bytes) -> None:
    with pytest.raises(TransportError, match="compression is broken"):
        await answered(gzipped(body))


async def test_compression_is_asked_for_unless_it_is_disabled() -> None:
    async with Http1Server(in_order(Answer())) as server:
        async with connection_to(server) as connection:
            await sent(connection)
        async with connection_to(server, disable_compression=True) as connection:
            await sent(connection)

    asked = [values(request, "accept-encoding") for request in server.requests]
    assert asked == [["gzip"], []]


async def test_a_stream_is_never_compressed() -> None:
    async with Http1Server(in_order(Answer())) as server, connection_to(server) as connection:
        await streamed(connection)

    assert values(server.requests[0], "accept-encoding") == []


# One event loop


@asynccontextmanager
async def used_by_another_loop(*, ended: bool) -> AsyncIterator[Connection]:
    """A connection whose first request was another loop's, which *ended* or still runs."""
    other = LoopThread("another loop")
    # So that no socket is left when the other loop ends.
    answer = Answer(headers=[("Connection", "close")])
    try:
        async with Http1Server(in_order(answer)) as server:
            connection = Connection(ConnectionSettings(server=server.url))
            await asyncio.to_thread(other.run, sent(connection))
            if ended:
                other.stop()
            yield connection
            if ended:
                await connection.close()
            else:
                await asyncio.to_thread(other.run, connection.close())
    finally:
        other.stop()


@both_ways
@pytest.mark.parametrize(
    ("ended", "which"),
    [(False, "another event loop"), (True, "another event loop, which has ended")],
)
async def test_another_event_loop_is_told_to_connect_itself(
    ask: Ask, ended: bool, which: str
) -> None:
    async with used_by_another_loop(ended=ended) as connection:
        with pytest.raises(MisuseError) as caught:
            await ask(connection)

    assert str(caught.value) == (
        f"{connection.settings.server}: this connection belongs to {which}: connect in each event "
        "loop (each asyncio.run has one of its own)"
    )


async def test_another_event_loop_cannot_close_it_under_the_one_that_uses_it() -> None:
    async with used_by_another_loop(ended=False) as connection:
        with pytest.raises(MisuseError, match="belongs to another event loop: "):
            await connection.close()


async def test_what_an_ended_loop_has_left_is_let_go_by_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def close() -> None:  # as HTTP/2 does, which has a task to wait for
        raise RuntimeError("Event loop is closed")

    async with used_by_another_loop(ended=True) as connection:
        with monkeypatch.context() as patched:
            patched.setattr(connection._rotation, "close", close)
            await connection.close()
