"""How the loop and its thread end."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from reflet.blocking.loop_thread import LoopThread
from reflet.errors import MisuseError
from tests.unit.blocking.loop_scenes import Happenings, Room, count, double, fail


@pytest.fixture
def loop() -> Iterator[LoopThread]:
    thread = LoopThread("the loop")
    yield thread
    thread.stop()


@pytest.fixture
def happenings() -> Happenings:
    return Happenings()


# The end


def test_the_thread_is_gone_after_stop() -> None:
    before = threading.active_count()
    loop = LoopThread("the loop")
    loop.run(double(1))

    loop.stop()
    loop.stop()

    assert loop.closed
    assert threading.active_count() == before


def test_after_stop_calls_are_refused(loop: LoopThread) -> None:
    loop.stop()

    with pytest.raises(MisuseError, match="the loop is closed"):
        loop.run(double(1))
    with pytest.raises(MisuseError, match="the loop is closed"):
        next(loop.iterated(count(Happenings())))


def test_the_loop_cannot_stop_itself(loop: LoopThread) -> None:
    async def stop() -> None:
        loop.stop()

    with pytest.raises(MisuseError, match="the loop cannot wait for its own end"):
        loop.run(stop())
    assert loop.run(double(1)) == 2


def test_stop_ends_the_calls_of_other_threads(loop: LoopThread, happenings: Happenings) -> None:
    async def wait() -> None:
        happenings.tell("waiting")
        try:
            await asyncio.Event().wait()
        finally:
            happenings.tell("cancelled")

    with ThreadPoolExecutor(1) as other:
        waiting = other.submit(loop.run, wait())
        happenings.wait_for("waiting")
        loop.stop()

        with pytest.raises(MisuseError, match="the loop was closed"):
            waiting.result(timeout=30)
    assert happenings.told == ["waiting", "cancelled"]


def test_a_call_that_the_end_waits_for_cannot_wait_for_the_end(loop: LoopThread) -> None:
    with pytest.raises(MisuseError, match="a handler of 'the owner' cannot close it or its clust"):
        loop.call_for("the owner", loop.stop)

    assert loop.run(double(1)) == 2


def test_a_call_may_wait_for_the_end_of_another_loop(loop: LoopThread) -> None:
    other = LoopThread("another loop")

    loop.call_for("the owner", other.stop)

    assert other.closed


def test_after_the_call_the_same_thread_may_end_the_loop(loop: LoopThread) -> None:
    loop.call_for("the owner", lambda: None)

    loop.stop()

    assert loop.closed


def test_no_call_hangs_however_it_races_with_stop() -> None:
    def call(loop: LoopThread, begun: threading.Barrier) -> str:
        begun.wait()
        try:
            while True:
                loop.run(double(1))
        except MisuseError as error:
            return str(error)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as callers:
            for _ in range(20):
                loop = LoopThread("the loop")
                begun = threading.Barrier(5)
                ends = [callers.submit(call, loop, begun) for _ in range(4)]
                begun.wait()
                loop.stop()

                assert {end.result(timeout=30) for end in ends} <= {
                    "the loop is closed",
                    "the loop was closed",
                }
    finally:
        sys.setswitchinterval(interval)


def leave_a_context(loop: LoopThread, happenings: Happenings) -> None:
    with loop.entered(Room(happenings)):
        loop.stop()
        assert happenings.told == ["entered", "left None"]
    assert happenings.told == ["entered", "left None"]


def leave_a_context_by_an_error(loop: LoopThread, happenings: Happenings) -> None:
    with pytest.raises(LookupError), loop.entered(Room(happenings)):
        fail(after=loop.stop)


def leave_an_iterator(loop: LoopThread, happenings: Happenings) -> None:
    numbers = loop.iterated(count(happenings))
    next(numbers)
    loop.stop()
    assert happenings.told == ["closed"]
    numbers.close()


@pytest.mark.parametrize("leave", [leave_a_context, leave_a_context_by_an_error, leave_an_iterator])
def test_what_is_open_at_the_end_is_left_without_complaint(
    loop: LoopThread, happenings: Happenings, leave: Callable[[LoopThread, Happenings], None]
) -> None:
    leave(loop, happenings)

    assert loop.closed


def test_a_context_that_cannot_be_left_at_the_end_is_told_of(
    loop: LoopThread, happenings: Happenings, caplog: pytest.LogCaptureFixture
) -> None:
    class Jammed(Room):
        async def __aexit__(self, *_: object) -> bool:
            raise PermissionError("jammed")

    with loop.entered(Room(happenings)), loop.entered(Jammed(happenings)):
        loop.stop()

    assert happenings.told == ["entered", "entered", "left None"]
    assert "jammed" in caplog.text
