"""Programs of examples/ that can follow a real cluster."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.real.kube_server import KubeServer

EXAMPLES = Path(__file__).parents[2] / "examples"
NEW_POD = {"metadata": {"name": "web"}, "spec": {"containers": [{"name": "web", "image": "web"}]}}


@contextmanager
def following(program: str, kubeconfig: Path) -> Iterator[Iterator[str]]:
    """The lines that a program prints, until the block is left and it is interrupted."""
    process = subprocess.Popen(
        [sys.executable, str(EXAMPLES / program), str(kubeconfig)],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        yield (line.rstrip("\n") for line in process.stdout)
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0
    finally:
        process.kill()
        process.communicate()


def until(lines: Iterator[str], last: str) -> list[str]:
    """The lines up to *last*, which comes at some time."""
    seen = []
    for line in lines:
        seen.append(line)
        if line == last:
            return seen
    pytest.fail(f"it ended without {last!r}: {seen}")


def test_a_reflector_a_queue_and_a_store_by_hand_follow_the_pods(
    kube: KubeServer, namespace: str, tmp_path: Path
) -> None:
    kubeconfig = kube.write_kubeconfig(tmp_path / "config", namespace=namespace)
    pods = f"/api/v1/namespaces/{namespace}/pods"

    with kube.connect() as connection:
        connection.create(pods, {**NEW_POD, "metadata": {"name": "first"}})
        with following("reflector_and_delta_fifo.py", kubeconfig) as lines:
            begun = until(lines, "Type:Replaced: Name:first (initial)")
            connection.create(pods, NEW_POD)
            until(lines, "Type:Added: Name:web")
            connection.request("DELETE", f"{pods}/first?gracePeriodSeconds=0")
            until(lines, "Type:Deleted: Name:first")

    assert begun[0] == "Start syncing..."
