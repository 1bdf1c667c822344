"""A process that refuses to be looked into, as seen by another of the same user."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.other_users import NOBODY

TELL = """
import ctypes, os, ssl, sys, tempfile
from pathlib import Path
from reflet.processes.process_table import refuse_inspection
from reflet.processes.process_table import children_of, process_entry
from reflet.volumes.mounts import TABLE

if os.geteuid() == 0:
    os.setgroups([])
    os.setgid({anybody})
    os.setuid({anybody})
    # What a program has that was started as this user.
    ctypes.CDLL(None).prctl(4, 1, 0, 0, 0)
print("open", flush=True)
sys.stdin.readline()
told = refuse_inspection()
memory = os.memfd_create("key")
os.write(memory, b"key")
needed = (
    told,
    Path("/proc/self/fd", str(memory)).read_bytes() == b"key",
    len(os.listdir("/proc/self/fd")) > 3,
    TABLE.read_text() != "",
    process_entry(os.getpid()) is not None,
    children_of(os.getpid()) == [],
)
print("closed", *needed, flush=True)
sys.stdin.readline()
"""


def look_into(pid: int) -> bool:
    """Whether a process of the same user can read the environment of one."""
    become = (
        ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups")
        if os.geteuid() == 0
        else ()
    )
    command = (*become, "cat", f"/proc/{pid}/environ")
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has the flag")
def test_others_of_the_same_user_see_nothing_and_we_see_what_we_need() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", TELL.format(anybody=NOBODY)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline() == "open\n"
        before = look_into(process.pid)
        process.stdin.write("\n")
        process.stdin.flush()
        told = process.stdout.readline()
        after = look_into(process.pid)
        process.stdin.close()

    assert told == f"closed{' True' * 6}\n"
    assert (before, after) == (True, False)
