"""A child is watched without threads, ended with all of its group, and never a zombie."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from reflet.processes import child as child_module
from reflet.processes.child import Child, adopt_child, kill_left_behind, start_child
from reflet.processes.exit_status import Exited, Killed, Vanished
from reflet.processes.process_table import ProcessIdentity, group_members, process_entry
from reflet.processes.program import Program
from tests.patience import within

PATH = {"PATH": "/usr/bin:/bin"}


class Scene:
    """Starts shell scripts that tell through a pipe how far they are."""

    def __init__(self) -> None:
        self._read, self._write = os.pipe()
        os.set_blocking(self._read, False)

    def start(self, script: str) -> Child:
        return start_child(Program(["sh", "-c", script], PATH, standard_output=self._write))

    async def line(self) -> str:
        loop, ready = asyncio.get_running_loop(), asyncio.Event()
        loop.add_reader(self._read, ready.set)
        text = b""
        try:
            while not text.endswith(b"\n"):
                await ready.wait()
                text += os.read(self._read, 1)
                ready.clear()
        finally:
            loop.remove_reader(self._read)
        return text.decode().strip()

    def close(self) -> None:
        os.close(self._read)
        os.close(self._write)


@pytest.fixture
def scene() -> Iterator[Scene]:
    made = Scene()
    yield made
    made.close()


@pytest.fixture(params=["descriptor", "looking"])
def kernel(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both kinds of kernels: with descriptors of processes, and without."""
    if request.param == "looking":
        monkeypatch.setattr(child_module, "open_descriptor", lambda pid: None)


async def until_gone(pid: int) -> None:
    async with within(30):
        while (entry := process_entry(pid)) is not None and not entry.has_ended:  # noqa: ASYNC110 - nobody tells about a stranger's end
            await asyncio.sleep(0.01)


def orphan() -> ProcessIdentity:
    """A process that was started by one that has ended."""
    starter = (
        "import subprocess; print(subprocess.Popen(['sleep', '60'], start_new_session=True,"
        " stdout=subprocess.DEVNULL).pid)"
    )
    started = subprocess.run([sys.executable, "-c", starter], stdout=subprocess.PIPE, check=True)
    identity = ProcessIdentity.of(int(started.stdout))
    assert identity is not None
    return identity


@pytest.mark.usefixtures("kernel")
async def test_the_code_of_a_child_is_told_to_all_who_wait(scene: Scene) -> None:
    child = scene.start("exit 7")

    assert tuple(await asyncio.gather(child.wait(), child.wait())) == (Exited(7), Exited(7))
    assert child.ending == Exited(7)
    assert process_entry(child.pid) is None


@pytest.mark.usefixtures("kernel")
async def test_a_signal_reaches_the_process_and_ends_it(scene: Scene) -> None:
    child = scene.start("echo ready; exec sleep 60")
    await scene.line()

    assert (child.ending, child.signal(signal.SIGUSR1)) == (None, True)
    assert await child.wait() == Killed(signal.SIGUSR1)
    assert not child.signal(signal.SIGUSR1)
    assert not child.signal_group(signal.SIGUSR1)


async def test_no_thread_is_needed(scene: Scene) -> None:
    before = set(Path("/proc/self/task").iterdir())
    children = [scene.start("exec cat /dev/null") for _ in range(20)]

    during = set(Path("/proc/self/task").iterdir())
    await asyncio.gather(*(child.wait() for child in children))

    assert during == before


@pytest.mark.usefixtures("kernel")
async def test_what_an_ended_child_left_of_its_group_is_killed(scene: Scene) -> None:
    child = scene.start("sleep 60 & echo $!; exit 3")
    left = int(await scene.line())

    assert await child.wait() == Exited(3)
    await until_gone(left)


@pytest.mark.usefixtures("kernel")
async def test_a_child_that_ends_when_asked_is_not_killed(scene: Scene) -> None:
    child = scene.start("trap 'exit 5' TERM; echo ready; while :; do sleep 0.01; done")
    await scene.line()

    assert await child.end(60) == Exited(5)


@pytest.mark.usefixtures("kernel")
async def test_a_child_that_does_not_listen_is_killed_with_its_whole_group(scene: Scene) -> None:
    child = scene.start("trap '' TERM; sleep 60 & echo ready; while :; do sleep 0.01; done")
    await scene.line()

    assert await child.end(0.1) == Killed(signal.SIGKILL)
    assert group_members(child.group) == []


async def test_no_grace_is_no_time_at_all(scene: Scene) -> None:
    child = scene.start("trap '' TERM; echo ready; while :; do sleep 0.01; done")
    await scene.line()

    assert await child.end(0) == Killed(signal.SIGKILL)


async def test_those_whom_a_shell_leaves_behind_are_asked_too(scene: Scene) -> None:
    child = scene.start(
        "sh -c 'trap \"echo bye; exit\" TERM; echo ready; while :; do sleep 0.01; done' & wait"
    )
    await scene.line()

    assert await child.end(60) == Killed(signal.SIGTERM)
    assert await scene.line() == "bye"


async def test_another_signal_can_ask(scene: Scene) -> None:
    child = scene.start("trap 'exit 6' INT; echo ready; while :; do sleep 0.01; done")
    await scene.line()

    assert await child.end(60, number=signal.SIGINT) == Exited(6)


async def test_a_stopped_child_hears_that_it_shall_end(scene: Scene) -> None:
    child = scene.start("trap 'exit 5' TERM; echo ready; while :; do sleep 0.01; done")
    await scene.line()
    child.signal_group(signal.SIGSTOP)

    assert await child.end(60) == Exited(5)


async def test_ending_what_has_ended_tells_how(scene: Scene) -> None:
    child = scene.start("exit 4")
    await child.wait()

    assert await child.end(60) == Exited(4)


async def test_a_cancelled_wait_leaves_the_child_alone(scene: Scene) -> None:
    child = scene.start("read line; exit 2")
    waiting = asyncio.create_task(child.wait())
    await asyncio.sleep(0)
    waiting.cancel()

    assert await child.end(60) is not None


async def test_a_child_let_go_of_runs_on_and_can_be_adopted(scene: Scene) -> None:
    child = scene.start("echo ready; exec sleep 60")
    await scene.line()
    child.close()
    adopted = adopt_child(child.identity)

    assert child.ending is None
    assert adopted is not None
    assert await adopted.end(60) == Killed(signal.SIGTERM)


@pytest.mark.usefixtures("kernel")
async def test_the_child_of_another_life_can_be_adopted_and_ended() -> None:
    identity = orphan()
    adopted = adopt_child(identity)

    assert adopted is not None
    assert await adopted.end(60) == Vanished()


async def test_one_that_has_ended_or_is_another_cannot_be_adopted(scene: Scene) -> None:
    child = scene.start("exit 0")
    await child.wait()
    own = ProcessIdentity.of(os.getpid())
    assert own is not None

    assert adopt_child(child.identity) is None
    assert adopt_child(replace(own, start=own.start + 1)) is None


async def test_what_a_process_left_while_nobody_watched_is_killed(scene: Scene) -> None:
    child = scene.start("sleep 60 & echo $!; exec sleep 60")
    left = int(await scene.line())
    child.close()
    os.kill(child.pid, signal.SIGKILL)
    os.waitpid(child.pid, 0)  # noqa: ASYNC222 - it was killed

    assert kill_left_behind(child.identity)
    await until_gone(left)
    assert not kill_left_behind(child.identity)


async def test_the_group_of_another_process_is_left_alone(scene: Scene) -> None:
    child = scene.start("echo ready; exec sleep 60")
    await scene.line()

    assert not kill_left_behind(replace(child.identity, start=child.identity.start - 1))
    assert await child.end(60) == Killed(signal.SIGTERM)


@contextlib.contextmanager
def group_without_leader(*, is_session: bool) -> Iterator[ProcessIdentity]:
    """Somebody's group without its leader; the identity is of an older process of its number."""
    leader = subprocess.Popen(
        ["/bin/sh", "-c", "sleep 60 & exit"],
        start_new_session=is_session,
        process_group=None if is_session else 0,
    )
    with leader:
        leader.wait()
    own = ProcessIdentity.of(os.getpid())
    assert own is not None
    try:
        yield replace(own, pid=leader.pid)
        assert group_members(leader.pid)
    finally:
        os.killpg(leader.pid, signal.SIGKILL)


def test_numbers_of_an_earlier_life_of_the_machine_mean_nothing() -> None:
    with group_without_leader(is_session=True) as identity:
        assert not kill_left_behind(replace(identity, boot="another"))


def test_a_group_that_is_a_part_of_somebodys_session_is_left_alone() -> None:
    with group_without_leader(is_session=False) as identity:
        assert not kill_left_behind(identity)


def test_a_group_that_is_older_than_the_process_is_left_alone() -> None:
    with group_without_leader(is_session=True) as identity:
        (member,) = group_members(identity.pid)
        assert not kill_left_behind(replace(identity, start=member.start + 1))


async def test_children_are_kept_apart(scene: Scene, tmp_path: Path) -> None:
    children = [scene.start(f"exit {code}") for code in range(30)]

    endings = await asyncio.gather(*(child.wait() for child in children))

    assert endings == [Exited(code) for code in range(30)]


@pytest.mark.parametrize("lacking", [OSError(24, "Too many open files"), MemoryError()], ids=repr)
@pytest.mark.parametrize("told", [True, False], ids=["told by the kernel", "looked at"])
async def test_an_end_that_could_not_be_looked_at_is_found_later(
    monkeypatch: pytest.MonkeyPatch, lacking: Exception, told: bool
) -> None:
    look = Child._ending_now
    failed: list[Child] = []

    def fails_once(child: Child) -> object:
        if failed:
            return look(child)
        failed.append(child)
        raise lacking

    if not told:
        monkeypatch.setattr(child_module, "open_descriptor", lambda _: None)
    monkeypatch.setattr(Child, "_ending_now", fails_once)
    monkeypatch.setattr(child_module, "LOOK_LATER", 0.01)
    child = start_child(Program(["true"], PATH))

    async with within(30):
        assert await child.wait() == Exited(0)
    assert failed


async def test_an_end_is_found_although_not_even_the_next_look_could_be_set(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    look = Child._ending_now
    failed: list[str] = []

    def fails_once(child: Child) -> object:
        if failed:
            return look(child)
        failed.append("look")
        raise MemoryError

    def fails_too(*_: object) -> None:
        failed.append("timer")
        raise MemoryError

    told: list[object] = []
    monkeypatch.setattr(Child, "_ending_now", fails_once)
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda _, context: told.append(context["exception"]))
    child = start_child(Program(["true"], PATH))
    with monkeypatch.context() as patched:
        patched.setattr(Child, "_look_again", fails_too)
        async with within(30):
            assert await child.wait() == Exited(0)

    assert (failed, list(map(type, told))) == (["look", "timer"], [MemoryError])
