"""A program of its own: sees to it that it dies with its parent, and becomes the command.

It does what has to be done between our fork and the command, and by no thread of ours: the signal
for the parent's death and, where the command is isolated, the namespaces, the mounts and the mount
points that are missing.  Run as a script by the bare interpreter, so it knows nothing of
Reflet and nothing that is not in the standard library; every start waits for what it imports:
``python -I -S isolated_start.py PARENT FAILURE PLAN -- COMMAND…``.  What goes wrong is written to
the file FAILURE, as JSON with ``code`` and ``message``.  PLAN is empty for a command that sees
what everybody sees, else a file with JSON::

    {"mounts": [{"source": "/…", "path": "/etc/app", "read_only": true}, …],
     "directory": "/home/me", "root": "/…/root", "staging": "/…/staging"}

``root`` is a private folder in which anything may be made, ``staging`` an empty one in it.
Variables that the loader of programs would take for its own come under a name with the prefix of
``SHELTERED``.

A mount point that does not exist is made without touching the machine: the nearest folder above
that does exist is covered, inside the namespace, by one in memory that shows the same entries.
"""

from __future__ import annotations

import ctypes
import errno
import os
import signal
import stat
import sys

TYPE_CHECKING = False  # what typing says, which takes longer to import than all the others
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, Final, NoReturn

CLONE_NEWNS: Final = 0x00020000
CLONE_NEWUSER: Final = 0x10000000
MS_RDONLY: Final = 1
MS_REMOUNT: Final = 32
MS_BIND: Final = 4096
MS_REC: Final = 16384
MS_PRIVATE: Final = 1 << 18
MNT_DETACH: Final = 2

# What statvfs calls a flag of a mount, and what mount calls it: a bind keeps those it has.
KEPT_FLAGS: Final = ((2, 2), (4, 4), (8, 8), (1024, 1024), (2048, 2048), (4096, 1 << 21))

PR_SET_PDEATHSIG: Final = 1

SHELTERED: Final = "REFLET_SHELTERED_"

OF_THE_LOADER: Final = ("LD_", "GLIBC_", "MALLOC_", "_PYI_")
"""Variables of the program loader.  The container's own are sheltered, so that they do not change
this interpreter; any that come without shelter are this interpreter's, and end with it.  The
bootloader of the single-file archive sets LD_LIBRARY_PATH and _PYI_… for itself."""

OUR_FAILURE, NOT_EXECUTABLE, NOT_FOUND = 125, 126, 127

LIBC: Final = ctypes.CDLL(None, use_errno=True)


class Failure(Exception):
    """What went wrong, in a line, and the exit code for it."""

    def __init__(self, message: str, code: int = OUR_FAILURE) -> None:
        super().__init__(message)
        self.code = code


def main(arguments: list[str]) -> NoReturn:
    """Do it; returns only as another program, or not at all."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        # Ctrl-C ends the command, and so it ends this without a traceback.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    parent, failure_file, plan, _, *command = arguments
    environment = _exact_environment()
    try:
        if plan:
            isolate(_read(plan))
        die_with(int(parent))
        become(command, environment)
    except Failure as failure:
        told, code = str(failure), failure.code
    except OSError as error:
        told, code = f"{error.filename or ''}: {error.strerror}".lstrip(": "), OUR_FAILURE
    import json  # noqa: PLC0415 - rarely needed

    with open(failure_file, "w") as stream:  # noqa: PTH123 - as few imports as can be
        json.dump({"code": code, "message": told}, stream)
    sys.exit(code)


def _read(plan: str) -> Any:
    import json  # noqa: PLC0415 - only for isolation

    with open(plan, "rb") as stream:  # noqa: PTH123 - as above
        return json.load(stream)


def _exact_environment() -> dict[bytes, bytes]:
    """What we were started with: the interpreter may have changed its own copy."""
    with open("/proc/self/environ", "rb") as stream:  # noqa: PTH123 - as above
        lines = stream.read().split(b"\0")
    pairs = (line.partition(b"=") for line in lines if line)
    own = tuple(prefix.encode() for prefix in OF_THE_LOADER)
    return {
        name.removeprefix(SHELTERED.encode()): value
        for name, _, value in pairs
        if not name.startswith(own)
    }


def die_with(parent: int) -> None:
    """Be killed when the parent is, which then cannot do it itself any more.

    Comes last: the kernel forgets it when a process gets other privileges.
    """
    check(LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0))
    if os.getppid() != parent:
        # It died before we asked to be told.
        os.kill(os.getpid(), signal.SIGKILL)


def become(command: list[str] | list[bytes], environment: dict[bytes, bytes]) -> None:
    """Become a command that is looked for in the ``PATH`` of its environment; raises Failure."""
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)  # the interpreter ignores them
    try:
        os.execvpe(command[0], command, environment)  # noqa: S606 - running it is the purpose
    except FileNotFoundError as error:
        raise Failure("the command is not found: no such file or directory", NOT_FOUND) from error
    except OSError as error:
        words = f"the command cannot be run: {(error.strerror or '').lower()}"
        raise Failure(words, NOT_EXECUTABLE) from error


# Namespaces


def isolate(plan: dict[str, Any]) -> None:
    """Have a mount namespace with what the plan names."""
    enter_namespace()
    points = MountPoints(plan["root"], plan["staging"])
    for each in plan["mounts"]:
        points.bind(each["source"], each["path"])
    for each in plan["mounts"]:
        if each["read_only"]:
            make_read_only(each["path"])
    os.chdir(plan["directory"])


def enter_namespace() -> None:
    """Have mounts of our own; who may not, gets a user namespace with it."""
    user, group = os.geteuid(), os.getegid()
    try:
        if LIBC.unshare(CLONE_NEWNS) != 0:
            check(LIBC.unshare(CLONE_NEWUSER | CLONE_NEWNS))
            _write("/proc/self/setgroups", "deny")
            _write("/proc/self/uid_map", f"{user} {user} 1")
            _write("/proc/self/gid_map", f"{group} {group} 1")
        mount(None, "/", None, MS_REC | MS_PRIVATE)
    except OSError as error:
        raise Failure(
            f"--isolate: this system allows no mount namespace here ({error.strerror}): it takes "
            "root with CAP_SYS_ADMIN, or user namespaces (kernel.unprivileged_userns_clone, "
            "kernel.apparmor_restrict_unprivileged_userns); without --isolate the files are "
            "under $REFLET_ROOT"
        ) from error


def _write(path: str, text: str) -> None:
    try:
        with open(path, "w") as stream:  # noqa: PTH123 - as above
            stream.write(text)
    except FileNotFoundError:
        return  # kernels before setgroups


# Mounts


class MountPoints:
    """Mounts, and the places for them.

    In *root*, in what was mounted and on the file systems in *devices* anything may be made;
    elsewhere only on covers.
    """

    def __init__(self, root: str = "", staging: str = "", *, devices: Iterable[int] = ()) -> None:
        self._free = [os.path.realpath(root)] if root else []
        self._staging = staging
        self._devices = set(devices)
        self.covers: list[str] = []

    def bind(self, source: str, path: str) -> None:
        """Show *source* at *path*, which is made if it is missing."""
        point = self.point(path, is_folder=os.path.isdir(source))  # noqa: PTH112 - as above
        mount(source, point, None, MS_BIND | MS_REC)
        self.fill(point)

    def fill(self, point: str) -> None:
        """Something was mounted at a point, and what is missing in it may be made."""
        self._free.append(point)

    def point(self, path: str, *, is_folder: bool) -> str:
        """The place without links to mount on, made if it is missing."""
        real = os.path.realpath(path)
        if os.path.lexists(real):
            if os.path.isdir(real) != is_folder:  # noqa: PTH112 - as above
                here, there = ("a file", "a folder") if is_folder else ("a folder", "a file")
                raise Failure(f"{path} is {here} here and {there} in the container")
            return real
        above = os.path.dirname(real)  # noqa: PTH120 - as above
        while not os.path.lexists(above):
            above = os.path.dirname(above)  # noqa: PTH120 - as above
        if not self._may_be_filled(above):
            self._cover(above)
        if is_folder:
            os.makedirs(real, exist_ok=True)  # noqa: PTH103 - as above
        else:
            os.makedirs(os.path.dirname(real), exist_ok=True)  # noqa: PTH103, PTH120 - as above
            with open(real, "x"):  # noqa: PTH123 - as above
                pass
        return real

    def _may_be_filled(self, folder: str) -> bool:
        """Whether what is made in a folder is seen by nobody but us."""
        if any(f"{folder}/".startswith(f"{free}/") for free in self._free):
            return True
        return os.stat(folder).st_dev in self._devices  # noqa: PTH116 - as above

    def _cover(self, folder: str) -> None:
        """Put a folder in memory over one, that shows the same entries."""
        found = os.stat(folder)  # noqa: PTH116 - as above
        target = self._staging if folder == "/" else folder
        beneath = os.open(folder, getattr(os, "O_PATH", 0) | os.O_DIRECTORY)
        names = os.listdir(folder)  # noqa: PTH208 - as above
        mount("tmpfs", target, "tmpfs", 0, f"mode={stat.S_IMODE(found.st_mode):o}")
        _give(target, found)
        for name in names:
            _show(f"/proc/self/fd/{beneath}/{name}", f"{target}/{name}")
        os.close(beneath)
        self._devices.add(os.stat(target).st_dev)  # noqa: PTH116 - as above
        self.covers.append(folder)
        if folder == "/":
            make_root(target)


def make_read_only(path: str) -> None:
    """Let nobody write through the mount."""
    present = os.statvfs(path).f_flag
    kept = sum(flag for told, flag in KEPT_FLAGS if present & told)
    mount(None, path, None, MS_BIND | MS_REMOUNT | MS_RDONLY | kept)


def _give(path: str, found: os.stat_result) -> None:
    try:
        os.chown(path, found.st_uid, found.st_gid)
    except OSError as error:
        # An owner who has no number in our user namespace.
        if error.errno not in {errno.EINVAL, errno.EPERM}:
            raise


def _show(source: str, place: str) -> None:
    """Show an entry of a covered folder at the same name on the cover."""
    found = os.lstat(source)
    if stat.S_ISLNK(found.st_mode):
        os.symlink(os.readlink(source), place)  # noqa: PTH115, PTH211 - as above
        return
    if stat.S_ISDIR(found.st_mode):
        os.mkdir(place)  # noqa: PTH102 - as above
    else:
        with open(place, "x"):  # noqa: PTH123 - as above
            pass
    mount(source, place, None, MS_BIND | MS_REC)


def make_root(new: str) -> None:
    """Have the file system mounted on a folder as our root, and nothing else."""
    os.chdir(new)
    if LIBC.pivot_root(b".", b".") == 0:
        check(LIBC.umount2(b".", MNT_DETACH))
    else:
        # The first root of a machine cannot be left that way.
        os.chroot(".")
    os.chdir("/")
    # The folder that it was put together on is in it, too, and would show it once more.
    check(LIBC.umount2(os.fsencode(new), MNT_DETACH), new)


def mount(
    source: str | None, target: str, kind: str | None, flags: int, data: str | None = None
) -> None:
    """Call the system's mount; OSError when it refuses."""
    words = [None if word is None else os.fsencode(word) for word in (source, target, kind, data)]
    flag_word = ctypes.c_ulong(flags)
    check(LIBC.mount(words[0], words[1], words[2], flag_word, words[3]), target)


def check(result: int, name: str = "") -> None:
    """Raise the OSError that a call of the C library left; *name* is the file it was about."""
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), name or None)


if __name__ == "__main__":
    arguments: Any = sys.argv[1:]
    main(arguments)
