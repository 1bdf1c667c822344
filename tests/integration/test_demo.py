"""The whole demonstration, as its user sees it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

PATIENCE = 60


@pytest.fixture
def memory() -> Iterator[Path]:
    """A place in memory of our own, so that what is left over is seen."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        yield Path(folder)


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """A short name: the agent's sockets are below, and the path of a socket has 107 bytes."""
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


def environment(tmp_path: Path, memory: Path) -> dict[str, str]:
    """Temporary files in folders of their own, so that what is left over is seen."""
    return {
        **os.environ,
        "TMPDIR": str(tmp_path),
        "XDG_RUNTIME_DIR": str(memory),
        "PYTHONUNBUFFERED": "1",
    }


def test_the_demonstration_tells_its_story_and_leaves_nothing(tmp_path: Path, memory: Path) -> None:
    told = subprocess.run(
        [sys.executable, "-W", "error", "-m", "reflet", "demo"],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
        env=environment(tmp_path, memory),
    )

    assert (told.returncode, told.stderr) == (0, "")
    for scene in (
        r"shop +Running",
        r"LEVEL +very +configmap/special-config SPECIAL_LEVEL",
        r"very → most: in the file \d+ ms later",
        r"‹secret 12 B› → ‹secret 13 B›: in the file \d+ ms later",
        r"most → back again: in the file",
        r"has no key special\.how",
        r"the pod ran by itself",
        r"reflet run deploy/NAME",
        r"Documentation: https://",
        r"\$ reflet why pod/dapi-test-pod",
    ):
        assert re.search(scene, told.stdout), scene
    assert "correct horse" not in told.stdout
    assert len(re.findall("^✓ ", told.stdout, re.MULTILINE)) == 10
    assert [line for line in told.stdout.splitlines() if line[:1] in "✓$ " and len(line) > 80] == []
    for scene in told.stdout.split("\n── ")[1:]:
        assert scene.count("\n") <= 23, "a scene is higher than a usual terminal"
        assert re.search(r"^(\$|✓) ", scene, re.MULTILINE)
    assert [*tmp_path.iterdir(), *memory.iterdir()] == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_demonstration_that_is_cut_short_leaves_nothing(
    number: signal.Signals, tmp_path: Path, memory: Path
) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "reflet", "demo"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(tmp_path, memory),
    ) as cut:
        assert cut.stdout is not None
        next(line for line in iter(cut.stdout.readline, "") if re.match("shop +Running", line))
        cut.send_signal(number)
        _, error = cut.communicate(timeout=PATIENCE)

    assert (cut.returncode, error) == (128 + number, "")
    assert [*tmp_path.iterdir(), *memory.iterdir()] == []


def test_a_demonstration_that_is_kept_can_be_looked_at_until_it_is_interrupted(
    tmp_path: Path, memory: Path
) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "reflet", "demo", "--keep"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(tmp_path, memory),
    ) as kept:
        assert kept.stdout is not None
        lines = iter(kept.stdout.readline, "")
        kubeconfig = next(
            found[1] for line in lines if (found := re.search(r"export KUBECONFIG=(\S+)", line))
        )
        page = next(found[1] for line in lines if (found := re.search(r"(http://\S+)#token", line)))
        with urllib.request.urlopen(page, timeout=PATIENCE) as answer:
            shown = answer.read()
        seen = subprocess.run(
            [sys.executable, "-m", "reflet", "get", "pods", "--kubeconfig", kubeconfig],
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        kept.send_signal(signal.SIGINT)
        kept.communicate(timeout=PATIENCE)

    assert "shop" in seen.stdout
    assert b"<html" in shown
    assert kept.returncode == 0
    assert [*tmp_path.iterdir(), *memory.iterdir()] == []
