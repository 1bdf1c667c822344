"""The program of the single-file archive: ``reflet``, or with ``-m`` one of its modules.

The shim of the node agent, the check of isolation and the starter of ``reflet run`` are programs of
their own, which ``sys.executable -m reflet.…`` starts.  In the archive ``sys.executable`` is this
program, so it understands that much of an interpreter.
"""

from __future__ import annotations

import os
import runpy
import sys

LIBRARY_PATH = "LD_LIBRARY_PATH"


def forget_the_bootloader() -> None:
    """Give children the environment this program was started with, not the bootloader's."""
    before = os.environ.pop(f"{LIBRARY_PATH}_ORIG", None)
    if before is not None:
        os.environ[LIBRARY_PATH] = before
    elif os.environ.get(LIBRARY_PATH, "").startswith(os.path.dirname(sys.executable)):  # noqa: PTH120 - nothing more is imported before the command
        del os.environ[LIBRARY_PATH]
    for name in [name for name in os.environ if name.startswith("_PYI_")]:
        del os.environ[name]


def main() -> None:
    """Run the command line, or a module of Reflet."""
    forget_the_bootloader()
    if sys.argv[1:2] == ["-m"] and sys.argv[2:3] and sys.argv[2].startswith("reflet."):
        module = sys.argv[2]
        del sys.argv[1:3]
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    else:
        from reflet.cli.main import main as reflet  # noqa: PLC0415 - not for the modules

        reflet()


if __name__ == "__main__":
    main()
