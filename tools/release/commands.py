"""Running other programs, and saying what was done."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


class ReleaseError(Exception):
    """The release cannot be made; the message says what to do."""


def run(
    *command: str | Path,
    cwd: Path | None = None,
    environment: dict[str, str] | None = None,
    stdin: Path | None = None,
) -> str:
    """Run a program to its end and return its output; ReleaseError when it fails."""
    words = [str(word) for word in command]
    try:
        done = subprocess.run(  # noqa: S603 - the programs of a release, by name
            words,
            cwd=cwd,
            env={**os.environ, **(environment or {})},
            input=stdin.read_text() if stdin else "",
            capture_output=True,
            text=True,
            check=False,
        )
    except FileNotFoundError:
        raise ReleaseError(f"a release needs {words[0]}, which is not on PATH") from None
    if done.returncode != 0:
        raise ReleaseError(f"{' '.join(words[:6])} … failed:\n{done.stdout}{done.stderr}".rstrip())
    return done.stdout


def say(line: str) -> None:
    """Say in a line what was done."""
    sys.stdout.write(f"release: {line}\n")
    sys.stdout.flush()
