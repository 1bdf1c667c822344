"""Python as it is on other systems: what CPython does not have there is taken away.

An imitation, not a Mac and not Windows: the kernel, the C library and the file system stay those of
Linux.  What it shows is that nothing is imported or called that would not be there.
"""

from __future__ import annotations

import ctypes
import importlib
import importlib.abc
import os
import platform
import select
import selectors
import signal
import socket
import sys
import time
import types
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any, Final

from tests.darwin_kernel import DarwinKernel

NOT_ON_MACOS: Final[dict[types.ModuleType, str]] = {
    os: """
        pidfd_open waitid waitid_result P_PID P_PGID P_ALL P_PIDFD WEXITED WNOWAIT WSTOPPED
        sched_getaffinity sched_setaffinity O_PATH O_TMPFILE O_DIRECT O_NOATIME O_LARGEFILE O_RSYNC
        memfd_create eventfd eventfd_read eventfd_write getxattr setxattr listxattr removexattr
        getrandom copy_file_range splice pipe2 posix_fallocate posix_fadvise fdatasync setns
        unshare setresuid getresuid setresgid getresgid preadv pwritev ST_NOEXEC ST_NODEV
        ST_NOATIME ST_RELATIME ST_SYNCHRONOUS
    """,
    socket: """
        TCP_KEEPIDLE TCP_USER_TIMEOUT TCP_QUICKACK TCP_CORK TCP_DEFER_ACCEPT TCP_INFO TCP_SYNCNT
        SO_PEERCRED SO_PASSCRED SO_BINDTODEVICE SO_MARK SO_DOMAIN SO_PROTOCOL MSG_NOSIGNAL
        MSG_CMSG_CLOEXEC AF_NETLINK AF_PACKET SOCK_CLOEXEC SOCK_NONBLOCK
    """,
    signal: "pidfd_send_signal SIGPWR SIGSTKFLT SIGRTMIN SIGRTMAX SIGPOLL sigtimedwait sigwaitinfo",
    select: "epoll",
    selectors: "EpollSelector",
    time: "CLOCK_BOOTTIME CLOCK_TAI",
}
NOT_IN_ITS_LIBRARY: Final = "prctl unshare setns pivot_root mount umount2 capset syscall clone"

NOT_ON_WINDOWS: Final[dict[types.ModuleType, str]] = {
    os: """
        fork forkpty geteuid getuid getegid getgid getgroups setuid setgid setgroups setsid getsid
        getpgid getpgrp setpgid killpg tcgetpgrp tcsetpgrp chown fchown lchown fchmod mkfifo
        statvfs fstatvfs O_NOFOLLOW O_NONBLOCK O_CLOEXEC O_DIRECTORY O_PATH O_SYNC pidfd_open
        waitid WNOHANG WUNTRACED WIFSIGNALED WTERMSIG sched_getaffinity memfd_create pipe2
        register_at_fork uname getloadavg openpty
    """,
    socket: "AF_UNIX socketpair TCP_INFO SO_PEERCRED",
    signal: """
        SIGHUP SIGKILL SIGSTOP SIGCONT SIGTSTP SIGQUIT SIGUSR1 SIGUSR2 SIGCHLD SIGPIPE SIGWINCH
        SIGTTOU SIGTTIN SIGALRM pthread_sigmask pidfd_send_signal siginterrupt setitimer
    """,
}
# The standard library and other people's, which know Windows: they ask here for what Linux has.
BEFORE_WINDOWS: Final = """
    asyncio aiohttp click concurrent.futures.thread h2.connection multiprocessing random ssl
    subprocess tempfile urllib.request yaml
"""
NO_MODULES_OF_WINDOWS: Final = "fcntl grp pwd pty resource termios tty syslog readline"


def imitate_macos(proc: str) -> None:
    """Be macOS from here on; *proc* is where Linux still tells of its processes."""
    _take_away(NOT_ON_MACOS)
    # Python 3.13 counts these by sched_getaffinity where there is one.
    os.process_cpu_count = os.cpu_count  # type: ignore[attr-defined, unused-ignore]
    selectors.DefaultSelector = selectors.PollSelector  # type: ignore[assignment, misc]
    # Numbers that Linux takes for the same.
    socket.TCP_KEEPALIVE, socket.TCP_CONNECTION_INFO = 4, 11  # type: ignore[attr-defined]
    _replace_library(DarwinKernel(Path(proc)))
    proxies: Any = types.ModuleType("_scproxy")
    proxies._get_proxy_settings = proxies._get_proxies = dict
    sys.modules["_scproxy"] = proxies
    _be("darwin", "Darwin")


def imitate_windows() -> None:
    """Be Windows from here on, as far as what is imported goes."""
    for name in BEFORE_WINDOWS.split():
        importlib.import_module(name)
    _take_away(NOT_ON_WINDOWS)
    for name in NO_MODULES_OF_WINDOWS.split():
        sys.modules.pop(name, None)
    sys.meta_path.insert(0, _Missing())
    _be("win32", "Windows")


def _be(name: str, system: str) -> None:
    platform.machine()  # asked for while it can be
    platform.release()
    platform.system = lambda: system
    sys.platform = name


def _take_away(names: dict[types.ModuleType, str]) -> None:
    for module, missing in names.items():
        for name in missing.split():
            if hasattr(module, name):
                delattr(module, name)


class _Missing(importlib.abc.MetaPathFinder):
    """Finds that a module is not there."""

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,
        target: types.ModuleType | None = None,
    ) -> ModuleSpec | None:
        if fullname in NO_MODULES_OF_WINDOWS.split():
            raise ModuleNotFoundError(f"No module named {fullname!r}", name=fullname)
        return None


def _replace_library(kernel: DarwinKernel) -> None:
    find = ctypes.CDLL.__getattr__

    def find_on_macos(self: ctypes.CDLL, name: str) -> Any:
        if name in NOT_IN_ITS_LIBRARY.split():
            raise AttributeError(f"dlsym(RTLD_DEFAULT, {name}): symbol not found")
        return getattr(kernel, name) if name.startswith("sysctl") else find(self, name)

    ctypes.CDLL.__getattr__ = find_on_macos  # type: ignore[method-assign]
