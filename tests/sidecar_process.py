"""A sidecar as a process of its own, perhaps of another user, for what only a process shows."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tests.patience import Deadline

PATIENCE: Final = 25.0  # seconds until what is waited for must be so

# Another user may not be able to read Python and its libraries where this one has them, so all that
# a sidecar needs is imported before the process becomes that user.
AS_ANOTHER: Final = """
import concurrent.futures.thread, encodings.idna, encodings.latin_1, importlib, os, pkgutil, sys
import reflet, aiohttp, asyncio.base_subprocess, asyncio.unix_events, yaml
ROOMS = ("api", "client", "informer", "runtime", "sidecar", "store", "transport", "volumes")
for room in ROOMS:
    package = importlib.import_module(f"reflet.{room}")
    for module in pkgutil.walk_packages(package.__path__, f"reflet.{room}."):
        importlib.import_module(module.name)
import reflet.cli.commands.sidecar, reflet.cli.event_loop, reflet.cli.stop_signals
from reflet.cli.main import run
os.setgroups([])
os.setgid(int(sys.argv[1]))
os.setuid(int(sys.argv[1]))
sys.exit(run(["reflet", "sidecar", *sys.argv[2:]]))
"""


@contextmanager
def sidecar_process(
    environ: Mapping[str, str], log: Path, *arguments: str, uid: int | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    """A sidecar that runs until the block is left, with these variables alone.

    What it says is in *log*.
    """
    command = ["-m", "reflet", "sidecar"] if uid is None else ["-c", AS_ANOTHER, str(uid)]
    with log.open("ab") as said:
        process = subprocess.Popen(
            [sys.executable, *command, *arguments],
            env={"PATH": os.environ["PATH"], **environ},
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=said,
        )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        process.wait(PATIENCE)


def until(is_so: Callable[[], bool], process: subprocess.Popen[bytes] | None = None) -> bool:
    """Wait until something is so, the process has ended, or for long enough; whether it is."""
    deadline = Deadline(PATIENCE)
    while not is_so():
        if deadline.passed or (process is not None and process.poll() is not None):
            return is_so()
        time.sleep(0.02)
    return True
