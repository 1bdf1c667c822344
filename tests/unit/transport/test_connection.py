"""What surrounds every request: who asks, how long, compressed, in which event loop."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

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
from reflet.transport.config.settings import ConnectionSettings, Impersonation
from reflet.transport.connection import Connection, user_agent
from reflet.transport.interface import Request, Response
from tests.unit.transport.connection_scenes import (
    GET,
    Answer,
    Ask,
    Renewable,
    both_ways,
    connection_to,
    in_order,
    sent,
    silence,
    streamed,
    values,
)
from tests.unit.transport.scripted_http1 import Http1Server

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


@pytest.mark.parametrize(
    "body", [b"not gzip", gzip.compress(b"cut off" * 99)[:-9]], ids=["never was", "cut off"]
)
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
