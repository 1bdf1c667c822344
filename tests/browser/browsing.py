"""A real browser for tests: Debian's chromium, driven by playwright.

Owns: where it is, how it is started, and what is said to it.  Must not know the page.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import threading
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from reflet.runtime.threads import in_thread

HERE: Final = Path(__file__).parent
PATIENCE: Final = 20_000  # milliseconds, for what takes a moment


def missing_browser() -> str:
    """Say what is missing and how to get it; empty when everything is there."""
    if not _program():
        return "there is no chromium: `apt-get install chromium`, then `make browser`"
    if not (_folder() / "node_modules").is_dir():
        return "there is nothing to drive a browser with: `make browser` installs it, once"
    return "" if shutil.which("node") else "there is no Node.js to drive a browser with"


def _program() -> str:
    return shutil.which("chromium") or shutil.which("chromium-browser") or ""


def _folder() -> Path:
    shell = ["/bin/sh", str(HERE / "program")]
    found = subprocess.run(shell, check=True, capture_output=True, text=True)
    return Path(found.stdout.rstrip("\n"))


class BrowserFailed(Exception):
    """The browser could not do what was asked, in its own words."""


class Browser:
    """A browser, while the context is open; *home* is for whatever it writes."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._turn = threading.Lock()
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        node = shutil.which("node") or "node"
        command = [node, str(HERE / "driver.mjs"), str(_folder()), _program(), str(self._home)]
        environment = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**environment, "HOME": str(self._home), "TZ": "UTC"},
        )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._process is not None
        with self._process as process:
            assert process.stdin is not None
            process.stdin.close()

    @asynccontextmanager
    async def tab(self, **options: Any) -> AsyncGenerator[Tab, None]:
        """Open a tab with nothing in it that another has: cookies, storage."""
        number = await in_thread(lambda: self.ask(0, "open", options))
        tab = Tab(self, number)
        try:
            yield tab
        finally:
            await tab.do("close")

    def ask(self, tab: int, what: str, *arguments: Any) -> Any:
        """Have something done, and return what comes of it; blocks."""
        assert self._process is not None
        reading, writing = self._process.stdout, self._process.stdin
        assert reading is not None
        assert writing is not None
        with self._turn:
            writing.write(json.dumps({"tab": tab, "do": what, "args": arguments}) + "\n")
            writing.flush()
            said = json.loads(reading.readline() or '{"error": "the browser is gone"}')
        if "error" in said:
            raise BrowserFailed(said["error"])
        return said["value"]


class Tab:
    """One tab; the event loop goes on while it does something."""

    def __init__(self, browser: Browser, number: int) -> None:
        self._browser = browser
        self._number = number

    async def do(self, what: str, *arguments: Any) -> Any:
        """Do what playwright's Page can: goto, click, press, fill, screenshot."""
        return await in_thread(lambda: self._browser.ask(self._number, what, *arguments))

    async def get(self, expression: str) -> Any:
        """Return what an expression is in the page."""
        return await self.do("evaluate", expression)

    async def until(self, expression: str) -> None:
        """Wait until an expression is true in the page."""
        await self.do("until", expression, PATIENCE)

    async def texts(self, selector: str) -> list[str]:
        """Return what people read in the elements that are like this."""
        quoted = json.dumps(selector)
        expression = f"[...document.querySelectorAll({quoted})].map(each => each.innerText)"
        found: list[str] = await self.get(expression)
        return found

    async def complaints(self) -> list[str]:
        """Return the warnings and errors of the console since the last time."""
        found: list[str] = await self.do("complaints")
        return found
