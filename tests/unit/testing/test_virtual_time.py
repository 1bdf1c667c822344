from __future__ import annotations

import asyncio
import os
import socket
import threading
from datetime import UTC, datetime, timedelta

import pytest

from reflet.runtime.clock import Clock
from reflet.testing import virtual_time
from reflet.testing.virtual_time import Deadlock, VirtualClock, VirtualTimeLoop, run


def loop_time() -> float:
    return asyncio.get_running_loop().time()


@pytest.mark.time_limit(10)
def test_a_year_passes_at_once() -> None:
    async def sleep_for_a_year() -> float:
        await asyncio.sleep(365 * 24 * 3600)
        return loop_time()

    assert run(sleep_for_a_year()) == 365 * 24 * 3600


@pytest.mark.virtual_time
async def test_time_starts_at_zero_and_stands_still_while_there_is_work() -> None:
    for _ in range(100):
        await asyncio.sleep(0)

    assert loop_time() == 0


@pytest.mark.virtual_time
async def test_timers_fire_in_order_and_on_time() -> None:
    loop = asyncio.get_running_loop()
    fired: list[tuple[str, float]] = []

    def fire(name: str) -> None:
        fired.append((name, loop.time()))

    for name, delay in (("late", 7200.0), ("early", 0.25), ("later", 86400.5)):
        loop.call_later(delay, fire, name)

    await asyncio.sleep(100_000)

    assert fired == [("early", 0.25), ("late", 7200.0), ("later", 86400.5)]


@pytest.mark.virtual_time
async def test_small_sleeps_add_up_without_dust() -> None:
    for _ in range(3):
        await asyncio.sleep(0.1)

    assert loop_time() == 0.3


@pytest.mark.virtual_time
async def test_who_waits_again_for_a_timer_that_was_early_by_a_hair_does_not_wait_for_ever() -> (
    None
):
    loop = asyncio.get_running_loop()
    await asyncio.sleep(0.3)
    moment, times = 0.1 + 0.2, 0
    while loop.time() < moment and times < 10:
        rung = loop.create_future()
        loop.call_at(moment, rung.set_result, None)
        await rung
        times += 1

    assert times == 1


@pytest.mark.virtual_time
async def test_deadlines_obey() -> None:
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(1800):
            await asyncio.Event().wait()

    assert loop_time() == 1800


@pytest.mark.virtual_time
async def test_cancelled_timers_do_not_move_time() -> None:
    asyncio.get_running_loop().call_later(10, print).cancel()

    await asyncio.sleep(20)

    assert loop_time() == 20


@pytest.mark.virtual_time
async def test_sockets_are_served_before_time_jumps() -> None:
    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(await reader.readline())
        await writer.drain()
        writer.close()
        await writer.wait_closed()

    server = await asyncio.start_server(echo, "127.0.0.1", 0)
    async with server, asyncio.timeout(3600):
        host, port = server.sockets[0].getsockname()
        reader, writer = await asyncio.open_connection(host, port)
        writer.write(b"hello\n")
        answer = await reader.read()
        writer.close()
        await writer.wait_closed()

    assert (answer, loop_time()) == (b"hello\n", 0)


@pytest.mark.virtual_time
async def test_a_silent_socket_does_not_stop_time() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.setblocking(False)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(3600):
                await asyncio.get_running_loop().sock_recv(ours, 1)

    assert loop_time() == 3600


@pytest.mark.virtual_time
async def test_without_a_timer_it_really_waits_for_the_outside() -> None:
    receiving, sending = os.pipe()
    arrived = asyncio.Event()
    asyncio.get_running_loop().add_reader(receiving, arrived.set)
    # The pipe's other end is written by a thread that the loop knows nothing about.
    writer = threading.Timer(0.05, os.write, (sending, b"!"))
    writer.start()

    await arrived.wait()

    asyncio.get_running_loop().remove_reader(receiving)
    writer.join()
    os.close(receiving)
    os.close(sending)
    assert loop_time() == 0


@pytest.mark.virtual_time
async def test_work_in_threads_is_not_overtaken_by_timers() -> None:
    release = threading.Event()
    asyncio.get_running_loop().call_later(0.02, release.set)

    async with asyncio.timeout(3600):
        await asyncio.to_thread(release.wait)

    assert 0.02 <= loop_time() < 60


def test_a_deadlock_is_an_error_that_names_the_waiting_tasks() -> None:
    async def wait_for_godot() -> None:
        await asyncio.Event().wait()

    async def play() -> None:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(wait_for_godot(), name="Vladimir")
            tasks.create_task(wait_for_godot(), name="Estragon")

    with pytest.raises(
        Deadlock, match=r"Estragon in .*wait_for_godot.*Vladimir in .*wait_for_godot"
    ):
        run(play())


def test_a_thread_may_still_call_back_before_it_is_a_deadlock() -> None:
    async def wait_for_a_thread() -> str:
        loop = asyncio.get_running_loop()
        arrived: asyncio.Future[str] = loop.create_future()
        thread = threading.Timer(
            0.02, lambda: loop.call_soon_threadsafe(arrived.set_result, "called")
        )
        thread.start()
        answer = await arrived
        thread.join()
        return answer

    assert run(wait_for_a_thread()) == "called"


def test_a_thread_that_never_calls_back_is_a_deadlock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(virtual_time, "THREAD_TIMEOUT", 0.02)
    release = threading.Event()
    thread = threading.Thread(target=release.wait)
    thread.start()

    async def wait_for_ever() -> None:
        await asyncio.Event().wait()

    try:
        with pytest.raises(Deadlock):
            run(wait_for_ever())
    finally:
        release.set()
        thread.join()


def test_a_loop_without_tasks_is_a_deadlock_too() -> None:
    loop = VirtualTimeLoop()
    try:
        with pytest.raises(Deadlock, match="no task at all"):
            loop.run_forever()
    finally:
        loop.close()


def test_run_gives_the_result_and_passes_errors_on() -> None:
    async def fail() -> None:
        raise KeyError("mine")

    assert run(asyncio.sleep(5, "slept")) == "slept"
    with pytest.raises(KeyError):
        run(fail())


@pytest.mark.virtual_time
async def test_the_clock_shows_the_start_plus_the_time_of_the_loop() -> None:
    start = datetime(2030, 6, 1, 12, tzinfo=UTC)
    clock: Clock = VirtualClock(start)

    await clock.sleep(90)

    assert (clock.now(), clock.monotonic()) == (start + timedelta(seconds=90), 90.0)


def test_outside_a_loop_the_clock_has_no_time() -> None:
    with pytest.raises(RuntimeError):
        VirtualClock().monotonic()
