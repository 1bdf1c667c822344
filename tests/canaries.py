"""Secrets that sing: strings that no log, output, traceback, metric or command line may hold.

Owns: making canaries, finding them in any text, and the watch over a whole test run: wherever a
test lets one out, the test fails.  Planted in every run are the tokens and keys of development
servers (all that ``secrets.token_urlsafe`` gives); tests plant more with ``canary``.  Must not
know what is tested.

Watched are what every test prints and logs, what it captures and what its child processes say to
it, its traceback when it fails, and the command line of every process that it starts.
"""

from __future__ import annotations

import base64
import hashlib
import logging
import re
import secrets
import subprocess
import sys
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Final

import pytest

MARK: Final = "CANARY"
LEAK: Final = "a secret got out"
CONTEXT: Final = 60  # characters shown around a find

_PLAIN: Final = re.compile(MARK + r"-[a-z0-9][a-z0-9-]*")


def canary(what: str) -> str:
    """A secret that says where it was planted; the same every time."""
    return f"{MARK}-{what}-{hashlib.sha256(what.encode()).hexdigest()[:8]}"


def _encodings() -> tuple[str, ...]:
    """How the mark looks in base64, wherever it begins, and in hexadecimal."""
    mark = f"{MARK}-".encode()
    encoded = []
    for before in range(3):
        whole = base64.b64encode(b"\0" * before + mark).decode().rstrip("=")
        # Characters that neighbours have a part in are left out.
        begin = (before * 8 + 5) // 6
        encoded.append(whole[begin : (before + len(mark)) * 8 // 6])
    return (*encoded, mark.hex(), mark.hex().upper())


_ENCODED: Final = re.compile("|".join(map(re.escape, _encodings())))


def finds(text: str | bytes) -> list[str]:
    """Every canary in a text, plain or encoded, with a little around it."""
    if isinstance(text, bytes):
        text = text.decode("utf-8", "replace")
    return [
        text[max(0, found.start() - CONTEXT) : found.end() + CONTEXT]
        for pattern in (_PLAIN, _ENCODED)
        for found in pattern.finditer(text)
    ]


class CanaryWatch:
    """The watch over one test run: a pytest plugin.

    ``noted`` is what got out since the last report; it belongs to the test that runs.
    """

    def __init__(self) -> None:
        self.noted: list[str] = []
        self._restore: list[Callable[[], None]] = []
        self._on = False

    # The run

    def pytest_configure(self) -> None:
        self._on = True
        self._plant()
        self._listen()
        sys.addaudithook(self._audit)  # for good, hence _on

    def pytest_unconfigure(self) -> None:
        self._on = False
        while self._restore:
            self._restore.pop()()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        for name, content in report.sections:
            self.look(content, name)
        if report.longrepr is not None and report.outcome == "failed":
            self.look(report.longreprtext, "its traceback")
        if self.noted:
            complaint = f"{LEAK}: " + "; ".join(dict.fromkeys(self.noted))
            self.noted.clear()
            if report.outcome == "failed":
                report.sections.append(("Canaries", complaint))
            else:
                report.outcome = "failed"
                report.longrepr = complaint
        return report

    # Looking

    def look(self, text: str | bytes, where: str) -> None:
        """Note every canary in a text."""
        self.noted += [f"in {where}: …{find}…" for find in finds(text)]

    def _audit(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self._on and event in {"subprocess.Popen", "os.exec", "os.posix_spawn"}:
            command = arguments[1]
            words = [command] if isinstance(command, str | bytes) else list(command)
            for word in words:
                self.look(word if isinstance(word, bytes) else str(word), "a command line")

    # Setting up

    def _replace(self, owner: Any, name: str, made: Callable[[Any], Any]) -> None:
        before = getattr(owner, name)
        setattr(owner, name, made(before))
        self._restore.append(lambda: setattr(owner, name, before))

    def _plant(self) -> None:
        def singing(before: Callable[..., str]) -> Callable[..., str]:
            return lambda size=None: f"{canary('token')}-{before(size)}"

        self._replace(secrets, "token_urlsafe", singing)

    def _listen(self) -> None:
        handler = _Ear(self.look)
        logging.getLogger().addHandler(handler)
        self._restore.append(lambda: logging.getLogger().removeHandler(handler))

        def reading(before: Callable[..., Any]) -> Callable[..., Any]:
            def readouterr(fixture: Any) -> Any:
                captured = before(fixture)
                for text in captured:
                    self.look(text, "what it captured")
                return captured

            return readouterr

        def communicating(before: Callable[..., Any]) -> Callable[..., Any]:
            def communicate(process: Any, *arguments: Any, **options: Any) -> Any:
                said = before(process, *arguments, **options)
                for text in said:
                    if text is not None:
                        self.look(text, "what a child process said")
                return said

            return communicate

        self._replace(pytest.CaptureFixture, "readouterr", reading)
        self._replace(subprocess.Popen, "communicate", communicating)


class _Ear(logging.Handler):
    """Hears every record as it would be written, traceback included."""

    def __init__(self, look: Callable[[str, str], None]) -> None:
        super().__init__()
        self._look = look

    def emit(self, record: logging.LogRecord) -> None:
        self._look(self.format(record), f"a log record of {record.name}")


@contextmanager
def all_loggers(level: int = logging.DEBUG) -> Iterator[list[str]]:
    """Every record of every logger while the context is open, formatted, however quiet it is."""
    heard: list[str] = []
    handler = _Ear(lambda text, _: heard.append(text))
    names: Iterable[str] = tuple(logging.root.manager.loggerDict)
    loggers = [logging.getLogger(), *map(logging.getLogger, names)]
    before = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(level)
    logging.getLogger().addHandler(handler)
    try:
        yield heard
    finally:
        logging.getLogger().removeHandler(handler)
        for logger, old in zip(loggers, before, strict=True):
            logger.setLevel(old)
