"""The gate: who goes to a server that may be away, and when."""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections import Counter

import pytest

from reflet.errors import (
    ConnectionRefused,
)
from reflet.runtime.gate import (
    LONGEST_PROBE,
    MOST_UNANSWERED,
    PROBE_JITTER,
    STEADY,
    UNANSWERED,
    Gate,
)
from tests.unit.runtime.gate_server import REFUSED, Server, now, sending

pytestmark = pytest.mark.virtual_time


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
    # With other dice a try could be under way when the server goes from refusing to silent.
    async with sending(Gate(chance=lambda: 0.5), server, 100) as tasks:
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
