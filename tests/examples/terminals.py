"""A reader of a tutorial, who has as many terminals as the page says and types where it says.

"In the second terminal" before a block says where; each terminal has an environment of its own, so
that what is exported in one is not there in another.  A terminal in which something was left
running takes no command before the page says Ctrl-C.  At the end everything is stopped by Ctrl-C,
as the page says, and nothing may leave a traceback.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Final

from tests.examples.pages import (
    PATIENCE,
    STAYS,
    Block,
    Step,
    Terminal,
    agrees,
    blocks_with_text,
    steps_of,
)

ORDINALS: Final = ("first", "second", "third", "fourth")
NUMBERS: Final = ("one", "two", "three", "four")
_WHERE: Final = re.compile(rf"\b({'|'.join(ORDINALS)}) terminal\b")
_HOW_MANY: Final = re.compile(rf"You need ({'|'.join(NUMBERS)}) terminals? in")


def terminals_needed(page: str) -> list[str]:
    """The terminals that a page says it takes."""
    found = _HOW_MANY.search(page)
    return list(ORDINALS[: NUMBERS.index(found[1]) + 1]) if found else []


class Desk:
    """Terminals in one folder, and what the page did not keep its word about."""

    def __init__(self, folder: Path, terminals: list[str]) -> None:
        self.wrong: list[str] = []
        self.used: set[str] = set()
        self._folder = folder
        self._here = terminals[0]
        self._running: dict[str, Terminal] = {}
        self._last_left = terminals[0]
        self._codes = dict.fromkeys(terminals, 0)
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        fresh = {"PATH": path, "HOME": str(folder), "LC_ALL": "C.UTF-8", "PYTHONUNBUFFERED": "1"}
        self._environments = {name: dict(fresh) for name in terminals}

    def follow(self, block: Block, text: str) -> None:
        """Do what a block says, after the text before it."""
        if where := _WHERE.findall(text):
            self._here = where[-1]
        if "Ctrl-C" in text and self._here in self._running:
            self._interrupt(self._here)
        if block.name:
            (self._folder / block.name).write_text(block.content)
        for step in steps_of(block):
            printed = self._do(step)
            if not agrees(printed, step.printed):
                self.wrong.append(f"{self._here} terminal $ {step.command}\n{printed}")

    def finish(self, text: str) -> None:
        """Stop what still runs, by Ctrl-C, if the page says so in its last text."""
        for name in [*self._running]:
            if "Ctrl-C" not in text or f"the {name}" not in text:
                self.wrong.append(f"the page does not say how to stop the {name} terminal")
            self._interrupt(name)

    def clear(self) -> None:
        """Stop everything, whatever has happened."""
        while self._running:
            self._running.popitem()[1].stop()

    def _do(self, step: Step) -> str:
        if not step.command:
            return self._running[self._last_left].printed(step.printed)
        self.used.add(self._here)
        environment = self._environments[self._here]
        if self._here in self._running:
            return "the terminal is busy: something was left running in it"
        if step.command.startswith("export "):
            name, _, value = step.command.removeprefix("export ").partition("=")
            environment[name] = value
            return ""
        if step.command.endswith(STAYS) or step.command.startswith("reflet serve"):
            running = Terminal(step.command.removesuffix(STAYS), self._folder, environment)
            self._running[self._here], self._last_left = running, self._here
            return running.printed(step.printed)
        finished = subprocess.run(
            ["bash", "-c", f"(exit {self._codes[self._here]})\n{step.command}"],
            cwd=self._folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=PATIENCE,
        )
        self._codes[self._here] = finished.returncode
        return finished.stdout

    def _interrupt(self, name: str) -> None:
        printed = self._running.pop(name).interrupted()
        if "Traceback" in printed:
            self.wrong.append(f"after Ctrl-C in the {name} terminal:\n{printed}")


def disagreements(page: Path, folder: Path) -> list[str]:
    """Follow a tutorial to its end in a folder; give what did not happen as it says."""
    text = page.read_text()
    desk = Desk(folder, terminals_needed(text))
    try:
        for before, block in blocks_with_text(text):
            desk.follow(block, before)
        desk.finish(text.rpartition("```console")[2].partition("\n```")[2])
    finally:
        desk.clear()
    if desk.used != set(terminals_needed(text)):
        desk.wrong.append(f"terminals used: {', '.join(sorted(desk.used))}")
    return desk.wrong
