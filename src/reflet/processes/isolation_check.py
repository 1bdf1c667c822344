"""Whether containers can have namespaces of their own on this machine.

It is tried in a program of its own (``python -m reflet.processes.isolation_check FOLDER``), since
namespaces cannot be given back.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from reflet.processes import container_root
from reflet.processes.container_plan import ContainerRoot
from reflet.processes.isolated_start import Failure
from reflet.processes.program import system_words

CHECK_TIMEOUT: Final = 30.0  # seconds


def why_not_isolated() -> str | None:
    """Why containers cannot have namespaces here, in words; None if they can."""
    with tempfile.TemporaryDirectory(prefix="reflet-isolation-") as folder:
        command = (sys.executable, "-m", "reflet.processes.isolation_check", folder)
        try:
            tried = subprocess.run(  # noqa: S603 - a program of ours
                command, capture_output=True, text=True, check=False, timeout=CHECK_TIMEOUT
            )
        except (subprocess.TimeoutExpired, OSError) as error:
            return f"it cannot be tried: {error}"
    if tried.returncode == 0:
        return None
    return tried.stderr.strip().rpartition("\n")[2] or f"trying it ended with {tried.returncode}"


def main(arguments: list[str]) -> int:
    """Try it; 0 if all of it can be had."""
    folder = Path(arguments[0])
    staging, scratch = folder / "staging", folder / "scratch"
    staging.mkdir()
    scratch.mkdir()
    root = ContainerRoot(host_name="check", staging=str(staging), scratch=str(scratch))
    try:
        container_root.leave_namespaces()
        pid = os.fork()
        if pid == 0:
            container_root.enter_root(root, "")
            return 0
    except Failure as failure:
        return _refused(str(failure))
    except OSError as error:
        return _refused(system_words(error))
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def _refused(why: str) -> int:
    sys.stderr.write(f"{why}\n")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
