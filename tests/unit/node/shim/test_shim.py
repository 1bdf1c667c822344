from __future__ import annotations

import asyncio
import errno
import resource
from pathlib import Path
from signal import SIGTERM
from typing import Any

import pytest

from reflet.node.shim import shim as shim_module
from reflet.node.shim.container_records import ContainerRecord, records_below
from reflet.node.shim.container_streams import ContainerStreams
from reflet.node.shim.protocol import (
    ContainerEnded,
    ContainerList,
    Executed,
    ShimRefused,
    SignalContainer,
    StopContainer,
    Unchanged,
)
from reflet.processes.container_start import OutOfResources, start_container
from tests.other_users import NOBODY, needs_root
from tests.sleepers import own_time, sleepers
from tests.unit.node.shim.shim_scenes import CONTAINER, ended, keeping, order, until

pytestmark = pytest.mark.usefixtures("heir")


async def test_whoever_has_a_listing_is_told_everything_again_only_after_a_change(
    tmp_path: Path,
) -> None:
    async with keeping(tmp_path) as shim:
        changed: list[Any] = []

        def listing(tag: str) -> str:
            """Ask with a tag, twice with the new one, which must bring nothing."""
            first = shim.changes_since(tag)
            assert isinstance(first, ContainerList)
            assert shim.changes_since(first.tag) == Unchanged()
            changed.append([(each.id, each.state.value) for each in first.containers])
            return first.tag

        tag = listing("")
        await shim.start(order(tmp_path, ["sleep", "100"]))
        tag = listing(tag)
        await shim.end(CONTAINER, 0.0)
        tag = listing(tag)
        shim.remove(CONTAINER)
        listing(tag)
        listing("of another shim")

    assert changed == [[], [(CONTAINER, "running")], [(CONTAINER, "exited")], [], []]


async def test_a_container_runs_and_its_end_is_on_record(tmp_path: Path) -> None:
    news: list[ContainerEnded] = []
    async with keeping(tmp_path) as shim:
        shim.listen(news.append)
        await shim.start(order(tmp_path, ["sh", "-c", "echo hello; exit 3"]))
        record = await ended(shim)

    assert record.exit_code == 3
    assert record.log.read_text().endswith(" stdout F hello\n")
    assert news == [ContainerEnded(CONTAINER, "u1")]
    assert list(records_below(tmp_path)) == [record]


async def test_what_cannot_be_started_is_on_record_without_its_arguments(tmp_path: Path) -> None:
    async with keeping(tmp_path) as shim:
        await shim.start(order(tmp_path, ["/no/such/program", "s3cret"]))
        (record,) = shim.records("u1")

    assert (record.exit_code, record.reason) == (128, "StartError")
    assert "s3cret" not in record.path.read_text()


async def test_the_same_order_again_starts_nothing(tmp_path: Path) -> None:
    async with keeping(tmp_path) as shim:
        first = await shim.start(order(tmp_path, ["sleep", "60"]))
        again = await shim.start(order(tmp_path, ["sleep", "60"]))
        await shim.end(CONTAINER, 5)

    assert first.pid == again.pid


async def test_a_container_is_asked_and_then_killed(tmp_path: Path) -> None:
    async with keeping(tmp_path) as shim:
        script = "trap '' TERM; echo ready; while :; do sleep 0.02; done"
        await shim.start(order(tmp_path, ["sh", "-c", script]))
        (record,) = shim.records("u1")
        await until(lambda: "ready" in record.log.read_text())
        await shim.end(CONTAINER, 0.1)
        (record,) = shim.records("u1")

    assert (record.exit_code, record.signal) == (137, 9)


async def test_a_signal_goes_to_the_first_process(tmp_path: Path) -> None:
    async with keeping(tmp_path) as shim:
        await shim.start(order(tmp_path, ["sleep", "60"]))
        heard = shim.signal(CONTAINER, SIGTERM)
        await ended(shim)
        again = shim.signal(CONTAINER, SIGTERM)

    assert (heard, again) == (True, False)


async def test_the_last_word_is_the_file_or_else_the_log(tmp_path: Path) -> None:
    file = tmp_path / "message"
    async with keeping(tmp_path) as shim:
        file.write_text("from the file")
        await shim.start(order(tmp_path, ["false"], message_file=str(file)))
        first = (await ended(shim)).message
        shim.remove(CONTAINER)
        file.write_text("")
        script = ["sh", "-c", "echo from the log; exit 1"]
        policy = "FallbackToLogsOnError"
        await shim.start(
            order(tmp_path, script, f"{CONTAINER}-2", message_file=str(file), message_policy=policy)
        )
        second = (await ended(shim)).message

    assert (first, second) == ("from the file", "from the log\n")


async def test_a_container_that_runs_is_not_removed(tmp_path: Path) -> None:
    async with keeping(tmp_path) as shim:
        await shim.start(order(tmp_path, ["sleep", "60"]))
        with pytest.raises(ShimRefused):
            shim.remove(CONTAINER)
        await shim.end(CONTAINER, 5)
        removed = shim.remove(CONTAINER)
        left = list((tmp_path / "u1/containers/main").iterdir())

    assert (removed, left) == (True, [])


async def test_the_next_shim_goes_on_with_what_runs(tmp_path: Path) -> None:
    script = "i=0; while :; do i=$((i+1)); echo $i; sleep 0.01; done"
    async with keeping(tmp_path) as first:
        await first.start(order(tmp_path, ["sh", "-c", script]))
        (before,) = first.records("u1")
    async with keeping(tmp_path) as second:
        (record,) = second.records("u1")
        lines = before.log.read_text().count("\n")
        await until(lambda: before.log.read_text().count("\n") > lines + 5)
        await second.end(CONTAINER, 5)
    numbers = [int(line.split()[3]) for line in before.log.read_text().splitlines()]

    assert record.pid == before.pid
    assert numbers == list(range(1, len(numbers) + 1))


async def test_what_ended_while_there_was_no_shim_has_an_unknown_end(tmp_path: Path) -> None:
    record = order(tmp_path, ["true"]).record
    record.write()

    async with keeping(tmp_path) as shim:
        (found,) = shim.records("u1")

    assert (found.exit_code, found.finished_at is None) == (None, False)


async def test_a_request_that_makes_no_sense_is_refused(tmp_path: Path) -> None:
    async with keeping(tmp_path) as shim:
        with pytest.raises(ShimRefused):
            await shim.answer(SignalContainer("nobody", 15))
        with pytest.raises(ShimRefused):
            await shim.answer(StopContainer("nobody", 1.0))


# Commands in a container


async def test_a_command_runs_beside_the_first_process_as_it_does(tmp_path: Path) -> None:
    async with keeping(tmp_path) as shim:
        await shim.start(order(tmp_path, ["sleep", "60"], directory="/usr"))
        done = await shim.execute(CONTAINER, ("sh", "-c", "pwd; echo $COLOR; exit 3"), 30)
        long = await shim.execute(CONTAINER, ("sh", "-c", "yes | head -c 100000"), 30)
        await shim.end(CONTAINER, 5)

    assert done == Executed(3, "/usr\nred\n")
    assert (long.exit_code, len(long.output)) == (0, 10 * 1024)


async def test_a_command_that_takes_too_long_is_killed_with_what_it_started(tmp_path: Path) -> None:
    seconds = own_time()
    async with keeping(tmp_path) as shim:
        await shim.start(order(tmp_path, ["sleep", "60"]))
        script = f"echo begun; sleep {seconds} & wait"
        done = await shim.execute(CONTAINER, ("sh", "-c", script), 0.2)
        await shim.end(CONTAINER, 5)

    assert done == Executed(None, "begun\n")
    assert sleepers(seconds) == []


async def test_a_command_finds_the_variables_of_a_container_that_was_adopted(
    tmp_path: Path,
) -> None:
    async with keeping(tmp_path) as first:
        await first.start(order(tmp_path, ["sleep", "60"]))
    async with keeping(tmp_path) as second:
        done = await second.execute(CONTAINER, ("sh", "-c", "echo $COLOR"), 30)
        await second.end(CONTAINER, 5)

    assert done.output == "red\n"


@pytest.mark.parametrize(
    ("command", "why"),
    [(("no-such-command",), "the command is not found"), (("true",), "does not run")],
)
async def test_a_command_that_cannot_be_run_is_refused(
    tmp_path: Path, command: tuple[str, ...], why: str
) -> None:
    async with keeping(tmp_path) as shim:
        await shim.start(order(tmp_path, ["sleep", "60"]))
        if command == ("true",):
            await shim.end(CONTAINER, 5)
        with pytest.raises(ShimRefused, match=why):
            await shim.execute(CONTAINER, command, 30)
        await shim.end(CONTAINER, 5)


# When the machine runs out of something

FULL = OSError(errno.EMFILE, "Too many open files")


@pytest.mark.parametrize("lacking", [FULL, MemoryError()], ids=repr)
async def test_an_end_is_told_although_strays_cannot_be_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lacking: Exception
) -> None:
    looks: list[str] = []

    async def kill(container: str, *, spare: object) -> int:
        looks.append(container)
        if len(looks) == 1:
            raise lacking
        return 0

    monkeypatch.setattr(shim_module, "kill_left_to_us", kill)
    monkeypatch.setattr(shim_module, "TRY_AGAIN", 0.01)
    async with keeping(tmp_path) as shim:
        await shim.start(order(tmp_path, ["sh", "-c", "exit 3"]))
        record = await ended(shim)
        await until(lambda: len(looks) == 2)
        removed = shim.remove(CONTAINER)

    assert (record.exit_code, removed) == (3, True)


@pytest.mark.parametrize("lacking", [FULL, MemoryError()], ids=repr)
async def test_an_end_is_told_although_its_log_cannot_be_finished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lacking: Exception
) -> None:
    finish = ContainerStreams.finish

    def fails(streams: ContainerStreams) -> None:
        finish(streams)
        raise lacking

    monkeypatch.setattr(ContainerStreams, "finish", fails)
    async with keeping(tmp_path) as shim:
        await shim.start(order(tmp_path, ["sleep", "600"]))
        record = await shim.end(CONTAINER, 5)

    assert record.finished_at is not None


async def test_a_record_that_cannot_be_written_is_known_at_once_and_written_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write, full = ContainerRecord.write, [True]

    def fails(record: ContainerRecord) -> None:
        if record.finished_at is not None and full[0]:
            raise FULL
        write(record)

    monkeypatch.setattr(ContainerRecord, "write", fails)
    monkeypatch.setattr(shim_module, "TRY_AGAIN", 0.01)
    async with keeping(tmp_path) as shim:
        await shim.start(order(tmp_path, ["sh", "-c", "exit 3"]))
        record = await ended(shim)
        before = next(records_below(tmp_path)).finished_at
        full[0] = False
        await until(lambda: list(records_below(tmp_path)) == [record])

    assert (record.exit_code, before) == (3, None)


@pytest.mark.parametrize(
    ("lacking", "words"),
    [
        (FULL, "too many open files"),
        (MemoryError(), "out of memory"),
        (OutOfResources("no room", exit_code=125), "no room"),
    ],
)
async def test_a_start_for_which_something_is_lacking_is_refused_and_was_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lacking: Exception, words: str
) -> None:
    async def fails(*_: object) -> None:
        raise lacking

    async with keeping(tmp_path) as shim:
        with monkeypatch.context() as patched:
            patched.setattr(shim_module, "start_container", fails)
            with pytest.raises(ShimRefused, match=f"container main is not started: {words}"):
                await shim.start(order(tmp_path, ["true"]))
        left = shim.records("u1"), list((tmp_path / "u1/containers/main").iterdir())
        await shim.start(order(tmp_path, ["true"]))
        record = await ended(shim)

    assert left == ([], [])
    assert record.exit_code == 0


@needs_root
async def test_a_container_of_another_user_can_open_its_output_again(tmp_path: Path) -> None:
    script = "echo again > /dev/stdout; echo wrong > /dev/stderr"
    async with keeping(tmp_path) as shim:
        await shim.start(order(tmp_path, ["sh", "-c", script], user=NOBODY, group=NOBODY))
        record = await ended(shim)

    lines = [line.split(" ", 3)[1:] for line in record.log.read_text().splitlines()]
    assert lines == [["stdout", "F", "again"], ["stderr", "F", "wrong"]]


async def test_a_container_has_the_limits_that_the_shim_began_with(tmp_path: Path) -> None:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    async with keeping(tmp_path) as shim:
        resource.setrlimit(resource.RLIMIT_NOFILE, (before[0] - 1, before[1]))
        try:
            await shim.start(order(tmp_path, ["sh", "-c", "ulimit -n"]))
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, before)
        record = await ended(shim)

    assert record.log.read_text().split()[-1] == str(before[0])


async def test_a_start_comes_to_its_end_although_nobody_waits_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go = asyncio.Event()

    async def slowly(*given: Any) -> Any:
        await go.wait()
        return await start_container(*given)

    monkeypatch.setattr(shim_module, "start_container", slowly)
    async with keeping(tmp_path) as shim:
        asking = asyncio.create_task(shim.start(order(tmp_path, ["sleep", "60"])))
        await asyncio.sleep(0)
        asking.cancel()
        with pytest.raises(ShimRefused, match="still runs"):
            shim.remove(CONTAINER)
        go.set()
        await until(lambda: shim.records("u1")[0].pid is not None)
        ended_record = await shim.end(CONTAINER, 5)

    assert asking.cancelled()
    assert ended_record.exit_code == 143


async def test_a_command_that_nobody_waits_for_is_ended(tmp_path: Path) -> None:
    seconds = own_time()
    async with keeping(tmp_path) as shim:
        await shim.start(order(tmp_path, ["sleep", "60"]))
        asking = asyncio.create_task(shim.execute(CONTAINER, ("sleep", seconds), 60))
        await until(lambda: bool(sleepers(seconds)))
        asking.cancel()
        await until(lambda: not sleepers(seconds))
        await shim.end(CONTAINER, 5)


async def test_a_container_that_cannot_be_looked_after_does_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise MemoryError

    seconds = own_time()
    async with keeping(tmp_path) as shim:
        with monkeypatch.context() as patched:
            patched.setattr(shim_module, "Child", fails)
            with pytest.raises(ShimRefused, match="out of memory"):
                await shim.start(order(tmp_path, ["sleep", seconds]))
        await until(lambda: not sleepers(seconds))

        assert shim.records("u1") == []
