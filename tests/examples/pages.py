"""What a page of the documentation says can be done: its files and its commands.

Owns: reading a page, and running its ``console`` blocks as a reader would, in terminals: one for
``reflet serve``, one for each command that says ``# leave it running``, one for everything else.
Left running once more, a command takes the place of its former run.  A block that begins without a
command shows what the last command that was left running prints next.  Must not know any page.
"""

from __future__ import annotations

import os
import re
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from tests.patience import Deadline

DOCS: Final = Path(__file__).parents[2] / "docs"
HOW_TO: Final = DOCS / "how-to"
READY: Final = "export KUBECONFIG="
STAYS: Final = "# leave it running"
PATIENCE: Final = 30  # seconds for one command

_BLOCK: Final = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_NAMED: Final = re.compile(r"ave this as\s`([\w.-]+)`:\s*$")


@dataclass(frozen=True, slots=True)
class Block:
    """A block of a page; ``name`` is the file that the reader is told to save it as."""

    language: str
    content: str
    name: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """A command, and what the page says that it prints.

    Without a command it is what the last command that was left running prints now.
    """

    command: str
    printed: str


def blocks(page: str | Path) -> Iterator[Block]:
    """Give the blocks of a page in order; a page without a folder is one of the how-to pages."""
    for _, block in blocks_with_text((HOW_TO / page).read_text()):
        yield block


def blocks_with_text(text: str) -> Iterator[tuple[str, Block]]:
    """Give the blocks of a text in order, each with what stands between it and the one before."""
    end = 0
    for found in _BLOCK.finditer(text):
        before, end = text[end : found.start()], found.end()
        named = _NAMED.search(before)
        yield before, Block(found[1], found[2], named[1] if named else "")


def save_files(page: str | Path, folder: Path) -> list[str]:
    """Save the files that a page names, and give their names."""
    named = [block for block in blocks(page) if block.name]
    for block in named:
        (folder / block.name).write_text(block.content)
    return [block.name for block in named]


def steps(page: str | Path) -> Iterator[Step]:
    """Give the commands of a page in order."""
    for block in blocks(page):
        yield from steps_of(block)


def steps_of(block: Block) -> Iterator[Step]:
    """Give the commands of one block; only those for a console have any."""
    if block.language != "console":
        return
    begins, *parts = re.split(r"^\$ ", block.content, flags=re.MULTILINE)
    if begins.strip():
        yield Step("", begins)
    for part in parts:
        command, _, printed = part.partition("\n")
        yield Step(command, printed)


def agrees(printed: str, said: str) -> bool:
    """Whether a command printed what the page says; … stands for anything."""
    pattern = ".*".join(map(re.escape, said.strip().split("…")))
    return re.fullmatch(pattern, printed.strip(), re.DOTALL) is not None


def disagreements(page: str | Path, folder: Path) -> list[str]:
    """Follow a page to its end in a folder; give what did not happen as it says."""
    wrong: list[str] = []
    with Reader(folder) as reader:
        for block in blocks(page):
            if block.name:
                (folder / block.name).write_text(block.content)
            for step in steps_of(block):
                printed = reader.follow(step)
                if not agrees(printed, step.printed):
                    wrong.append(f"$ {step.command}\n{printed}")
    return wrong


class Terminal:
    """A command that was left running, and what it printed since somebody last looked."""

    def __init__(self, command: str, folder: Path, environment: dict[str, str]) -> None:
        self.command = command
        self._process = subprocess.Popen(
            ["bash", "-c", f"exec {command}"],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )

    def printed(self, said: str) -> str:
        """Wait until it has printed what is *said*, and give what it printed instead if not."""
        assert self._process.stdout is not None
        output, deadline = b"", Deadline(PATIENCE)
        while not agrees(output.decode(), said) and not deadline.passed:
            if not select.select([self._process.stdout], [], [], 0.1)[0]:
                continue
            if not (more := os.read(self._process.stdout.fileno(), 65536)):
                break
            output += more
        return output.decode()

    def interrupted(self) -> str:
        """End the command by Ctrl-C, and give what it still printed."""
        with self._process as process:
            process.send_signal(signal.SIGINT)
            try:
                return process.communicate(timeout=PATIENCE)[0].decode()
            except subprocess.TimeoutExpired:
                process.kill()
                raise

    def stop(self) -> None:
        """End the command."""
        with self._process as process:
            process.terminate()
            try:
                process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()
                raise


class Reader:
    """Somebody who follows a page in a folder of their own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._server: subprocess.Popen[str] | None = None
        self._left_running: list[Terminal] = []
        self._last_code = 0
        self._environment = {
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(folder),
            "LC_ALL": "C.UTF-8",
            "PYTHONUNBUFFERED": "1",  # as on a terminal
        }

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            while self._left_running:
                self._left_running.pop().stop()
        finally:
            self._stop_server()

    def follow(self, step: Step) -> str:
        """Do one step of a page and give what is printed."""
        if not step.command:
            return self._left_running[-1].printed(step.printed)
        if step.command.endswith(STAYS):
            command = step.command.removesuffix(STAYS)
            for former in [each for each in self._left_running if each.command == command]:
                self._left_running.remove(former)
                former.stop()
            self._left_running.append(Terminal(command, self._folder, self._environment))
            return self._left_running[-1].printed(step.printed)
        return self.do(step.command)

    def do(self, command: str) -> str:
        """Do what the page says and give what is printed."""
        if command.startswith("export "):
            name, _, value = command.removeprefix("export ").partition("=")
            self._environment[name] = value
            return ""
        if command.startswith("reflet serve"):
            return self._serve(command)
        finished = subprocess.run(
            # What $? is in a shell that has run the last command.
            ["bash", "-c", f"(exit {self._last_code})\n{command}"],
            cwd=self._folder,
            env=self._environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=PATIENCE,
        )
        self._last_code = finished.returncode
        return finished.stdout

    def _serve(self, command: str) -> str:
        """Begin a server in the first terminal, where the last one is stopped."""
        self._stop_server()
        self._server = subprocess.Popen(
            ["bash", "-c", f"exec {command}"],
            cwd=self._folder,
            env=self._environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert self._server.stdout is not None
        printed = ""
        for line in self._server.stdout:
            printed += line
            if line.startswith(READY):
                break
        return printed

    def _stop_server(self) -> None:
        if self._server is not None:
            with self._server as server:
                server.terminate()
            self._server = None
