"""Containers as the kernel makes them: real namespaces, real processes, as root and as a user."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import errno
import os
import signal
import socket
import sys
import tempfile
import time
import traceback
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from reflet.node.shim.log_pumps import CommandOutput
from reflet.processes import container_start
from reflet.processes.child import Child
from reflet.processes.container_plan import CAPABILITIES, BindMount, ContainerPlan, ContainerRoot
from reflet.processes.container_start import OutOfResources, start_container
from reflet.processes.isolated_start import Failure
from reflet.processes.isolation_check import why_not_isolated
from reflet.processes.process_table import ProcessIdentity, process_entries
from reflet.processes.program import NotStarted
from reflet.processes.reaping import PR_SET_CHILD_SUBREAPER, become_reaper
from tests.other_users import NOBODY, needs_root, reachable_folder
from tests.sleepers import own_time, sleepers

PATH = "/usr/local/bin:/usr/bin:/bin"
SHARED = tuple(
    (path, False)
    for path in ("/usr", "/bin", "/lib", "/lib64", "/etc/passwd", "/etc/ld.so.cache")
    if os.path.lexists(path)
)
MOST = 64 * 1024

WHY_NOT = why_not_isolated()
pytestmark = pytest.mark.skipif(
    WHY_NOT is not None, reason=f"containers cannot be isolated here: {WHY_NOT}"
)


@pytest.fixture(autouse=True)
def _heir() -> Iterator[None]:
    """A container's process is left to us: here only as long as a test lasts."""
    before = own_children()
    become_reaper()
    yield
    # What failed is left to the reaper, which is not here; and it may leave us its own children.
    while left := own_children() - before:
        for pid in left:
            # Also what does not end by itself: a test that failed must not hold up all others.
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)


def own_children() -> set[int]:
    """Also of those that just end: the kernel's own list of children leaves some out then."""
    return {each.pid for each in process_entries() if each.parent == os.getpid()}


@dataclass
class Place:
    """A folder with all that a container needs on disk."""

    folder: Path

    def __post_init__(self) -> None:
        for name in ("staging", "scratch", "volume", "config"):
            (self.folder / name).mkdir()
        (self.folder / "scratch").chmod(0o1777)
        (self.folder / "volume").chmod(0o777)
        (self.folder / "config" / "app.conf").write_text("hello")

    def root(self, **changes: Any) -> ContainerRoot:
        folder = self.folder
        whole = ContainerRoot(
            host_name="web",
            staging=str(folder / "staging"),
            scratch=str(folder / "scratch"),
            shared=SHARED,
            mounts=(
                BindMount(folder=str(folder / "volume"), path="/data", read_only=False),
                BindMount(folder=str(folder / "config"), path="/etc/app"),
            ),
        )
        return replace(whole, **changes)


def planned(script: str, streams: tuple[int, int, int], **changes: Any) -> ContainerPlan:
    plan = ContainerPlan(
        arguments=("sh", "-c", script), environment={"PATH": PATH, "ONLY": "this"}, streams=streams
    )
    return replace(plan, **changes)


async def said(script: str, root: ContainerRoot | None, **changes: Any) -> tuple[str, int]:
    """What a container says, and how it ends."""
    nothing = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
    try:
        with CommandOutput(MOST) as output:
            plan = planned(script, (nothing, output.end, output.end), root=root, **changes)
            identity = await start_container(plan, lambda _: None)
            child = Child(identity, is_init=root is not None)
            ending = await child.wait()
            return output.text(), ending.exit_code
    finally:
        os.close(nothing)


def as_user(act: Callable[[], Awaitable[object]], folder: Path) -> str:
    """Do something in a child that is nobody, and return what went wrong there."""
    for each in (folder, *folder.rglob("*")):
        os.chown(each, NOBODY, NOBODY)
    ours, theirs = socket.socketpair()
    with ours, theirs:
        pid = os.fork()
        if pid == 0:
            try:
                os.setgroups(())
                os.setresgid(NOBODY, NOBODY, NOBODY)
                os.setresuid(NOBODY, NOBODY, NOBODY)
                become_reaper()

                async def run() -> None:
                    await act()

                asyncio.new_event_loop().run_until_complete(run())
            except BaseException:  # noqa: BLE001 - the other process tells it
                theirs.sendall(traceback.format_exc().encode())
            finally:
                os._exit(0)
        theirs.close()
        os.waitpid(pid, 0)
        return ours.recv(MOST).decode()


LOOK = """
id -u; hostname; cat /etc/app/app.conf; echo; echo written > /data/file; echo x > /tmp/x && echo tmp
for path in /usr /etc /etc/app / /dev; do touch $path/x 2>/dev/null && echo "wrote to $path"; done
echo /proc/[0-9]*; echo again > /dev/stdout; pwd; echo "$ONLY"
for path in /root /home /var/lib /sys /etc/shadow; do test -e $path && echo "sees $path"; done
grep -c . /proc/keys; exit 7
"""
SEEN = "web\nhello\ntmp\n/proc/1\nagain\n/\nthis\n0\n"


async def test_a_container_sees_its_volumes_and_what_is_shared_and_nothing_else(
    tmp_path: Path,
) -> None:
    place = Place(tmp_path)

    words, code = await said(LOOK, place.root())

    # The processes that the shell starts to look are in /proc, too.
    assert (words, code) == (f"{os.geteuid()}\n{SEEN}", 7)
    assert (tmp_path / "volume/file").read_text() == "written\n"
    assert (tmp_path / "scratch/x").exists()
    assert not list((tmp_path / "staging").iterdir())


@needs_root
def test_the_same_in_a_user_namespace() -> None:
    with reachable_folder("place") as folder:
        place = Place(folder)

        async def look() -> None:
            words, code = await said(LOOK, place.root())
            assert (words, code) == (f"{NOBODY}\n{SEEN}", 7)

        assert as_user(look, folder) == ""


@needs_root
async def test_a_user_and_groups_are_given_and_nothing_is_kept(tmp_path: Path) -> None:
    script = "id -u; id -g; id -G; grep -E '^(CapEff|CapPrm|NoNewPrivs)' /proc/self/status"

    words, _ = await said(
        script, Place(tmp_path).root(), user=NOBODY, group=NOBODY, groups=(NOBODY, 4711)
    )

    assert words.split() == [
        *(str(NOBODY), str(NOBODY), str(NOBODY), "4711"),
        *("CapPrm:", "0" * 16, "CapEff:", "0" * 16, "NoNewPrivs:", "1"),
    ]


@needs_root
async def test_root_in_a_container_has_what_runtimes_give_it(tmp_path: Path) -> None:
    script = "grep CapEff /proc/self/status; mount -o remount,rw / 2>/dev/null || echo refused"
    kept = tuple(CAPABILITIES.values())

    words, _ = await said(script, Place(tmp_path).root(), capabilities=kept)

    mask = sum(1 << number for number in kept)
    assert words.split() == ["CapEff:", f"{mask:016x}", "refused"]


async def test_everything_ends_with_the_first_process(tmp_path: Path) -> None:
    seconds = own_time()
    stray = f"setsid env -i sh -c 'echo > /data/here; exec sleep {seconds}'"
    script = f"{stray} & while ! test -e /data/here; do :; done"

    await said(script, Place(tmp_path).root())

    assert sleepers(seconds) == []


async def test_a_link_beneath_a_volume_is_not_followed_and_not_told(tmp_path: Path) -> None:
    place = Place(tmp_path)
    (tmp_path / "volume" / "s3cret").symlink_to("/etc")
    mount = BindMount(folder=str(tmp_path / "volume"), beneath="s3cret", path="/x")

    with pytest.raises(NotStarted) as refused:
        await said("true", place.root(mounts=(mount,)))

    assert str(refused.value) == "the mount at /x cannot be made: too many levels of symbolic links"
    assert "s3cret" not in repr(mount)


async def test_a_mount_may_lie_in_another(tmp_path: Path) -> None:
    place = Place(tmp_path)
    mounts = (
        BindMount(folder=str(tmp_path / "config"), path="/data/conf"),
        BindMount(folder=str(tmp_path / "volume"), path="/data", read_only=False),
        BindMount(folder=str(tmp_path / "config/app.conf"), path="/usr/share/one.conf"),
    )

    words, _ = await said("cat /data/conf/app.conf /usr/share/one.conf", place.root(mounts=mounts))

    assert words == "hellohello"


async def test_what_lies_below_tmp_is_seen_there(tmp_path: Path) -> None:
    below = tmp_path if str(tmp_path).startswith("/tmp/") else Path(tempfile.mkdtemp(dir="/tmp"))
    (below / "shared").mkdir()
    (below / "shared" / "file").write_text("shared ")
    root = Place(tmp_path).root(
        shared=(*SHARED, (f"{below}/shared", False)),
        mounts=(BindMount(folder=str(tmp_path / "config"), path="/tmp/deep/conf"),),
    )

    words, _ = await said(f"cat {below}/shared/file /tmp/deep/conf/app.conf; touch /tmp/x", root)

    assert words == "shared hello"
    assert (tmp_path / "scratch/x").exists()


async def test_a_read_only_root_has_no_scratch(tmp_path: Path) -> None:
    words, _ = await said(
        "touch /tmp/x 2>/dev/null || echo no", Place(tmp_path).root(read_only=True)
    )

    assert words == "no\n"


@pytest.mark.parametrize("isolated", [True, False])
@pytest.mark.parametrize(
    ("changes", "message", "code"),
    [
        ({"arguments": ("no-such-command",)}, "the command is not found", 127),
        ({"arguments": ("/etc/passwd",)}, "the command cannot be run: permission denied", 126),
        ({"directory": "/etc/passwd"}, "workingDir cannot be entered by the container", 125),
        ({"directory": "/proc/no/such"}, "workingDir cannot be entered by the container", 125),
    ],
)
async def test_what_cannot_be_started_is_told(
    tmp_path: Path, isolated: bool, changes: dict[str, Any], message: str, code: int
) -> None:
    root = Place(tmp_path).root() if isolated else None
    plan = planned("true", (0, 1, 2), **({"directory": "/", "root": root} | changes))

    with pytest.raises(NotStarted, match=message) as refused:
        await start_container(plan, lambda _: None)

    assert refused.value.exit_code == code


async def test_a_working_folder_that_is_missing_is_made(tmp_path: Path) -> None:
    words, _ = await said("pwd", Place(tmp_path).root(), directory="/srv/app")

    assert words == "/srv/app\n"


@needs_root
async def test_a_working_folder_is_entered_as_the_user_of_the_container(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    (closed / "inner").mkdir(parents=True)
    closed.chmod(0o700)

    with pytest.raises(NotStarted, match="workingDir cannot be entered by the container's user"):
        await said("true", None, directory=str(closed / "inner"), user=NOBODY, group=NOBODY)


@pytest.mark.parametrize("isolated", [True, False])
async def test_nothing_runs_before_it_is_on_record(tmp_path: Path, isolated: bool) -> None:
    place = Place(tmp_path)
    ran = tmp_path / "volume" / "ran"
    script = "echo > /data/ran" if isolated else f"echo > {ran}"

    def note(identity: ProcessIdentity) -> None:
        assert identity.is_running()
        assert not ran.exists()
        raise OSError(28, "No space left on device")

    plan = planned(script, (0, 1, 2), root=place.root() if isolated else None)
    with pytest.raises(OSError, match="No space left"):
        await start_container(plan, note)

    assert not ran.exists()


async def test_another_process_joins_a_container(tmp_path: Path) -> None:
    place = Place(tmp_path)
    plan = planned("exec sleep 60", (0, 1, 2), root=place.root())
    first = await start_container(plan, lambda _: None)
    child = Child(first, is_init=True)

    words, code = await said(
        "hostname; cat /etc/app/app.conf /proc/1/comm; exit 5", None, joins=first.pid
    )
    ending = await child.end(30)

    assert (words, code) == ("web\nhellosleep\n", 5)
    # sleep does not say what SIGTERM means to it, and the kernel spares the first process.
    assert ending.exit_code == 128 + signal.SIGTERM


async def test_the_first_process_stands_still_while_the_others_end_well(tmp_path: Path) -> None:
    inner = (
        "trap 'echo well >> /data/end; go=1' TERM; echo > /data/up; "
        "while test -z $go; do sleep 0.01; done; for i in 1 2 3 4 5 6 7 8; do sleep 0.02; done"
    )
    script = f"sh -c '{inner.replace(chr(39), chr(34))}'; echo > /data/after"
    plan = planned(script, (0, 1, 2), root=Place(tmp_path).root())
    child = Child(await start_container(plan, lambda _: None), is_init=True)
    while not (tmp_path / "volume/up").exists():  # noqa: ASYNC110 - of another process
        await asyncio.sleep(0.01)

    ending = await child.end(30)

    assert (tmp_path / "volume/end").read_text() == "well\n", "it is asked once"
    assert not (tmp_path / "volume/after").exists()
    assert ending.exit_code == 128 + signal.SIGTERM


HOLDS_IT_BACK = """
import signal, time
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
open("/data/up", "w").close()
while signal.SIGTERM not in signal.sigpending():
    time.sleep(0.01)
time.sleep(0.1)  # another look or two
signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
time.sleep(1000)
"""


async def test_a_first_process_may_hold_the_signal_back_for_a_moment(tmp_path: Path) -> None:
    python = sys.base_prefix  # which may be anywhere
    root = Place(tmp_path).root(shared=(*SHARED, (python, False)))
    arguments = (f"{python}/bin/python3", "-I", "-c", HOLDS_IT_BACK)
    plan = planned("", (0, 1, 2), root=root, arguments=arguments)
    child = Child(await start_container(plan, lambda _: None), is_init=True)
    while not (tmp_path / "volume/up").exists():  # noqa: ASYNC110 - of another process
        await asyncio.sleep(0.01)

    ending = await child.end(1000)

    assert ending.exit_code == 128 + signal.SIGTERM


async def test_a_container_that_is_never_ready_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(container_start, "READY_TIMEOUT", 0.05)
    monkeypatch.setattr(container_start, "_enter", lambda _: signal.pause())

    with pytest.raises(NotStarted, match="was not ready within"):
        await said("true", Place(tmp_path).root())


async def test_a_process_that_was_told_of_and_not_heard_is_given_up_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def deaf(words: container_start._Words) -> bytes:
        told = b""
        while container_start.PID not in told:
            await asyncio.sleep(0.001)
            with contextlib.suppress(BlockingIOError):
                told = words._line.recv(1000, socket.MSG_PEEK)
        raise TimeoutError

    monkeypatch.setattr(container_start, "_enter", lambda _: signal.pause())
    monkeypatch.setattr(container_start._Words, "next", deaf)

    with pytest.raises(NotStarted, match="was not ready within"):
        await said("true", Place(tmp_path).root())


async def test_what_may_be_there_again_is_told_from_what_is_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lacks(_: str) -> None:
        raise Failure("no room") from OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(container_start, "_enter", lacks)

    with pytest.raises(OutOfResources, match="no room"):
        await said("true", Place(tmp_path).root())


async def test_a_container_may_be_ready_before_its_number_is_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    announce = container_start._announce

    def late(line: socket.socket, pid: int) -> None:
        time.sleep(0.3)  # in a process of its own, while the container gets ready
        announce(line, pid)

    monkeypatch.setattr(container_start, "_announce", late)

    assert await said("echo hello", Place(tmp_path).root()) == ("hello\n", 0)


async def test_a_fork_that_fails_leaves_signals_as_they_were(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails() -> int:
        raise BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable")

    monkeypatch.setattr(os, "fork", fails)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ())

    with pytest.raises(BlockingIOError):
        await start_container(planned("true", (0, 1, 2)), lambda _: None)

    assert signal.pthread_sigmask(signal.SIG_BLOCK, ()) == before
