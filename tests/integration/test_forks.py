"""A fork does no harm to the parent, whose sockets and epoll the child has as well."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from reflet.testing.pytest_plugin import RunningServer

PROGRAM = """
import gc, os, signal, sys, reflet

signal.alarm(30)  # whoever hangs is ended

def forked():
    cluster = reflet.blocking.connect(kubeconfig=sys.argv[1])
    cluster.version()
    child = os.fork()
    if child == 0:
        return None
    os.waitpid(child, 0)
    return cluster

cluster = forked()
if cluster is None:
    gc.collect()  # the child holds nothing any more
    sys.exit()
print(cluster.version().git_version)
cluster.close()
"""


def test_a_child_that_forgets_a_cluster_leaves_the_connection_to_its_parent(
    server: RunningServer, tmp_path: Path
) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    # From Python 3.12 on every fork of a process with threads is told of.
    options = ["-W", "ignore::DeprecationWarning"]

    ran = subprocess.run(
        [sys.executable, *options, program, server.kubeconfig],
        check=False,
        capture_output=True,
        text=True,
    )

    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.startswith("v1.")
