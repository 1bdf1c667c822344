"""Where containerd and its companions are, and whether this machine can run containers.

Owns: finding them, and saying in one line what is missing.  Must not know how they are built, which
is ``build``, nor what they are started with.
"""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Final

HERE: Final = Path(__file__).parent
CAN_MOUNT: Final = ("unshare", "--mount", "--cgroup", "mount", "-t", "tmpfs", "none", "/run")


class ProgramsMissing(Exception):
    """A program is not there; the message says how to get it."""


class MachineUnable(Exception):
    """This machine cannot run containers; the message says why."""


@dataclass(frozen=True, slots=True)
class Programs:
    """The programs that ``make containers`` brings, in one folder."""

    folder: Path

    def __getitem__(self, name: str) -> Path:
        program = self.folder / name
        if not os.access(program, os.X_OK):
            raise ProgramsMissing(f"there is no {program}: `make containers` brings it, once")
        return program


def find_programs() -> Programs:
    """Find the programs, and check that this machine lets them run."""
    shell = ["/bin/sh", str(HERE / "programs-dir")]
    found = subprocess.run(shell, check=True, capture_output=True, text=True)
    programs = Programs(Path(found.stdout.rstrip("\n")))
    for name in ("containerd", "containerd-shim-runc-v2", "ctr", "pause", "runc", "busybox"):
        programs[name]
    if os.geteuid() != 0:
        raise MachineUnable("tests/containers needs root, to start containers")
    if "\toverlay\n" not in Path("/proc/filesystems").read_text():
        raise MachineUnable("tests/containers needs overlayfs, and this kernel has none")
    tried = subprocess.run(CAN_MOUNT, check=False, capture_output=True, text=True)
    if tried.returncode != 0:
        reason = tried.stderr.strip() or f"unshare ends with {tried.returncode}"
        raise MachineUnable(f"tests/containers needs to mount in a namespace: {reason}")
    return programs
