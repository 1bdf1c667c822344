"""Every program in examples/ runs to its end."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.story

EXAMPLES = Path(__file__).parents[2] / "examples"
PROGRAMS = sorted(EXAMPLES.glob("*.py"))


def test_there_are_programs() -> None:
    assert PROGRAMS


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.name)
def test_a_program_runs_to_its_end(program: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(program)], capture_output=True, text=True, timeout=60, check=False
    )

    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_a_reflector_a_queue_and_a_store_by_hand_say_what_happened() -> None:
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / "reflector_and_delta_fifo.py")],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )

    said = done.stdout.splitlines()
    assert said[0] == "Start syncing..."
    assert sorted(said[1:3]) == [
        "Type:Replaced: Name:dapi-test-pod (initial)",
        "Type:Replaced: Name:secret-test-pod (initial)",
    ]
    assert said[3] == "Type:Added: Name:web"
    assert said[-2:] == [
        "Type:Deleted: Name:dapi-test-pod",
        "In the store: default/secret-test-pod, default/web",
    ]


def test_the_operator_creates_scales_heals_and_cleans_up() -> None:
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / "website_operator.py")],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )

    said = done.stdout.splitlines()
    assert said[:5] == [
        "created: 2 pods run",
        "scaled: 3 pods run",
        "healed: pods of another Deployment run",
        "addresses: {'shop': 'shop.example.com'}",
        "deleted, addresses: {}",
    ]
    assert "event: Running: 2 of 2 run, 1 times" in said
