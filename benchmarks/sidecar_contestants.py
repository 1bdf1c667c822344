"""The sidecars that are compared, and how each is started: as a kubelet would, by its variables.

Owns: the line-up, the environment of the original, and a process that is started again when it
ends.  Must not know what is measured.

The original is not on PyPI.  ``K8S_SIDECAR_SOURCE`` names a checkout of kiwigrid/k8s-sidecar; its
pinned packages are installed into a cache folder, and its source is run from where it is.  It opens
the file with the namespace of its service account in any case, so it is given one.
"""

from __future__ import annotations

import http.client
import os
import subprocess
import sys
import threading
import time
import tomllib
import venv
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from benchmarks.go_programs import complaint_of, peer_folder, run_quietly
from benchmarks.measuring import REPOSITORY, RunFailed
from tests.node_scenes import free_port

SOURCE: Final = "K8S_SIDECAR_SOURCE"
OURS: Final = "reflet"
THEIRS: Final = "k8s-sidecar"
TITLES: Final[Mapping[str, str]] = {OURS: "**Reflet** sidecar", THEIRS: "kiwigrid/k8s-sidecar"}

READY_TIMEOUT: Final = 180.0  # seconds until a sidecar is ready
END_TIMEOUT: Final = 10.0  # seconds to end when asked to
LOOK_EVERY: Final = 0.01
RESTART_AFTER: Final = 1.0  # seconds; a kubelet waits longer, and longer each time

# Runs a module as its image does, with the one file of a pod that it cannot do without.
IN_A_POD: Final = """
import builtins, io, runpy, sys
really_open = builtins.open
def open_in_a_pod(file, *arguments, **options):
    if file == "/var/run/secrets/kubernetes.io/serviceaccount/namespace":
        return io.StringIO("default")
    return really_open(file, *arguments, **options)
builtins.open = open_in_a_pod
sys.argv = ["sidecar"]
runpy.run_module("sidecar", run_name="__main__")
"""


@dataclass(frozen=True, slots=True)
class Contestant:
    """How a sidecar is started, or why it cannot be."""

    command: Sequence[str] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    version: str = ""
    missing: str = ""


def contestants() -> dict[str, Contestant]:
    """Both of them; the original is installed now if it is not yet."""
    ours = Contestant((sys.executable, "-m", "reflet", "sidecar"))
    return {OURS: ours, THEIRS: _original(os.environ.get(SOURCE, ""))}


def _original(source: str) -> Contestant:
    folder = Path(source)
    if not source or not (folder / "src/sidecar.py").is_file():
        return Contestant(missing=f"{SOURCE} names no checkout of kiwigrid/k8s-sidecar")
    project = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
    try:
        python = _environment(project["dependencies"])
    except (subprocess.CalledProcessError, OSError, subprocess.TimeoutExpired) as error:
        words = complaint_of(error) if isinstance(error, subprocess.CalledProcessError) else error
        return Contestant(missing=f"cannot be installed: {words}")
    command = (str(python), "-u", "-c", IN_A_POD)
    return Contestant(command, {"PYTHONPATH": str(folder / "src")}, _commit(folder))


def _environment(pins: Sequence[str]) -> Path:
    folder = peer_folder(THEIRS)
    python, installed = folder / "bin/python", folder / "installed.txt"
    wanted = "\n".join([sys.version, *pins])
    if not installed.is_file() or installed.read_text() != wanted:
        print(f"sidecar: installing {THEIRS} into {folder}", file=sys.stderr, flush=True)
        venv.create(folder, clear=True, with_pip=True)
        run_quietly(
            *(str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"), *pins
        )
        installed.write_text(wanted)  # last: what is half made has none
    return python


def _commit(folder: Path) -> str:
    with suppress(subprocess.CalledProcessError, OSError):
        said = subprocess.run(
            ["git", "-C", str(folder), "rev-parse", "--short", "HEAD"],
            check=True,
            capture_output=True,
            text=True,
        )
        return said.stdout.strip()
    return "unknown"


class Sidecar:
    """A sidecar at work; one that ends is started again, and ``ends`` counts it."""

    def __init__(
        self, contestant: Contestant, folder: Path, kubeconfig: Path, variables: Mapping[str, str]
    ) -> None:
        self.folder = folder / "files"
        self.folder.mkdir(parents=True)
        self._contestant = contestant
        self._log = folder / "log"
        self._port = free_port()
        self._environment = {
            **{name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ},
            **contestant.environment,
            "KUBECONFIG": str(kubeconfig),
            "FOLDER": str(self.folder),
            "HEALTH_PORT": str(self._port),
            "HEALTH_HOST": "127.0.0.1",
            "NO_PROXY": "*",
            **variables,
        }
        self._process: subprocess.Popen[bytes] | None = None
        self._stopping = threading.Event()
        self._keeper = threading.Thread(target=self._keep, name="keeper of a sidecar")
        self.ends = 0

    def __enter__(self) -> Self:
        self._start()
        self._keeper.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stopping.set()
        process = self._running()
        process.terminate()
        try:
            process.wait(END_TIMEOUT)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        self._keeper.join()

    @property
    def pid(self) -> int:
        """The process."""
        return self._running().pid

    def wait_ready(self) -> float:
        """Return when it says that it is ready, and when that was."""
        deadline = time.monotonic() + READY_TIMEOUT
        while time.monotonic() < deadline:
            if self._is_ready():
                return time.monotonic()
            time.sleep(LOOK_EVERY)
        raise RunFailed(f"not ready within {READY_TIMEOUT:g} s\n{self.last_words()}")

    def last_words(self) -> str:
        """The end of its log."""
        return self._log.read_text(errors="replace")[-2000:]

    def _is_ready(self) -> bool:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=1.0)
        try:
            connection.request("GET", "/healthz")
            return connection.getresponse().status == http.client.OK
        except OSError:
            return False
        finally:
            connection.close()

    def _start(self) -> None:
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                self._contestant.command,
                env=self._environment,
                cwd=REPOSITORY,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

    def _running(self) -> subprocess.Popen[bytes]:
        assert self._process is not None
        return self._process

    def _keep(self) -> None:
        while not self._stopping.wait(RESTART_AFTER):
            if self._running().poll() is not None:
                self.ends += 1
                self._start()
