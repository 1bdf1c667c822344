"""The command ``demo``; that its story comes true is tests/integration/test_demo.py's."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
from collections.abc import Iterator

import pytest

from reflet.cli import demo_story as story
from reflet.cli.main import run
from reflet.cli.stop_signals import STOP_SIGNALS


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    level = logging.getLogger("reflet").level
    handlers = {number: signal.getsignal(number) for number in STOP_SIGNALS}
    yield
    logging.getLogger("reflet").setLevel(level)
    for number, handler in handlers.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("arguments", [[], ["--keep"], ["--fast"], ["--keep", "--fast"]])
def test_the_story_is_told(arguments: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[bool, bool]] = []

    async def play(*, keep: bool, fast: bool) -> int:
        told.append((keep, fast))
        return 0

    monkeypatch.setattr(story, "play", play)
    code = run(["reflet", "demo", *arguments])

    assert (code, told) == (0, [("--keep" in arguments, "--fast" in arguments)])


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
def test_a_story_that_is_cut_short_still_cleans_up(
    number: signal.Signals, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    cleaned: list[bool] = []

    async def play(*, keep: bool, fast: bool) -> int:
        try:
            os.kill(os.getpid(), number)
            await asyncio.sleep(30)
        finally:
            cleaned.append(True)
        return 0

    monkeypatch.setattr(story, "play", play)

    assert (run(["reflet", "demo"]), cleaned) == (code, [True])
