"""What crosses from a caller's thread to the loop and back."""

from __future__ import annotations

import asyncio
import gc
import threading
import weakref
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager

import pytest

from reflet.blocking.loop_thread import LoopThread
from reflet.errors import MisuseError
from tests.patience import Deadline
from tests.unit.blocking.loop_scenes import (
    Happenings,
    Room,
    count,
    double,
    fail,
    interrupt_the_main_thread,
)


@pytest.fixture
def loop() -> Iterator[LoopThread]:
    thread = LoopThread("the loop")
    yield thread
    thread.stop()


@pytest.fixture
def happenings() -> Happenings:
    return Happenings()


# Running


def test_a_coroutine_runs_on_the_loops_thread_and_returns(loop: LoopThread) -> None:
    async def where() -> str:
        return threading.current_thread().name

    assert loop.run(where()) == "the loop"
    assert loop.run(double(4)) == 8


def test_an_error_comes_back_as_it_is(loop: LoopThread) -> None:
    error = LookupError("no such thing")

    async def fail() -> None:
        raise error

    with pytest.raises(LookupError) as raised:
        loop.run(fail())

    assert raised.value is error


def test_many_threads_may_call_at_once(loop: LoopThread) -> None:
    with ThreadPoolExecutor(8) as callers:
        results = list(callers.map(lambda number: loop.run(double(number)), range(200)))

    assert results == [2 * number for number in range(200)]


def test_calls_do_not_wait_for_each_other(loop: LoopThread) -> None:
    ready = asyncio.Event()

    async def wait() -> str:
        await ready.wait()
        return "waited"

    async def release() -> None:
        ready.set()

    with ThreadPoolExecutor(1) as other:
        waiting = other.submit(loop.run, wait())
        loop.run(release())

        assert waiting.result() == "waited"


def test_the_loop_cannot_wait_for_itself(loop: LoopThread) -> None:
    async def nested() -> int:
        return loop.run(double(1))

    with pytest.raises(MisuseError, match="the loop cannot wait for itself: use the asyncio face"):
        loop.run(nested())
    assert loop.run(double(1)) == 2


@pytest.mark.parametrize("error", [SystemExit(3), KeyboardInterrupt()])
def test_an_error_that_would_end_a_program_does_not_end_the_loop(
    loop: LoopThread, error: BaseException
) -> None:
    async def fail() -> None:
        raise error

    with pytest.raises(type(error)):
        loop.run(fail())
    assert loop.run(double(1)) == 2


def test_an_interrupted_call_takes_its_coroutine_along(
    loop: LoopThread, happenings: Happenings
) -> None:
    async def stubborn() -> None:
        interrupt_the_main_thread()
        try:
            await asyncio.Event().wait()
        finally:
            for _ in range(10):
                await asyncio.sleep(0)
            happenings.tell("ended")

    with pytest.raises(KeyboardInterrupt):
        loop.run(stubborn())

    assert happenings.told == ["ended"]


def test_a_failed_call_leaves_no_garbage_that_holds_what_it_used(loop: LoopThread) -> None:
    class Held:
        pass

    gone = threading.Event()
    gc.collect()
    gc.disable()
    try:

        async def fail(held: Held) -> None:
            raise LookupError

        held = Held()
        weakref.finalize(held, gone.set)
        with pytest.raises(LookupError):
            loop.run(fail(held))
        del held
        # The loop drops its last reference in its own time; without a GIL what it drops of this
        # thread's objects is counted here, and not while we stand still.
        deadline = Deadline(10)
        while not gone.wait(0.01):
            assert not deadline.passed
            assert loop.run(double(1)) == 2
    finally:
        gc.enable()


def test_a_context_is_entered_and_left(loop: LoopThread, happenings: Happenings) -> None:
    with loop.entered(Room(happenings)) as key:
        assert key == "the key"
        assert happenings.told == ["entered"]

    assert happenings.told == ["entered", "left None"]


@pytest.mark.parametrize(
    "error", [LookupError("x"), KeyboardInterrupt(), SystemExit(1), StopIteration()]
)
def test_an_error_in_the_block_leaves_the_context_and_goes_on(
    loop: LoopThread, happenings: Happenings, error: BaseException
) -> None:
    with pytest.raises(type(error)) as raised, loop.entered(Room(happenings)):
        raise error

    assert raised.value is error
    assert happenings.told == ["entered", f"left {error!r}"]


@pytest.mark.parametrize("error", [LookupError("x"), KeyboardInterrupt(), SystemExit(1)])
def test_a_generators_context_is_left_likewise(
    loop: LoopThread, happenings: Happenings, error: BaseException
) -> None:
    @asynccontextmanager
    async def room() -> AsyncIterator[None]:
        try:
            yield
        finally:
            await asyncio.sleep(0)
            happenings.tell("left")

    with pytest.raises(type(error)) as raised, loop.entered(room()):
        raise error

    assert raised.value is error
    assert happenings.told == ["left"]
    assert loop.run(double(1)) == 2


def test_a_context_may_forgive_the_error(loop: LoopThread, happenings: Happenings) -> None:
    with loop.entered(Room(happenings, forgiving=True)):
        fail()

    assert happenings.told == ["entered", "left LookupError()"]


def test_a_context_that_was_left_is_not_left_again(
    loop: LoopThread, happenings: Happenings
) -> None:
    room = Room(happenings)
    loop.enter(room)

    loop.leave(room, None)
    loop.leave(room, None)

    assert happenings.told == ["entered", "left None"]


def test_a_context_that_cannot_be_entered_is_not_left(
    loop: LoopThread, happenings: Happenings
) -> None:
    class Locked(Room):
        async def __aenter__(self) -> str:
            raise PermissionError

    with pytest.raises(PermissionError), loop.entered(Locked(happenings)):
        pytest.fail("it was locked")

    assert happenings.told == []


def test_an_iterator_is_read_to_its_end(loop: LoopThread, happenings: Happenings) -> None:
    assert list(loop.iterated(count(happenings))) == [0, 1, 2]
    assert happenings.told == ["closed"]


def test_an_iterator_left_early_is_closed(loop: LoopThread, happenings: Happenings) -> None:
    for number in loop.iterated(count(happenings)):
        if number == 1:
            break

    assert happenings.told == ["closed"]


def test_an_iterator_without_aclose_is_read_to_its_end(loop: LoopThread) -> None:
    class Countdown:
        def __init__(self) -> None:
            self.number = 3

        def __aiter__(self) -> Countdown:
            return self

        async def __anext__(self) -> int:
            self.number -= 1
            if self.number < 0:
                raise StopAsyncIteration
            return self.number

    assert list(loop.iterated(Countdown())) == [2, 1, 0]


def test_an_error_of_an_iterator_comes_after_what_it_gave(loop: LoopThread) -> None:
    async def broken() -> AsyncIterator[int]:
        yield 1
        raise LookupError("gone")

    numbers = loop.iterated(broken())

    assert next(numbers) == 1
    with pytest.raises(LookupError, match="gone"):
        next(numbers)
    with pytest.raises(StopIteration):
        next(numbers)


def test_an_interrupted_iterator_is_closed(loop: LoopThread, happenings: Happenings) -> None:
    async def endless() -> AsyncIterator[int]:
        try:
            yield 0
            interrupt_the_main_thread()
            await asyncio.Event().wait()
        finally:
            # Not over in one step: whoever closes it must not find it running.
            for _ in range(10):
                await asyncio.sleep(0)
            happenings.tell("closed")

    numbers = loop.iterated(endless())
    next(numbers)

    with pytest.raises(KeyboardInterrupt):
        next(numbers)
    assert happenings.told == ["closed"]
