"""Signals are heard while the block lasts, and those that were ignored stay ignored."""

from __future__ import annotations

import asyncio
import signal

from reflet.supervisor.terminal import forwarded_signals
from tests.patience import within


async def test_signals_are_heard_and_then_no_longer() -> None:
    before = signal.getsignal(signal.SIGUSR1)
    heard: list[int] = []

    with forwarded_signals(heard.append):
        signal.raise_signal(signal.SIGUSR1)
        signal.raise_signal(signal.SIGHUP)
        async with within(10):
            while len(heard) < 2:  # noqa: ASYNC110 - the loop hears of them through a pipe
                await asyncio.sleep(0)

    assert heard == [signal.SIGUSR1, signal.SIGHUP]
    assert signal.getsignal(signal.SIGUSR1) == before


async def test_what_was_ignored_stays_ignored() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with forwarded_signals(lambda number: None):
            assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)
