"""Namespaces and a root file system for a process that is about to become a container.

Runs in a forked child, between the fork and the command: it blocks, and nothing of the parent may
be used.

::

    /                 a file system in memory, read-only in the end
    /usr /etc …       paths of the machine that are shared, read-only unless said otherwise
    /proc             of the container's own processes; what concerns the machine is masked
    /dev              null, zero, full, random, urandom, tty, a pts and an shm of its own
    /tmp, /var/tmp    the container's scratch folder, on disk
    volumes           at their mount paths

Mounts are made with the calls of Linux 5.12 (``open_tree``, ``mount_setattr``, ``move_mount``): a
copy of a mount is made from a descriptor, gets its flags while nobody sees it, and is then put in
its place, so that nothing can be swapped for a link in between.

Upstream: runc's libcontainer/rootfs_linux.go
"""

from __future__ import annotations

import ctypes
import os
import socket
import stat
from typing import Final

from reflet.processes.container_plan import BindMount, ContainerRoot
from reflet.processes.isolated_start import (
    CLONE_NEWNS,
    CLONE_NEWUSER,
    LIBC,
    MNT_DETACH,
    MS_PRIVATE,
    MS_REC,
    Failure,
    MountPoints,
    check,
    mount,
)
from reflet.processes.process_table import PR_SET_DUMPABLE, refuse_inspection
from reflet.processes.program import system_words
from reflet.runtime.no_follow import LOOK, open_beneath
from reflet.runtime.platforms import HERE

CLONE_NEWUTS: Final = 0x04000000
CLONE_NEWIPC: Final = 0x08000000
CLONE_NEWPID: Final = 0x20000000
OWN: Final = CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWPID

MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_MOVE = 2, 4, 8, 8192
MS_PRIVATE_ALL: Final = MS_PRIVATE | MS_REC

# The same numbers on every architecture: these calls came after the tables were unified.
SYS_OPEN_TREE: Final = 428
SYS_MOVE_MOUNT: Final = 429
SYS_MOUNT_SETATTR: Final = 442
OPEN_TREE_CLONE: Final = 1
MOVE_MOUNT_F_EMPTY_PATH: Final = 4
AT_FDCWD: Final = -100
AT_EMPTY_PATH: Final = 0x1000
AT_RECURSIVE: Final = 0x8000
ATTR_RDONLY, ATTR_NOSUID, ATTR_NODEV = 1, 2, 4

TMP: Final = "/tmp"  # noqa: S108 - the container's own

DEVICES: Final = ("null", "zero", "full", "random", "urandom", "tty")
LINKS: Final = (
    ("/proc/self/fd", "/dev/fd"),
    ("/proc/self/fd/0", "/dev/stdin"),
    ("/proc/self/fd/1", "/dev/stdout"),
    ("/proc/self/fd/2", "/dev/stderr"),
    ("pts/ptmx", "/dev/ptmx"),
)
MASKED: Final = (
    *("/proc/acpi", "/proc/asound", "/proc/interrupts", "/proc/kcore", "/proc/keys"),
    *("/proc/latency_stats", "/proc/sched_debug", "/proc/scsi", "/proc/timer_list"),
    "/proc/timer_stats",
)
"""What container runtimes hide of /proc: it tells of the machine, or of its memory."""
LOCKED: Final = ("/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger")
"""What they make read-only: settings of the machine."""

_SHARED_MEMORY: Final = "mode=1777,size=64m"  # as container runtimes have it


class _MountAttributes(ctypes.Structure):
    _fields_ = (
        ("attr_set", ctypes.c_uint64),
        ("attr_clr", ctypes.c_uint64),
        ("propagation", ctypes.c_uint64),
        ("userns_fd", ctypes.c_uint64),
    )


def leave_namespaces() -> None:
    """Have namespaces of our own, of which the next child is the first process.

    Whoever is not root gets a user namespace with them, in which its own number is the only one.
    """
    user, group = os.geteuid(), os.getegid()
    try:
        if user == 0:
            check(LIBC.unshare(OWN))
            return
        check(LIBC.unshare(OWN | CLONE_NEWUSER))
        LIBC.prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)  # else the maps are root's, and not ours to write
        for name, text in (
            ("setgroups", "deny"),
            ("uid_map", f"{user} {user} 1"),
            ("gid_map", f"{group} {group} 1"),
        ):
            _write(f"/proc/self/{name}", text)
    except OSError as error:
        raise Failure(f"no namespaces can be had here: {system_words(error)}") from error


def join_namespaces(pid: int) -> None:
    """Go where another process is, of which the next child then is a neighbour."""
    flags = OWN if os.geteuid() == 0 else OWN | CLONE_NEWUSER
    if not hasattr(os, "pidfd_open"):
        raise Failure("a container with namespaces can be entered on Linux only")
    target = os.pidfd_open(pid)
    try:
        check(LIBC.setns(target, flags))
    except OSError as error:
        raise Failure(f"the container cannot be entered: {system_words(error)}") from error
    finally:
        os.close(target)


def hide() -> None:
    """Close our memory and our descriptors to whoever is in the same container.

    Until it becomes the command this process has the agent's files open, and runs a program of
    the machine that root in the container could otherwise write to through ``/proc/PID/exe``.
    """
    if HERE.namespaces and not refuse_inspection():
        raise Failure("the process cannot be closed to others in the container")


def enter_root(root: ContainerRoot, directory: str) -> None:
    """Put the root file system together and have nothing else; *directory* is where it begins."""
    socket.sethostname(root.host_name)
    mount(None, "/", None, MS_PRIVATE_ALL)
    paths = [path for path, _ in root.shared]
    shared = [(path, _copied_path(path, writable, paths)) for path, writable in root.shared]
    volumes = [(each, _copied_volume(each)) for each in _outer_first(root.mounts)]
    scratch = copied(os.open(root.scratch, LOOK), read_only=False)
    devices = [(f"/dev/{name}", _device(f"/dev/{name}")) for name in DEVICES]
    _new_root(root.staging)
    os.umask(0o022)
    for name in ("dev", "tmp", "var", "run"):
        os.mkdir(f"/{name}")  # noqa: PTH102 - plain calls, as everywhere here
    place(scratch, TMP)  # before what is shared, which may lie below it
    for path, what in shared:
        _share(path, what)
    _fill_dev(devices)
    if not os.path.lexists("/var/tmp"):  # noqa: S108 - as above
        os.symlink(TMP, "/var/tmp")  # noqa: PTH211, S108 - as above
    own = {os.stat(path).st_dev for path in ("/", "/dev")}  # noqa: PTH116 - as above
    _make_directory(directory, own)
    points = MountPoints(devices=own)
    points.fill(TMP)
    for volume, copy in volumes:
        _place_volume(points, volume, copy)
    _mask()
    if root.read_only and not any(each.path == TMP for each in root.mounts):
        _set_flags(AT_FDCWD, TMP, ATTR_RDONLY)
    for path in ("/", "/dev", *points.covers):
        _set_flags(AT_FDCWD, path, ATTR_RDONLY)


# Copies of mounts


def copied(descriptor: int, *, read_only: bool, keeps_devices: bool = False) -> int:
    """A copy of what a descriptor shows, mounts below it included, that nobody sees yet."""
    copy = LIBC.syscall(
        ctypes.c_long(SYS_OPEN_TREE),
        descriptor,
        b"",
        AT_EMPTY_PATH | AT_RECURSIVE | OPEN_TREE_CLONE | os.O_CLOEXEC,
    )
    if copy < 0:
        check(-1)
    flags = ATTR_NOSUID | (0 if keeps_devices else ATTR_NODEV) | (ATTR_RDONLY if read_only else 0)
    _set_flags(copy, "", flags, AT_EMPTY_PATH | AT_RECURSIVE)
    os.close(descriptor)
    return int(copy)


def place(copy: int, path: str) -> None:
    """Put a copy where it is to be seen."""
    check(
        LIBC.syscall(
            ctypes.c_long(SYS_MOVE_MOUNT),
            copy,
            b"",
            AT_FDCWD,
            os.fsencode(path),
            MOVE_MOUNT_F_EMPTY_PATH,
        ),
        path,
    )
    os.close(copy)


def _set_flags(folder: int, path: str, flags: int, how: int = 0) -> None:
    wanted = _MountAttributes(attr_set=flags)
    check(
        LIBC.syscall(
            ctypes.c_long(SYS_MOUNT_SETATTR),
            folder,
            os.fsencode(path),
            how,
            ctypes.byref(wanted),
            ctypes.c_size_t(ctypes.sizeof(wanted)),
        ),
        path,
    )


def _copied_path(path: str, writable: bool, shared: list[str]) -> str | tuple[int, bool]:
    """A shared path: a copy, or the link that it is, as /bin often is, into another one.

    A link to elsewhere, as /etc/resolv.conf often is, is shown as what it leads to.
    """
    real = os.path.realpath(path)
    if real != path and any(f"{real}/".startswith(f"{each}/") for each in shared):
        return os.readlink(path)  # noqa: PTH115 - as above
    descriptor = os.open(real, LOOK)
    is_folder = stat.S_ISDIR(os.fstat(descriptor).st_mode)
    return copied(descriptor, read_only=not writable), is_folder


def _copied_volume(volume: BindMount) -> tuple[int, bool]:
    try:
        folder = os.open(volume.folder, LOOK)
        descriptor = open_beneath(folder, volume.beneath)
        os.close(folder)
        is_folder = stat.S_ISDIR(os.fstat(descriptor).st_mode)
        return copied(descriptor, read_only=volume.read_only), is_folder
    except OSError as error:
        # The part beneath the volume may be made from a Secret.
        raise Failure(
            f"the mount at {volume.path} cannot be made: {system_words(error)}"
        ) from error


def _device(path: str) -> int:
    return copied(os.open(path, LOOK), read_only=False, keeps_devices=True)


# The new root


def _new_root(staging: str) -> None:
    mount("tmpfs", staging, "tmpfs", MS_NOSUID | MS_NODEV, "mode=755,size=8m")
    os.chdir(staging)
    os.mkdir("proc")  # noqa: PTH102 - as above
    # While the machine's own is in sight: who may not see all of that, gets no other.
    mount("proc", "proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC)
    if LIBC.pivot_root(b".", b".") == 0:
        check(LIBC.umount2(b".", MNT_DETACH))
    else:
        # The first file system of a machine cannot be left that way, only covered.
        mount(".", "/", None, MS_MOVE)
        os.chroot(".")
    os.chdir("/")


def _share(path: str, what: str | tuple[int, bool]) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)  # noqa: PTH103, PTH120 - as above
    if isinstance(what, str):
        os.symlink(what, path)  # noqa: PTH211 - as above
        return
    copy, is_folder = what
    _make(path, is_folder=is_folder)
    place(copy, path)


def _fill_dev(devices: list[tuple[str, int]]) -> None:
    mount("tmpfs", "/dev", "tmpfs", MS_NOSUID, "mode=755,size=1m")
    for path, copy in devices:
        _make(path, is_folder=False)
        place(copy, path)
    for target, path in LINKS:
        os.symlink(target, path)  # noqa: PTH211 - as above
    for name in ("pts", "shm"):
        os.mkdir(f"/dev/{name}")  # noqa: PTH102 - as above
    mount("devpts", "/dev/pts", "devpts", MS_NOSUID | MS_NOEXEC, "newinstance,ptmxmode=0666")
    mount("shm", "/dev/shm", "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, _SHARED_MEMORY)  # noqa: S108 - as above


def _place_volume(points: MountPoints, volume: BindMount, copy: tuple[int, bool]) -> None:
    descriptor, is_folder = copy
    try:
        point = points.point(volume.path, is_folder=is_folder)
        place(descriptor, point)
    except OSError as error:
        raise Failure(
            f"the mount at {volume.path} cannot be made: {system_words(error)}"
        ) from error
    points.fill(point)


def _make_directory(directory: str, own: set[int]) -> None:
    """Make a working folder that is missing, as runc does; but not in what is shared."""
    above = real = os.path.realpath(f"/{directory}")
    while not os.path.lexists(above):
        above = os.path.dirname(above)  # noqa: PTH120 - as above
    if os.stat(above).st_dev in own and os.path.isdir(above):  # noqa: PTH112, PTH116 - as above
        os.makedirs(real, exist_ok=True)  # noqa: PTH103 - as above


def _mask() -> None:
    for path in MASKED:
        if not os.path.lexists(path):
            continue
        if os.path.isdir(path):  # noqa: PTH112 - as above
            mount("tmpfs", path, "tmpfs", MS_NOSUID | MS_NODEV, "mode=555,size=0")
            _set_flags(AT_FDCWD, path, ATTR_RDONLY)
        else:
            place(copied(os.open("/dev/null", LOOK), read_only=True, keeps_devices=True), path)
    for path in LOCKED:
        if os.path.lexists(path):
            place(copied(os.open(path, LOOK), read_only=True), path)


def _make(path: str, *, is_folder: bool) -> None:
    if is_folder:
        os.makedirs(path, exist_ok=True)  # noqa: PTH103 - as above
    else:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o644))


def _outer_first(mounts: tuple[BindMount, ...]) -> list[BindMount]:
    return sorted(mounts, key=lambda each: each.path.count("/"))


def _write(path: str, text: str) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(descriptor, text.encode())
    finally:
        os.close(descriptor)
