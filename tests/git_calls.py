"""git as tests call it: nobody's own settings count, and without git the test is skipped."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

NOBODY = {
    f"GIT_{who}_{what}": "a@example.com"
    for who in ("AUTHOR", "COMMITTER")
    for what in ("NAME", "EMAIL")
}


def git(folder: Path, *arguments: str) -> str:
    """Run git in *folder*, which succeeds, and return what it prints."""
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *arguments],
            check=True,
            capture_output=True,
            text=True,
            env={**os.environ, **NOBODY, "GIT_CONFIG_GLOBAL": os.devnull},
        )
    except FileNotFoundError:
        pytest.skip("git is not installed")
    return done.stdout.strip()
