"""From a plan to the first process of a container.

Nothing runs that is not on record: the child is ready to become the command, and waits for leave to
do so until its number was noted.  A parent that is killed meanwhile gives none, and the child ends.

::

    parent            child                          grandchild, in its own namespaces
    fork         ──▶  leave or join namespaces
                      fork                      ──▶  root file system, user, working folder
                 ◀──  pid 4711, ends
                 ◀─────────────────────────────────  ready
    notes 4711
                 ─────────────────────────────────▶  go
                 ◀──  nothing, the end               becomes the command

A plain process has no second fork.  The fork is why whoever uses this has one thread only: a child
that another thread's lock was copied into would wait for it for ever.

Upstream: runc's libcontainer/init_linux.go and nsenter
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import errno
import fcntl
import gc
import os
import resource
import signal
import socket
import termios
from collections.abc import Callable
from signal import SIGKILL
from typing import Final, NoReturn

from reflet.processes import container_root
from reflet.processes.container_plan import ContainerPlan
from reflet.processes.isolated_start import LIBC, Failure, become, check
from reflet.processes.process_table import ProcessIdentity
from reflet.processes.program import OUR_FAILURE, NotStarted, Program, system_words

READY_TIMEOUT: Final = 30.0
"""Seconds for everything before the command: a volume may lie on a slow disk."""

UMASK: Final = 0o022
PR_CAPBSET_DROP: Final = 24
PR_SET_NO_NEW_PRIVS: Final = 38
LAST_CAPABILITY: Final = 63
CAPABILITY_VERSION: Final = 0x20080522
LONGEST_WORDS: Final = 4096  # bytes

PID, READY, GO, FAILED, LACKS = b"pid", b"ready", b"go", b"failed", b"lacks"

_PASSING: Final = frozenset(
    {errno.EAGAIN, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOSPC, errno.EDQUOT}
)


class OutOfResources(NotStarted):
    """A container could not be started for want of something that may be there again soon."""


async def start_container(
    plan: ContainerPlan, note: Callable[[ProcessIdentity], None]
) -> ProcessIdentity:
    """Start a container's process, whose parent is then this process.

    Raises ``NotStarted``, ``OutOfResources`` where trying again may help, and OSError.

    *note* is called when everything is ready but the command does not run yet.  For a plan with
    namespaces, this process must be the heir of orphans (``become_reaper``).
    """
    Program(plan.arguments, plan.environment).check()
    ours, theirs = socket.socketpair()
    with ours:
        ours.setblocking(False)
        with theirs:
            pids = [_fork(plan, theirs, ours)]
        words = _Words(ours)
        try:
            async with asyncio.timeout(READY_TIMEOUT):
                identity = await _ready(plan, pids, words)
                note(identity)
                await words.say(GO)
                await words.end()
        except BaseException as error:
            # The child may have ended and told of the grandchild without being heard.
            for pid in {pids[-1], *words.untold_pids()}:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, SIGKILL)
            if isinstance(error, TimeoutError):
                raise OutOfResources(
                    f"the container was not ready within {READY_TIMEOUT:.0f} seconds",
                    exit_code=OUR_FAILURE,
                ) from None
            raise
    return identity


class _Words:
    """What the child says, line by line; a line that tells of a failure is raised."""

    def __init__(self, line: socket.socket) -> None:
        self._line = line
        self._heard = b""

    async def next(self) -> bytes:
        loop = asyncio.get_running_loop()
        while b"\n" not in self._heard:
            try:
                more = await loop.sock_recv(self._line, LONGEST_WORDS)
            except ConnectionError:
                more = b""
            if not more:
                return b""
            self._heard += more
        said, _, self._heard = self._heard.partition(b"\n")
        kind, _, rest = said.partition(b" ")
        if kind in {FAILED, LACKS}:
            code, _, message = rest.decode(errors="replace").partition(" ")
            failure = OutOfResources if kind == LACKS else NotStarted
            raise failure(message, exit_code=int(code))
        return said

    def untold_pids(self) -> list[int]:
        """The numbers of processes that were told and not taken yet, without waiting for more."""
        with contextlib.suppress(OSError):
            self._heard += self._line.recv(LONGEST_WORDS)
        lines = [line.partition(b" ") for line in self._heard.splitlines()]
        return [int(number) for kind, _, number in lines if kind == PID]

    async def say(self, word: bytes) -> None:
        await asyncio.get_running_loop().sock_sendall(self._line, word)

    async def end(self) -> None:
        while await self.next():
            pass


async def _ready(plan: ContainerPlan, pids: list[int], words: _Words) -> ProcessIdentity:
    """Wait until the process is ready whose number is then the last of *pids*.

    The child and the grandchild run side by side, so that either may be heard first.
    """
    forks_twice, is_ready = plan.root is not None or plan.joins is not None, False
    while not is_ready or (forks_twice and len(pids) == 1):
        kind, _, number = (await words.next()).partition(b" ")
        if kind == READY:
            is_ready = True
        elif kind == PID:
            os.waitpid(pids[0], 0)  # noqa: ASYNC222 - it ends right after its word
            pids.append(int(number))
        else:
            break
    identity = ProcessIdentity.of(pids[-1]) if is_ready else None
    if identity is None:
        raise OutOfResources("the container's process ended too early", exit_code=OUR_FAILURE)
    return identity


# In the child


def _fork(plan: ContainerPlan, line: socket.socket, parents: socket.socket) -> int:
    # A signal must not run the parent's handlers in the child.
    before = signal.pthread_sigmask(signal.SIG_SETMASK, signal.valid_signals())
    try:
        pid = os.fork()
        if pid == 0:
            _child(plan, line, parents)
        return pid
    finally:  # also where there can be no more processes: a shim must not grow deaf for that
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _child(plan: ContainerPlan, line: socket.socket, parents: socket.socket) -> NoReturn:
    code = OUR_FAILURE
    try:
        gc.disable()  # what the parent has is not ours to clean up
        parents.close()  # else we would never hear that the parent is gone
        _run(plan, line)
    except Failure as failure:
        code = failure.code
        _tell(line, failure.__cause__, code, str(failure))
    except OSError as error:
        _tell(line, error, code, f"the container cannot be set up: {system_words(error)}")
    except BaseException as error:  # noqa: BLE001 - nothing of the parent's stack may go on here
        _tell(line, error, code, f"the container cannot be set up: {type(error).__name__}")
    finally:
        os._exit(code)


def _run(plan: ContainerPlan, line: socket.socket) -> None:
    for kind, soft, hard in plan.limits:
        resource.setrlimit(kind, (soft, hard))  # first: ours may be too small for what follows
    _forget_handlers()
    line.setblocking(True)
    if plan.root is not None:
        container_root.leave_namespaces()
    elif plan.joins is not None:
        container_root.hide()
        container_root.join_namespaces(plan.joins)
    if plan.root is not None or plan.joins is not None:
        pid = os.fork()
        if pid:
            _announce(line, pid)
            os._exit(0)
    container_root.hide()
    os.setsid()
    if plan.root is not None:
        container_root.enter_root(plan.root, plan.directory)
    _drop_privileges(plan)
    _enter(plan.directory)
    os.umask(UMASK)
    line.sendall(READY + b"\n")
    if line.recv(len(GO)) != GO:
        os._exit(OUR_FAILURE)  # whoever would have kept us is gone
    _become(plan)


def _announce(line: socket.socket, pid: int) -> None:
    line.sendall(PID + f" {pid}\n".encode())


def _tell(line: socket.socket, cause: BaseException | None, code: int, message: str) -> None:
    passes = isinstance(cause, MemoryError) or (
        isinstance(cause, OSError) and cause.errno in _PASSING
    )
    with contextlib.suppress(OSError):
        said = f"{code} {message}".replace("\n", " ").encode(errors="replace")
        line.sendall((LACKS if passes else FAILED) + b" " + said[:LONGEST_WORDS] + b"\n")


def _forget_handlers() -> None:
    signal.set_wakeup_fd(-1)
    for number in signal.valid_signals():
        if signal.getsignal(number) not in {signal.SIG_DFL, None}:
            signal.signal(number, signal.SIG_DFL)


def _drop_privileges(plan: ContainerPlan) -> None:
    if plan.capabilities is not None and hasattr(LIBC, "prctl"):
        for number in range(LAST_CAPABILITY + 1):
            if number not in plan.capabilities:
                LIBC.prctl(PR_CAPBSET_DROP, number, 0, 0, 0)  # one that this kernel has not, fails
    if os.geteuid() == 0 and (plan.groups, plan.group, plan.user) != (None, None, None):
        os.setgroups(plan.groups or ())  # others than root have theirs, and cannot have others
    # Root gives away the saved numbers with these, too.
    if plan.group is not None:
        os.setgid(plan.group)
    if plan.user is not None:
        os.setuid(plan.user)
    if hasattr(LIBC, "prctl"):  # what only Linux has to take away
        if os.geteuid() != 0:
            _drop_capabilities()  # those of a user namespace are not the command's
        check(LIBC.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))


def _drop_capabilities() -> None:
    header = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION, 0)
    check(LIBC.capset(header, (ctypes.c_uint32 * 6)()))


def _enter(directory: str) -> None:
    """Go to the working folder, by now as whoever the command runs as.

    What the system says is kept to ourselves: it would tell what is there from what is not.
    """
    try:
        os.chdir(directory or "/")
    except OSError as error:
        raise Failure("workingDir cannot be entered by the container's user") from error


def _become(plan: ContainerPlan) -> None:
    program = Program(plan.arguments, plan.environment)
    arguments, environment = program.encoded_arguments(), program.encoded_environment()
    for number, stream in enumerate(_above(plan.streams)):
        os.dup2(stream, number)
    if plan.has_terminal:
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)  # of the session that we lead
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    become(arguments, environment)


def _above(streams: tuple[int, int, int]) -> list[int]:
    """The same streams at numbers that are in nobody's way."""
    return [os.dup(stream) if stream < len(streams) else stream for stream in streams]
