"""What a page of the documentation says can be done: its files and its commands.

Owns: reading a page, and running its ``console`` blocks as a reader would, in two terminals: one
for ``reflet serve``, one for everything else.  Must not know any page.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Final, Self

HOW_TO: Final = Path(__file__).parents[2] / "docs/how-to"
READY: Final = "export KUBECONFIG="
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
    """A command, and what the page says that it prints."""

    command: str
    printed: str


def blocks(page: str) -> Iterator[Block]:
    """Give the blocks of a page in order."""
    text = (HOW_TO / page).read_text()
    for found in _BLOCK.finditer(text):
        named = _NAMED.search(text[: found.start()])
        yield Block(found[1], found[2], named[1] if named else "")


def save_files(page: str, folder: Path) -> list[str]:
    """Save the files that a page names, and give their names."""
    named = [block for block in blocks(page) if block.name]
    for block in named:
        (folder / block.name).write_text(block.content)
    return [block.name for block in named]


def steps(page: str) -> Iterator[Step]:
    """Give the commands of a page in order."""
    for block in blocks(page):
        if block.language == "console":
            for part in re.split(r"^\$ ", block.content, flags=re.MULTILINE)[1:]:
                command, _, printed = part.partition("\n")
                yield Step(command, printed)


def agrees(printed: str, said: str) -> bool:
    """Whether a command printed what the page says; … stands for anything."""
    pattern = ".*".join(map(re.escape, said.strip().split("…")))
    return re.fullmatch(pattern, printed.strip(), re.DOTALL) is not None


class Reader:
    """Somebody who follows a page in a folder of their own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._server: subprocess.Popen[str] | None = None
        self._environment = {
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(folder),
            "LC_ALL": "C.UTF-8",
        }

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop_server()

    def do(self, command: str) -> str:
        """Do what the page says and give what is printed."""
        if command.startswith("export "):
            name, _, value = command.removeprefix("export ").partition("=")
            self._environment[name] = value
            return ""
        if command.startswith("reflet serve"):
            return self._serve(command)
        return subprocess.run(
            ["bash", "-c", command],
            cwd=self._folder,
            env=self._environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=PATIENCE,
        ).stdout

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
