"""Becomes the program that the environment names.

Owns: the step from our interpreter, which ``measuring.Child`` starts, to a peer's interpreter or
a program that is not Python at all.  Must not read standard input: the task there is for the
program.
"""

from __future__ import annotations

import json
import os
from typing import Final

PROGRAM: Final = "REFLET_BENCHMARK_PROGRAM"
"""The variable with the command, as a JSON array."""
LAYER: Final = "REFLET_BENCHMARK_LAYER"
"""The variable that tells our own modules which contestant they are."""


def main() -> None:
    """Never return."""
    command = json.loads(os.environ.pop(PROGRAM))
    os.execv(command[0], command)


if __name__ == "__main__":
    main()
