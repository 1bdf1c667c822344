"""The gate: which answers are an outage, and which are the affair of whoever asked."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable

import pytest

from reflet.api.status import error_from_response
from reflet.errors import (
    ApiError,
    CredentialsError,
    Expired,
    Forbidden,
    TLSFailure,
    TooManyRequests,
    TransportError,
    Unauthorized,
)
from reflet.runtime.gate import (
    COMING_UP,
    LONGEST_PROBE,
    Gate,
)
from tests.unit.runtime.gate_server import REFUSED, Server, now, sending

pytestmark = pytest.mark.virtual_time
FORBIDDEN = Forbidden("you may not", code=403)


@pytest.mark.parametrize(
    "error",
    [
        Expired("too old", code=410),
        FORBIDDEN,
        TooManyRequests("slow down", code=429),
        ApiError("broken", code=500),
        error_from_response(503, None, b"<html>no endpoints</html>"),
        TLSFailure("not trusted"),
        CredentialsError("the plugin failed"),
        ValueError("a bug"),
    ],
)
async def test_what_is_no_outage_is_the_affair_of_whoever_asked(error: Exception) -> None:
    server = Server()
    server.failure = error
    gate = Gate()

    with pytest.raises(type(error)):
        await gate.send(server.request())

    assert len(server.asked) == 1
    assert not gate.is_away


@pytest.mark.parametrize(
    "error",
    [
        REFUSED,
        TransportError("reset"),
        TransportError("the connection was closed during the TLS handshake"),
        error_from_response(502, None, b"<html>bad gateway</html>"),
        error_from_response(503, None, b""),
    ],
)
async def test_a_server_behind_which_streams_broke_is_away_when_it_has_no_answer(
    error: Exception,
) -> None:
    server = Server()
    gate = Gate()
    await gate.send(server.request("first"))
    gate.broke()

    async with sending(gate, server, 100):
        await server.fails(error, seconds=10)
        assert gate.is_away
        assert len(server.asked) < 20


async def test_after_streams_broke_one_request_finds_out_for_all() -> None:
    server = Server()
    gate = Gate()
    async with sending(gate, server, 100):
        pass  # the window is open
    server.asked.clear()
    for _ in range(100):
        gate.broke()

    async with sending(gate, server, 100):
        server.failure = REFUSED
        await asyncio.sleep(0.05)
        assert len(server.asked) == 1
        server.failure = None


@pytest.mark.parametrize(
    "error", [FORBIDDEN, Unauthorized("who?", code=401), ApiError("not yet", code=500)]
)
async def test_a_refusal_right_after_an_outage_is_not_believed(error: Exception) -> None:
    server = Server()
    gate = Gate()

    async with sending(gate, server, 100) as tasks:
        await server.fails(REFUSED, seconds=5)
        tried = len(server.asked)
        await server.fails(error, seconds=1.5)
        refused = len(server.asked) - tried

    assert [task.result() for task in tasks] == [str(number) for number in range(100)]
    assert refused <= 6  # one asks for all, every quarter to half second


async def test_a_refusal_that_lasts_is_believed() -> None:
    server = Server()
    gate = Gate()
    task = asyncio.create_task(gate.send(server.request()))
    await server.fails(REFUSED, seconds=5)
    server.failure = FORBIDDEN
    back = now()

    with pytest.raises(Forbidden):
        await task

    assert COMING_UP <= now() - back <= COMING_UP + 2.5
    with pytest.raises(Forbidden):  # and the next one is at once
        await gate.send(server.request())


async def test_a_server_that_asks_for_time_after_an_outage_gets_it() -> None:
    server = Server()
    async with sending(Gate(), server, 100):
        await server.fails(REFUSED, seconds=5)
        tried = len(server.asked)
        await server.fails(TooManyRequests("slow down", code=429, retry_after=1.0), seconds=4)
        throttled = [moment for moment, _ in server.asked[tried:]]

    waits = [later - earlier for earlier, later in itertools.pairwise(throttled)]
    assert waits
    assert min(waits) >= 1.0


async def test_a_server_that_throttles_after_an_outage_is_asked_by_one_at_a_time() -> None:
    server = Server()
    async with sending(Gate(), server, 100) as tasks:
        await server.fails(REFUSED, seconds=5)
        tried = len(server.asked)
        await server.fails(TooManyRequests("slow down", code=429, retry_after=1.0), seconds=20)
        throttled = len(server.asked) - tried

    assert [task.result() for task in tasks] == [str(number) for number in range(100)]
    assert throttled <= 20


async def test_a_server_that_asks_for_more_time_than_it_needs_to_come_up_is_believed() -> None:
    server = Server()
    throttled = TooManyRequests("slow down", code=429, retry_after=30.0)
    task = asyncio.create_task(Gate().send(server.request()))
    await server.fails(REFUSED, seconds=5)
    server.failure = throttled

    with pytest.raises(TooManyRequests):
        await task

    assert now() < 5 + LONGEST_PROBE * 2


async def test_one_who_may_not_does_not_hold_up_those_who_may() -> None:
    server = Server()
    gate = Gate()
    asked = 0

    async def forbidden() -> str:
        nonlocal asked
        asked += 1
        raise REFUSED if server.failure else FORBIDDEN

    async with asyncio.TaskGroup() as tasks:
        refused = tasks.create_task(_swallowed(gate.send(forbidden)))
        others = [tasks.create_task(gate.send(server.request())) for _ in range(50)]
        await server.fails(REFUSED, seconds=5)
        back = now()
        await asyncio.wait(others)

        assert now() - back < 3
        await refused
    assert asked < 40


async def _swallowed(awaited: Awaitable[str]) -> None:
    with pytest.raises(Forbidden):
        await awaited
