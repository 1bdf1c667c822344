"""``reflet run`` as a process of its own, whose words are read as they come.

Owns: starting it, waiting for what it says, and that nothing of it is left.  Must not know what
is tested.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, Protocol

from reflet.testing.pytest_plugin import RunningServer
from tests.patience import Deadline

PATIENCE = 30.0  # seconds, for what takes a moment
A_LOOK = 0.01

LOOP = "while :; do sleep 0.02; done"
POLITE = f"trap 'echo bye $LEVEL; exit 0' TERM; echo up $LEVEL; {LOOP}"

MANIFESTS = """
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {LEVEL: info, app.conf: one, unused: x}
---
apiVersion: v1
kind: Secret
metadata: {name: database}
stringData: {password: hunter2}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      terminationGracePeriodSeconds: 20
      enableServiceLinks: false
      containers:
      - name: web
        image: web
        command: [sh, -c, "echo $0 $1 level=$(LEVEL)", one]
        args: [two]
        env:
        - name: LEVEL
          valueFrom: {configMapKeyRef: {name: settings, key: LEVEL}}
        - name: PASSWORD
          valueFrom: {secretKeyRef: {name: database, key: password}}
        - {name: DSN, value: "db:$(PASSWORD)"}
        volumeMounts:
        - {name: settings, mountPath: /etc/reflet-test/conf}
        - {name: database, mountPath: /etc/reflet-test/conf/secrets, readOnly: true}
        - {name: settings, mountPath: /etc/reflet-test/fixed.conf, subPath: LEVEL}
        - {name: scratch, mountPath: /reflet-test-scratch}
        - {name: claim, mountPath: /reflet-test-claim}
      volumes:
      - name: settings
        configMap:
          name: settings
          items: [{key: app.conf, path: app.conf}, {key: LEVEL, path: LEVEL}]
      - {name: database, secret: {secretName: database, defaultMode: 0400}}
      - {name: scratch, emptyDir: {}}
      - {name: claim, persistentVolumeClaim: {claimName: claim}}
"""


class Running:
    """A run under way."""

    def __init__(self, process: subprocess.Popen[bytes], out: Path, err: Path) -> None:
        self.process = process
        self._out = out
        self._err = err

    @property
    def output(self) -> str:
        return self._out.read_text()

    @property
    def said(self) -> str:
        return self._err.read_text()

    def until_output(self, text: str) -> None:
        self._until(lambda: text in self.output, text)

    def until_said(self, text: str) -> None:
        self._until(lambda: text in self.said, text)

    def _until(self, reached: Callable[[], bool], text: str) -> None:
        def reached_or_over() -> bool:
            return self.process.poll() is not None or reached()

        def describe() -> str:
            return f"{text!r} never came\nout: {self.output}\nerr: {self.said}"

        until(reached_or_over, describe)
        assert reached(), describe()

    def signal(self, number: int) -> None:
        self.process.send_signal(number)

    def code(self) -> int:
        return self.process.wait(PATIENCE)


def until(reached: Callable[[], bool], describe: Callable[[], str] = lambda: "") -> None:
    deadline = Deadline(PATIENCE)
    while not reached():
        assert not deadline.passed, describe()
        time.sleep(A_LOOK)


@contextmanager
def running(
    folder: Path,
    arguments: Sequence[str],
    *,
    environment: Mapping[str, str] | None = None,
    prefix: Sequence[str] = (),
) -> Iterator[Running]:
    """Start ``reflet run`` and end it at the latest with the block."""
    out, err = folder / "out", folder / "err"
    with out.open("wb") as stdout, err.open("wb") as stderr:
        process = subprocess.Popen(
            [*prefix, sys.executable, "-m", "reflet", "run", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            cwd=folder,
            env={
                "PATH": os.environ["PATH"],
                "HOME": str(folder),
                "LOCAL": "local",
                "XDG_RUNTIME_DIR": os.environ.get("XDG_RUNTIME_DIR", ""),
                **(environment or {}),
            },
        )
    try:
        yield Running(process, out, err)
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


class Start(Protocol):
    """Starts ``reflet run`` on a server."""

    def __call__(
        self, *arguments: str, command: Sequence[str] = (), target: str = "deploy/web"
    ) -> AbstractContextManager[Running]: ...


@contextmanager
def starting(server: RunningServer, folder: Path) -> Iterator[Start]:
    """Give a way to start runs on a server, of which nothing may be left in the end."""

    def start(
        *arguments: str, command: Sequence[str] = (), target: str = "deploy/web"
    ) -> AbstractContextManager[Running]:
        behind = ("--", *command) if command else ()
        return running(
            folder,
            (target, *arguments, *behind),
            environment={"KUBECONFIG": str(server.kubeconfig), "XDG_RUNTIME_DIR": str(place)},
        )

    with memory() as place:
        yield start


def shell(script: str) -> tuple[str, str, str]:
    return ("sh", "-c", script)


def server_options(folder: Path) -> dict[str, Any]:
    """A server that has the objects above from its start."""
    manifest = folder / "objects.yaml"
    manifest.write_text(MANIFESTS)
    return {"tls": False, "load": (str(manifest),)}


@contextmanager
def memory() -> Iterator[Path]:
    """A place in memory that no other run uses, which has to be empty in the end."""
    with tempfile.TemporaryDirectory(dir="/dev/shm", prefix="reflet-test-") as place:
        yield Path(place)
        until(lambda: list(Path(place).iterdir()) == [], lambda: "files are left over")
