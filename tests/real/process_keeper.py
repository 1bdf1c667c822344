"""Server processes, and a folder for their files, that cannot outlive the program.

Owns: the keeper, a small program of its own that is the parent of the servers, and the pipe to
it.  Must not know what the servers serve, nor anything outside the standard library: the
keeper runs this very file.

The keeper does what it is told on its input, and when the input ends it kills its children and
removes the folder.  The input ends when the program closes it, and also when the program dies
in whatever way, because then the kernel closes it.  The kernel's own parent-death signal would
be the wrong tool: it comes when the *thread* that started the child ends, so a server that was
restarted in a worker thread would die with the worker.  And because only the keeper starts and
reaps the servers, no signal can hit a stranger that got a dead server's process id.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self


class KeeperFailed(Exception):
    """The keeper is gone, or could not do what it was told."""


class ProcessKeeper:
    """Runs processes by name in a temporary folder, until :meth:`close`.

    The processes live in sessions of their own, so that a Ctrl-C in the terminal reaches this
    program only, which then stops them in its own order.  The command ``afterwards`` runs when
    the processes are gone: it cleans up what killing them leaves behind.
    """

    def __init__(self, *, prefix: str, afterwards: Sequence[str] = ()) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix=prefix))
        try:
            with (self.folder / "keeper.log").open("wb") as log:
                self._keeper = subprocess.Popen(
                    [sys.executable, "-I", "-S", __file__, str(self.folder), *afterwards],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=log,
                    cwd="/",
                    start_new_session=True,
                )
        except BaseException:
            shutil.rmtree(self.folder)
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def run(self, name: str, command: Sequence[str]) -> int:
        """Start a process, its output appended to ``<name>.log``; return its process id."""
        environment = {"PATH": os.defpath, "HOME": str(self.folder), "TMPDIR": str(self.folder)}
        return int(self._tell("run", name, command=list(command), environment=environment))

    def exit_code(self, name: str) -> int | None:
        """Say how a process ended, negative for a signal; ``None`` while it runs."""
        code: int | None = self._tell("exit_code", name)
        return code

    def signal(self, name: str, number: int) -> None:
        """Send a process a signal, unless it has ended."""
        self._tell("signal", name, number=number)

    def stop(self, name: str, *, patience: float) -> None:
        """Ask a process to end, kill it after ``patience`` seconds; return when it is gone."""
        self._tell("stop", name, patience=patience)

    def close(self) -> None:
        """Kill what still runs and remove the folder."""
        self._keeper.communicate()

    def _tell(self, action: str, name: str, **details: object) -> Any:
        requests, answers = self._keeper.stdin, self._keeper.stdout
        if requests is None or answers is None or requests.closed:
            raise KeeperFailed(f"{action} {name}: the keeper is closed")
        try:
            requests.write(json.dumps({"action": action, "name": name, **details}).encode() + b"\n")
            requests.flush()
            answer = answers.readline()
        except BrokenPipeError as error:
            raise KeeperFailed(f"{action} {name}: the keeper is gone") from error
        if not answer:
            raise KeeperFailed(f"{action} {name}: the keeper is gone")
        content = json.loads(answer)
        if "error" in content:
            raise KeeperFailed(f"{action} {name}: {content['error']}")
        return content["result"]


def keep(folder: Path, afterwards: Sequence[str]) -> None:
    """Be the keeper: obey standard input until it ends."""
    children: dict[str, subprocess.Popen[bytes]] = {}
    try:
        for line in sys.stdin.buffer:
            answer: dict[str, object]
            try:
                answer = {"result": obey(json.loads(line), children, folder)}
            except OSError as error:
                answer = {"error": str(error)}
            sys.stdout.write(json.dumps(answer) + "\n")
            sys.stdout.flush()
    finally:
        for child in children.values():
            child.kill()
        for child in children.values():
            child.wait()
        if afterwards:
            subprocess.run(afterwards, stdout=sys.stderr, check=True)
        shutil.rmtree(folder)


def obey(
    order: Mapping[str, Any], children: dict[str, subprocess.Popen[bytes]], folder: Path
) -> int | None:
    """Do one thing with one child, as the keeper."""
    name: str = order["name"]
    match order["action"]:
        case "run":
            with (folder / f"{name}.log").open("ab") as log:
                children[name] = subprocess.Popen(
                    order["command"],
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    cwd=folder,
                    env=order["environment"],
                    start_new_session=True,
                )
            return children[name].pid
        case "exit_code":
            return children[name].poll()
        case "signal":
            children[name].send_signal(order["number"])
            return None
        case "stop":
            child = children.pop(name)
            child.terminate()
            try:
                return child.wait(order["patience"])
            except subprocess.TimeoutExpired:
                child.kill()
                return child.wait()
        case unknown:
            raise ValueError(f"the keeper knows no {unknown!r}")


if __name__ == "__main__":
    keep(Path(sys.argv[1]), sys.argv[2:])
