"""How every test is run: async tests, virtual time, a time limit, and nothing left behind.

Owns the running of ``async def`` tests (each on a fresh event loop; on one with virtual time
under ``@pytest.mark.virtual_time``), the limit of real time for each test, and the check after
every test that no task, thread, child process, socket or pipe is left.  That no secret gets out is
watched by canaries.py.  Must not know what is tested.

The check begins after the fixtures of wider scope and before those of the test itself, and
ends after these are torn down: a server started once for a module is not a leak, a connection
that a fixture forgot to close is.
"""

from __future__ import annotations

import asyncio
import gc
import inspect
import os
import random
import signal
import socket
import threading
import time
from collections.abc import Awaitable, Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Final

import pytest

from reflet.testing.virtual_time import VirtualTimeLoop
from tests.canaries import CanaryWatch
from tests.patience import Deadline
from tests.stalls import stall_loops

TIME_LIMIT: Final = 60.0  # seconds of real time for one test, on a machine that is not overloaded
REMINDER: Final = 5.0  # seconds; a limit that somebody swallowed is raised again
GRACE: Final = 2.0  # seconds that a thread, process or socket may need to be really gone
LAST_STEPS: Final = 20  # rounds of the loop that a cancelled task may need to end
SEED: Final = os.environ.get("REFLET_SEED", "")

WATCHED_DESCRIPTORS: Final = ("socket:", "pipe:", "anon_inode:")


def pytest_configure(config: pytest.Config) -> None:
    """Hear signals, and let child processes hear them; watch for secrets that get out.

    A shell starts its background jobs with Ctrl-C and quit ignored, and ``nohup`` ignores the
    end of the session: children inherit that, and a shell among them could not even trap it.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGHUP, signal.SIGQUIT):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
    config.pluginmanager.register(CanaryWatch(), "canaries")
    stall_loops()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Four processes for two cores: a part of the time is waiting, for sockets and children."""
    return 2 * (os.cpu_count() or 1)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect tests without looking for garbage: there is none, and tens of thousands of tests."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Throw the same dice in every run of a test, so that what failed once fails again.

    ``REFLET_SEED`` throws others.
    """
    random.seed(f"{SEED} {item.nodeid}")


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run an ``async def`` test on an event loop of its own."""
    test: Callable[..., Awaitable[None]] = pyfuncitem.obj
    if not inspect.iscoroutinefunction(test):
        return None
    arguments = {name: pyfuncitem.funcargs[name] for name in inspect.signature(test).parameters}
    virtual = pyfuncitem.get_closest_marker("virtual_time") is not None
    make_loop = VirtualTimeLoop if virtual else asyncio.new_event_loop
    with asyncio.Runner(debug=False, loop_factory=make_loop) as runner:
        left = runner.run(_tasks_left_by(test(**arguments)))
    if left:
        pytest.fail("the test left tasks behind: " + "; ".join(left), pytrace=False)
    return True


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    """Give every test, async or not, a limit of real time."""
    marker = item.get_closest_marker("time_limit")
    seconds: float = TIME_LIMIT if marker is None else marker.args[0]
    with _time_limit(seconds):
        yield


@pytest.fixture(autouse=True)
def _nothing_is_left_behind() -> Iterator[None]:
    before = _Belongings.now()
    yield
    left = _Belongings.now().missing_from(before)
    if left:
        deadline = Deadline(GRACE)
        while True:
            # What only a reference cycle keeps alive is not held by anybody, and a thread that ends
            # may leave one.
            gc.collect()
            left = _Belongings.now().missing_from(before)
            if not left or deadline.passed:
                break
            time.sleep(0.01)
    if left:
        pytest.fail("the test left behind: " + "; ".join(left), pytrace=False)


async def _tasks_left_by(test: Awaitable[None]) -> list[str]:
    await test
    here = {asyncio.current_task()}
    for _ in range(LAST_STEPS):
        if asyncio.all_tasks() == here:
            return []
        await asyncio.sleep(0)
    return sorted(f"{task.get_name()} ({task.get_coro()!r})" for task in asyncio.all_tasks() - here)


@contextmanager
def _time_limit(seconds: float) -> Iterator[None]:
    deadline = Deadline(seconds)

    def too_long(signal_number: int, frame: FrameType | None) -> None:
        """End what hangs; what only gets a share of a core gets the time that this takes."""
        if left := deadline.left:
            signal.setitimer(signal.ITIMER_REAL, left, REMINDER)
            return
        pytest.fail(f"the test took longer than {seconds:g} seconds of real time")

    before = signal.signal(signal.SIGALRM, too_long)
    signal.setitimer(signal.ITIMER_REAL, seconds, REMINDER)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@dataclass(frozen=True, slots=True)
class _Belongings:
    """What this process has at one moment that a test could forget to give back."""

    threads: frozenset[threading.Thread]
    children: frozenset[int]
    descriptors: dict[str, int]

    @classmethod
    def now(cls) -> _Belongings:
        return cls(frozenset(threading.enumerate()), _children(), _descriptors())

    def missing_from(self, before: _Belongings) -> list[str]:
        return [
            *(f"thread {thread.name!r}" for thread in self.threads - before.threads),
            *(_describe_child(child) for child in self.children - before.children),
            *(
                _describe_descriptor(number, target)
                for target, number in self.descriptors.items()
                if target not in before.descriptors
            ),
        ]


# Asked twice for each of tens of thousands of tests: plain calls, since pathlib would cost as much
# as many a test.


def _children() -> frozenset[int]:
    children: set[int] = set()
    for thread in _entries("/proc/self/task"):
        try:
            with open(f"/proc/self/task/{thread}/children", "rb", buffering=0) as listing:  # noqa: PTH123
                children.update(map(int, listing.read().split()))
        except (FileNotFoundError, ProcessLookupError):
            continue  # that thread has just ended
    return frozenset(children)


def _descriptors() -> dict[str, int]:
    """Map what each watched descriptor refers to, which is unlike its number never reused."""
    descriptors: dict[str, int] = {}
    for number in _entries("/proc/self/fd"):
        try:
            target = os.readlink(f"/proc/self/fd/{number}")  # noqa: PTH115
        except FileNotFoundError:
            continue  # the one through which the folder was read
        if target.startswith("anon_inode:"):
            # All of a kind share one inode, so here the number has to tell them apart.
            target = f"{target} {number}"
        if target.startswith(WATCHED_DESCRIPTORS):
            descriptors[target] = number
    return descriptors


def _entries(folder: str) -> list[int]:
    try:
        return [int(name) for name in os.listdir(folder)]  # noqa: PTH208
    except FileNotFoundError:
        return []  # a system without /proc


def _describe_child(child: int) -> str:
    try:
        command = Path(f"/proc/{child}/cmdline").read_bytes().replace(b"\0", b" ").decode().strip()
    except FileNotFoundError:
        command = ""
    return f"child process {child} ({command or 'ended, but nobody waited for it'})"


def _describe_descriptor(number: int, target: str) -> str:
    if target.startswith("socket:"):
        try:
            with socket.socket(fileno=os.dup(number)) as duplicate:
                return f"socket {number} ({duplicate.family.name} {_ends(duplicate)})"
        except OSError as error:
            return f"socket {number} ({error})"
    return f"file descriptor {number} ({target})"


def _ends(connection: socket.socket) -> str:
    try:
        return f"{connection.getsockname()} to {connection.getpeername()}"
    except OSError:
        return f"{connection.getsockname()}, not connected"
