from __future__ import annotations

import asyncio
import errno
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest

from reflet.errors import MisuseError, TransportError
from reflet.runtime.permanent_tasks import LIVED_WELL, PermanentTasks, TaskEnded, can_pass
from reflet.runtime.tasks import TaskOwner
from reflet.testing.virtual_time import VirtualClock

pytestmark = pytest.mark.virtual_time

NO_DESCRIPTORS = OSError(errno.EMFILE, "Too many open files")


class Work:
    """Ends each of its lives as it is told, and lives on when nothing is left to do."""

    def __init__(self, *ends: Callable[[], None] | BaseException, lives: float = 0.0) -> None:
        self._ends = list(ends)
        self._lives = lives
        self.began: list[float] = []

    async def run(self) -> None:
        self.began.append(asyncio.get_running_loop().time())
        if not self._ends:
            await asyncio.Event().wait()
        await asyncio.sleep(self._lives)
        end = self._ends.pop(0)
        if isinstance(end, BaseException):
            raise end
        end()


@asynccontextmanager
async def kept(work: Work, **others: Work) -> AsyncIterator[PermanentTasks]:
    permanent = PermanentTasks(clock=VirtualClock())
    tasks = TaskOwner("service")
    await tasks.__aenter__()
    for name, each in {"lease": work, **others}.items():
        permanent.keep(tasks, each.run, name=name)
    yield permanent
    try:
        await tasks.__aexit__(None, None, None)
    except ExceptionGroup:
        assert permanent.problems["lease"] is not None


# Errors that can pass


@pytest.mark.parametrize(
    ("error", "passes"),
    [
        (OSError(errno.EMFILE, "x"), True),
        (OSError(errno.ENOSPC, "x"), True),
        (MemoryError(), True),
        (TransportError("away"), True),
        (RuntimeError("can't start new thread"), True),
        (ExceptionGroup("writers", [NO_DESCRIPTORS, TransportError("away")]), True),
        (RuntimeError("dictionary changed size during iteration"), False),
        (MisuseError("closed already"), False),
        (TypeError("x"), False),
        (KeyError("x"), False),
        (ExceptionGroup("writers", [NO_DESCRIPTORS, TypeError("x")]), False),
    ],
    ids=repr,
)
def test_what_the_machine_or_the_server_lacks_can_pass_and_our_mistakes_cannot(
    error: Exception, passes: bool
) -> None:
    assert can_pass(error) is passes


async def test_a_task_whose_error_can_pass_is_started_again() -> None:
    work = Work(NO_DESCRIPTORS)
    async with kept(work) as permanent:
        await asyncio.sleep(10.0)

        assert work.began == [0.0, 1.0]
        assert permanent.problems == {"lease": None}


async def test_the_pauses_double_up_to_half_a_minute() -> None:
    work = Work(*[NO_DESCRIPTORS] * 7)
    async with kept(work):
        await asyncio.sleep(300.0)

    assert work.began == [0.0, 1.0, 3.0, 7.0, 15.0, 31.0, 61.0, 91.0]


async def test_a_task_that_lived_well_starts_over_with_short_pauses() -> None:
    work = Work(*[NO_DESCRIPTORS] * 3, lives=LIVED_WELL)
    async with kept(work):
        await asyncio.sleep(300.0)

    assert work.began == [0.0, 61.0, 122.0, 183.0]


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (NO_DESCRIPTORS, "[Errno 24] Too many open files"),
        (MemoryError(), "MemoryError"),
        (
            ExceptionGroup("writers", [MemoryError(), TransportError("the server is away")]),
            "MemoryError; the server is away",
        ),
    ],
)
async def test_a_streak_of_failures_is_logged_once(
    error: Exception, words: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with kept(Work(*[error] * 5)):
        await asyncio.sleep(300.0)

    assert caplog.messages == [f"task lease failed and is started again: {words}"]


async def test_what_waits_to_be_started_again_is_told() -> None:
    async with kept(Work(NO_DESCRIPTORS)) as permanent:
        await asyncio.sleep(0.5)
        waits = permanent.troubles
        await asyncio.sleep(1.0)

        assert (waits, permanent.troubles) == ({"lease": "OSError"}, {})


# Ends


def _return() -> None:
    pass


@pytest.mark.parametrize(
    ("end", "why"),
    [
        (TypeError("hunter2"), "TypeError"),
        (_return, "returned"),
        (asyncio.CancelledError(), "was cancelled from within"),
    ],
)
async def test_a_task_that_nothing_helps_has_ended_for_good(
    end: Callable[[], None] | BaseException, why: str
) -> None:
    work = Work(end)
    async with kept(work) as permanent:
        with pytest.raises(TaskEnded) as caught:
            await permanent.ended()

        assert (caught.value.task, caught.value.why) == ("lease", why)
        assert permanent.problems == {"lease": why}
        assert work.began == [0.0]


async def test_the_text_of_an_error_is_in_the_log_and_nowhere_else(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with kept(Work(TypeError("hunter2"))) as permanent:
        with pytest.raises(TaskEnded) as caught:
            await permanent.ended()

    assert "hunter2" not in f"{caught.value} {permanent.problems}"
    assert "hunter2" in caplog.text


async def test_the_others_go_on() -> None:
    other = Work(NO_DESCRIPTORS, lives=5.0)
    async with kept(Work(TypeError("x")), status=other) as permanent:
        await asyncio.sleep(10.0)

        assert other.began == [0.0, 6.0]
        assert permanent.problems == {"lease": "TypeError", "status": None}


async def test_leaving_the_owner_is_no_end() -> None:
    async with kept(Work()) as permanent:
        await asyncio.sleep(1.0)

    assert permanent.problems == {"lease": None}
