from __future__ import annotations

import asyncio
import logging

import pytest

from reflet.runtime import tasks
from reflet.runtime.tasks import TaskOwner

pytestmark = pytest.mark.virtual_time


class Bug(Exception):
    pass


async def crash() -> None:
    raise Bug("boom")


async def serve(ended: list[str], name: str = "served") -> None:
    try:
        await asyncio.sleep(1_000_000)
    finally:
        ended.append(name)


async def test_leaving_cancels_and_awaits_what_still_runs() -> None:
    ended: list[str] = []

    async with TaskOwner("test") as owner:
        owner.start(serve(ended), name="service")
        await asyncio.sleep(1)

    assert ended == ["served"]


async def test_a_task_has_its_name_and_gives_its_result() -> None:
    async with TaskOwner("test") as owner:
        task = owner.start(asyncio.sleep(1, "answer"), name="asker")

        assert (task.get_name(), await task) == ("asker", "answer")


async def test_what_runs_is_known_by_name_and_forgotten_when_it_ends() -> None:
    async with TaskOwner("test") as owner:
        owner.start(asyncio.sleep(1), name="short")
        owner.start(asyncio.sleep(10), name="long")
        await asyncio.sleep(5)

        assert owner.running == {"long"}


async def test_one_crash_does_not_end_the_others_and_is_raised_on_leaving() -> None:
    alive: list[frozenset[str]] = []

    async def program() -> None:
        async with TaskOwner("test") as owner:
            owner.start(serve([]), name="service")
            owner.start(crash(), name="crasher")
            await asyncio.sleep(1)
            alive.append(owner.running)

    with pytest.raises(ExceptionGroup, match="1 of the tasks of 'test' failed") as raised:
        await program()

    assert alive == [frozenset({"service"})]
    assert [type(error) for error in raised.value.exceptions] == [Bug]


async def test_a_crash_is_logged_at_once_with_the_name_of_the_task(
    caplog: pytest.LogCaptureFixture,
) -> None:
    logged: list[str] = []

    async def program() -> None:
        async with TaskOwner("test") as owner:
            owner.start(crash(), name="crasher")
            await asyncio.sleep(1)
            logged.extend(record.getMessage() for record in caplog.records)

    with pytest.raises(ExceptionGroup):
        await program()

    assert logged == ["task crasher of test failed: Bug('boom')"]
    assert caplog.records[0].exc_info is not None


async def test_the_error_of_the_block_passes_through_with_the_tasks_as_notes() -> None:
    async def program() -> None:
        async with TaskOwner("test") as owner:
            owner.start(crash(), name="crasher")
            await asyncio.sleep(1)
            raise KeyError("mine")

    with pytest.raises(KeyError) as raised:
        await program()

    assert raised.value.__notes__ == ["a task of 'test' failed too: Bug('boom')"]


async def test_cancellation_of_the_block_passes_through() -> None:
    ended: list[str] = []

    async def program() -> None:
        async with TaskOwner("test") as owner:
            owner.start(serve(ended), name="service")
            await asyncio.sleep(1_000_000)

    running = asyncio.create_task(program())
    await asyncio.sleep(1)
    running.cancel()
    await asyncio.wait([running])

    assert (running.cancelled(), ended) == (True, ["served"])


async def test_a_deadline_around_the_block_stays_a_time_out() -> None:
    ended: list[str] = []

    async def program() -> None:
        async with asyncio.timeout(5), TaskOwner("test") as owner:
            owner.start(serve(ended), name="service")
            await asyncio.sleep(1_000_000)

    with pytest.raises(TimeoutError):
        await program()

    assert ended == ["served"]


async def test_cancelled_while_leaving_it_still_ends_every_task_first() -> None:
    steps: list[str] = []

    async def slow_to_end() -> None:
        try:
            await asyncio.sleep(1_000_000)
        finally:
            try:
                await asyncio.sleep(1_000)
            finally:
                steps.append("task ended")

    async def program() -> None:
        try:
            async with TaskOwner("test") as owner:
                owner.start(slow_to_end(), name="slow")
                await asyncio.sleep(1)
        finally:
            steps.append("owner left")

    running = asyncio.create_task(program())
    await asyncio.sleep(2)
    running.cancel()
    await asyncio.wait([running])

    assert (running.cancelled(), steps) == (True, ["task ended", "owner left"])
    # The second cancellation cut the slow end short.
    assert asyncio.get_running_loop().time() == 2


async def test_cancelled_while_leaving_because_of_an_error_is_cancelled() -> None:
    async def slow_to_end() -> None:
        try:
            await asyncio.sleep(1_000_000)
        finally:
            await asyncio.sleep(1_000)

    async def program() -> None:
        async with TaskOwner("test") as owner:
            owner.start(slow_to_end(), name="slow")
            await asyncio.sleep(1)
            raise KeyError("mine")

    running = asyncio.create_task(program())
    await asyncio.sleep(2)
    running.cancel()
    await asyncio.wait([running])

    assert running.cancelled()


async def test_a_task_that_does_not_end_is_named_while_it_is_waited_for(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def stubborn() -> None:
        try:
            await asyncio.sleep(1_000_000)
        except asyncio.CancelledError:
            await asyncio.sleep(tasks.COMPLAIN_EVERY * 2.5)

    with caplog.at_level(logging.WARNING):
        async with TaskOwner("test") as owner:
            owner.start(stubborn(), name="mule")
            await asyncio.sleep(1)

    assert [record.getMessage() for record in caplog.records] == [
        "test still waits for cancelled tasks to end: mule"
    ] * 2


async def test_one_task_can_be_stopped_alone() -> None:
    ended: list[str] = []

    async with TaskOwner("test") as owner:
        owner.start(serve(ended, "first"), name="first")
        second = owner.start(serve(ended, "second"), name="second")
        await asyncio.sleep(1)
        await owner.stop(second)

        assert (ended, list(owner.running)) == (["second"], ["first"])


async def test_stopping_a_task_that_has_ended_does_nothing() -> None:
    async with TaskOwner("test") as owner:
        task = owner.start(asyncio.sleep(1), name="short")
        await asyncio.sleep(2)
        await owner.stop(task)

        assert not task.cancelled()


async def test_a_task_cannot_stop_itself() -> None:
    async with TaskOwner("test") as owner:

        async def stop_myself() -> str:
            myself = asyncio.current_task()
            assert myself is not None
            with pytest.raises(RuntimeError, match="its own end"):
                await owner.stop(myself)
            return "still here"

        assert await owner.start(stop_myself(), name="ouroboros") == "still here"


async def test_only_the_first_errors_are_kept_but_all_are_counted() -> None:
    many = tasks.ERRORS_KEPT + 4

    async def program() -> None:
        async with TaskOwner("test") as owner:
            for number in range(many):
                owner.start(crash(), name=f"crasher {number}")
            await asyncio.sleep(1)

    with pytest.raises(ExceptionGroup, match=f"{many} of the tasks") as raised:
        await program()

    assert len(raised.value.exceptions) == tasks.ERRORS_KEPT


async def test_failures_are_counted_while_the_service_runs() -> None:
    counted: list[int] = []

    async def program() -> None:
        async with TaskOwner("test") as owner:
            owner.start(crash(), name="crasher")
            counted.append(owner.failures)
            await asyncio.sleep(1)
            counted.append(owner.failures)

    with pytest.raises(ExceptionGroup):
        await program()

    assert counted == [0, 1]


async def test_nothing_starts_outside_the_block() -> None:
    owner = TaskOwner("test")

    with pytest.raises(RuntimeError, match="'late' cannot start: 'test' is not open"):
        owner.start(crash(), name="late")


async def test_nothing_starts_once_leaving_has_begun() -> None:
    owner = TaskOwner("test")

    async def restart_when_cancelled() -> None:
        try:
            await asyncio.sleep(1_000_000)
        finally:
            owner.start(crash(), name="late")

    async def program() -> None:
        async with owner:
            owner.start(restart_when_cancelled(), name="restarter")
            await asyncio.sleep(1)

    with pytest.raises(ExceptionGroup) as raised:
        await program()

    assert raised.group_contains(RuntimeError, match="not open")


async def test_an_owner_lives_once() -> None:
    owner = TaskOwner("test")
    async with owner:
        pass

    with pytest.raises(RuntimeError, match="entered before"):
        await owner.__aenter__()
