from __future__ import annotations

import subprocess
import sys

import reflet


def test_the_package_can_be_run_as_a_module() -> None:
    finished = subprocess.run(
        [sys.executable, "-m", "reflet", "--version"],
        capture_output=True,
        check=True,
        text=True,
        timeout=30,
    )

    assert reflet.__version__ in finished.stdout
