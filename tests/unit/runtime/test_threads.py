"""Work in threads, and those who wait for it."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from reflet.runtime.threads import import_beside, in_thread


@pytest.fixture
def one_thread() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(1, thread_name_prefix="one") as executor:
        yield executor


class Work:
    """Work that begins, and ends when it may."""

    def __init__(self, error: Exception | None = None) -> None:
        self.has_begun = threading.Event()
        self.may_end = threading.Event()
        self.has_ended = False
        self._error = error

    def __call__(self) -> str:
        self.has_begun.set()
        self.may_end.wait()
        self.has_ended = True
        if self._error is not None:
            raise self._error
        return threading.current_thread().name


async def a_moment() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_the_result_comes_from_a_thread_of_the_executor(
    one_thread: ThreadPoolExecutor,
) -> None:
    work = Work()
    work.may_end.set()

    assert (await in_thread(work, executor=one_thread)).startswith("one")
    assert await in_thread(work) != threading.current_thread().name


async def test_an_error_of_the_work_is_the_callers() -> None:
    work = Work(OSError("full"))
    work.may_end.set()

    with pytest.raises(OSError, match="full"):
        await in_thread(work)


@pytest.mark.parametrize("error", [None, OSError("full")])
@pytest.mark.parametrize("times", [1, 2])
async def test_whoever_is_cancelled_waits_for_what_has_begun(
    times: int, error: Exception | None
) -> None:
    work = Work(error)
    waiting = asyncio.create_task(in_thread(work))
    await asyncio.to_thread(work.has_begun.wait)

    for _ in range(times):
        waiting.cancel()
        await a_moment()
    went_on = waiting.done()
    work.may_end.set()
    with pytest.raises(asyncio.CancelledError):
        await waiting

    assert (went_on, work.has_ended) == (False, True)


async def test_what_was_cancelled_before_a_thread_was_free_is_not_begun(
    one_thread: ThreadPoolExecutor,
) -> None:
    first, second = Work(), Work()
    occupying = asyncio.create_task(in_thread(first, executor=one_thread))
    await asyncio.to_thread(first.has_begun.wait)
    waiting = asyncio.create_task(in_thread(second, executor=one_thread))
    await a_moment()

    waiting.cancel()
    await a_moment()
    first.may_end.set()
    await occupying
    with pytest.raises(asyncio.CancelledError):
        await waiting

    assert not second.has_begun.is_set()


# Imports


async def test_a_module_that_is_missing_is_imported_in_a_thread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "import threading\nmain = threading.current_thread() is threading.main_thread()\n"
    (tmp_path / "a_module_of_this_test.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)

    await import_beside("a_module_of_this_test")

    assert sys.modules.pop("a_module_of_this_test").main is False


async def test_one_that_is_there_costs_no_thread() -> None:
    before = threading.active_count()

    await import_beside("asyncio", "sys")

    assert threading.active_count() == before
