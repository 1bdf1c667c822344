from __future__ import annotations

import asyncio
import itertools
import logging
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest

from reflet.api.status import error_from_response
from reflet.errors import (
    ApiError,
    ConnectionRefused,
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
    MOST_UNANSWERED,
    PROBE_JITTER,
    STEADY,
    UNANSWERED,
    Gate,
)

pytestmark = pytest.mark.virtual_time

REFUSED = ConnectionRefused("https://api: connection refused")
FORBIDDEN = Forbidden("you may not", code=403)


def now() -> float:
    return asyncio.get_running_loop().time()


class Server:
    """Answers after *takes* seconds, or fails as it is told; remembers when it was asked."""

    def __init__(self) -> None:
        self.failure: Exception | None = None
        self.takes = 0.01
        self.asked: list[tuple[float, str]] = []
        self.at_once = 0
        self.most_at_once = 0

    def request(self, name: str = "") -> Callable[[], Awaitable[str]]:
        async def ask() -> str:
            self.asked.append((now(), name))
            self.at_once += 1
            self.most_at_once = max(self.at_once, self.most_at_once)
            try:
                await asyncio.sleep(self.takes)
            finally:
                self.at_once -= 1
            if self.failure is not None:
                raise self.failure
            return name

        return ask

    @property
    def names(self) -> list[str]:
        return [name for _, name in self.asked]

    async def fails(self, failure: Exception, *, seconds: float) -> None:
        self.failure = failure
        await asyncio.sleep(seconds)
        self.failure = None


@asynccontextmanager
async def sending(
    gate: Gate, server: Server, count: int, *, urgent: frozenset[str] = frozenset()
) -> AsyncIterator[list[asyncio.Task[str]]]:
    """Requests ``0`` to ``count - 1``, at once."""
    names = [str(number) for number in range(count)]
    async with asyncio.TaskGroup() as tasks:
        yield [
            tasks.create_task(
                gate.send(server.request(name), urgent=lambda name=name: name in urgent)  # type: ignore[misc]  # bound early
            )
            for name in names
        ]


async def test_an_answer_is_given_back() -> None:
    assert await Gate().send(Server().request("answer")) == "answer"


async def test_nothing_is_known_at_first_so_one_goes_alone_and_then_more_and_more() -> None:
    server = Server()

    async with sending(Gate(), server, 1000):
        pass

    moments = [moment for moment, _ in server.asked]
    assert moments.count(0.0) == 1
    assert server.most_at_once == MOST_UNANSWERED
    assert len(server.asked) == 1000


async def test_twice_as_many_go_in_every_round_and_not_with_every_answer() -> None:
    server = Server()

    async with sending(Gate(), server, 1000):
        pass

    rounds = Counter(round(moment / server.takes) for moment, _ in server.asked)
    assert [rounds[number] for number in range(9)] == [1, 2, 4, 8, 16, 32, 64, 64, 64]


async def test_tries_do_not_grow_with_the_number_of_those_who_wait() -> None:
    tries = []
    for count in (1, 50, 2000):
        server = Server()
        gate = Gate(chance=lambda: 0.5)
        async with sending(gate, server, count):
            await server.fails(REFUSED, seconds=40)
            tries.append(len(server.asked))

    assert tries == [tries[0]] * 3
    assert tries[0] < 40


async def test_the_last_of_many_is_answered_soon_after_the_server_is_back() -> None:
    server = Server()
    gate = Gate(chance=lambda: 0.999)
    async with sending(gate, server, 2000) as tasks:
        await server.fails(REFUSED, seconds=40)
        back = now()
        await asyncio.wait(tasks)

    longest_wait = LONGEST_PROBE * (1 + PROBE_JITTER)
    rounds = 2000 / MOST_UNANSWERED + 7  # the window has to grow
    assert now() - back <= longest_wait + (rounds + 1) * server.takes


async def test_tries_come_at_jittered_intervals_up_to_the_longest() -> None:
    server = Server()
    server.takes = 0.0
    server.failure = REFUSED
    task = asyncio.create_task(Gate(chance=lambda: 0.5).send(server.request()))
    await asyncio.sleep(6)
    task.cancel()

    moments = [moment for moment, _ in server.asked]
    waits = [later - earlier for earlier, later in itertools.pairwise(moments)]
    assert waits[:6] == pytest.approx([0.25, 0.5, 1.0, 1.25, 1.25, 1.25])


async def test_those_whose_readers_wait_go_first() -> None:
    server = Server()
    gate = Gate()
    async with sending(gate, server, 20, urgent=frozenset({"13", "17"})):
        await server.fails(REFUSED, seconds=5)

    answered = server.names[-20:]  # the first of them was the try that succeeded
    assert set(answered[:3]) == {answered[0], "13", "17"}


async def test_everybody_is_told_why_it_waits_and_once_is_enough_in_the_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)
    server = Server()
    gate = Gate()
    told: list[list[Exception]] = [[] for _ in range(3)]
    async with asyncio.TaskGroup() as tasks:
        for mine in told:
            tasks.create_task(gate.send(server.request(), failed=mine.append))
        await server.fails(REFUSED, seconds=3)
        assert gate.is_away
        assert gate.waiting == 3 or server.at_once

    assert all(mine and set(mine) == {REFUSED} for mine in told)
    assert [record.levelname for record in caplog.records] == ["WARNING", "INFO"]
    assert "https://api: connection refused" in caplog.records[0].message
    assert not gate.is_away


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


async def test_a_request_without_an_answer_keeps_nobody_waiting_for_ever() -> None:
    gate = Gate()
    slow = asyncio.create_task(gate.send(lambda: asyncio.sleep(300)))
    await asyncio.sleep(0)

    await gate.send(Server().request())

    assert now() == pytest.approx(UNANSWERED + 0.01)
    slow.cancel()


async def test_a_proxy_that_holds_answers_back_is_not_waited_for_one_by_one() -> None:
    server = Server()
    server.takes = 60
    gate = Gate()
    gate.broke()

    async with sending(gate, server, 100):
        pass

    last, _ = server.asked[-1]
    assert last <= 7 * UNANSWERED


async def test_a_server_that_is_away_and_answers_nobody_meets_no_more_and_more_requests() -> None:
    server = Server()
    async with sending(Gate(), server, 100) as tasks:
        await server.fails(REFUSED, seconds=5)
        server.asked.clear()
        server.takes = 600
        await asyncio.sleep(20 * UNANSWERED)
        assert len(server.asked) <= 20
        for task in tasks:
            task.cancel()


async def test_a_failure_of_what_was_sent_before_an_answer_is_no_news() -> None:
    server = Server()
    gate = Gate()
    hung = asyncio.Event()

    async def hang() -> str:
        if hung.is_set():
            return "again"
        hung.set()
        await asyncio.sleep(30)
        raise REFUSED

    old = asyncio.create_task(gate.send(hang))
    await hung.wait()
    await gate.send(server.request())

    assert await old == "again"
    assert now() == pytest.approx(30)
    assert not gate.is_away


async def test_one_that_gives_up_raises_and_the_others_wait_on() -> None:
    server = Server()
    gate = Gate()
    failures = itertools.count(1)

    async with sending(gate, server, 3):
        given_up = asyncio.create_task(
            gate.send(server.request("impatient"), gives_up=lambda _: next(failures) == 2)
        )
        await server.fails(REFUSED, seconds=20)
        tries = len(server.asked)
        with pytest.raises(ConnectionRefused):
            await given_up

    assert server.names.count("impatient") == 2
    assert tries <= 25


async def test_a_server_that_comes_and_goes_is_not_hammered() -> None:
    server = Server()
    gate = Gate()

    async def flap() -> None:
        while True:
            server.failure = REFUSED
            await asyncio.sleep(1)
            server.failure = None
            await asyncio.sleep(0.02)
            gate.broke()

    flapping = asyncio.create_task(flap())
    for _ in range(30):
        await gate.send(server.request())
    flapping.cancel()

    assert len(server.asked) <= now() / LONGEST_PROBE * 2 + 10


async def test_after_a_steady_time_an_outage_begins_with_short_waits_again() -> None:
    server = Server()
    gate = Gate(chance=lambda: 0.0)
    async with sending(gate, server, 1):
        await server.fails(REFUSED, seconds=5)
    await asyncio.sleep(STEADY)
    server.asked.clear()
    async with sending(gate, server, 1):
        await server.fails(REFUSED, seconds=0.5)

    assert len(server.asked) == 3  # at 0, 0.2 and 0.6


async def test_whoever_is_cancelled_makes_room_for_the_next() -> None:
    server = Server()
    gate = Gate()
    async with asyncio.TaskGroup() as tasks:
        for cancelled_after in (0.0, 0.005, 4.99, 5.2):
            tasks.create_task(_cancelled(gate, server, cancelled_after))
        last = tasks.create_task(gate.send(server.request("last")))
        await server.fails(REFUSED, seconds=5)

    assert last.result() == "last"
    assert gate.waiting == 0


async def _cancelled(gate: Gate, server: Server, after: float) -> None:
    task = asyncio.create_task(gate.send(server.request()))
    await asyncio.sleep(after)
    task.cancel()
    await asyncio.wait((task,))


async def test_one_that_is_admitted_and_cancelled_in_one_moment_leaves_its_place() -> None:
    server = Server()
    server.takes = 0.0
    gate = Gate()
    first = asyncio.create_task(gate.send(server.request("first")))
    second = asyncio.create_task(gate.send(server.request("second")))
    while not first.done():  # noqa: ASYNC110 - step by step, up to the very moment
        await asyncio.sleep(0)
    second.cancel()  # its turn has come, and it has not gone yet
    await asyncio.wait((second,))

    assert server.names == ["first"]
    assert gate._unanswered == gate.waiting == 0
