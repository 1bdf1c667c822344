"""Being told to stop."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Iterator

import pytest

from reflet.cli.stop_signals import STOP_SIGNALS, when_told_to_stop


@pytest.fixture(autouse=True)
def _handlers() -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in STOP_SIGNALS}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", STOP_SIGNALS)
def test_every_way_of_saying_it_is_heard(number: signal.Signals) -> None:
    async def scene() -> signal.Signals:
        told: asyncio.Queue[signal.Signals] = asyncio.Queue()
        when_told_to_stop(told.put_nowait)
        os.kill(os.getpid(), number)
        return await asyncio.wait_for(told.get(), 10)

    assert asyncio.run(scene()) == number


def test_a_program_that_is_to_outlive_its_terminal_does() -> None:
    async def scene() -> signal.Signals:
        told: asyncio.Queue[signal.Signals] = asyncio.Queue()
        when_told_to_stop(told.put_nowait)
        os.kill(os.getpid(), signal.SIGHUP)
        os.kill(os.getpid(), signal.SIGTERM)
        return await asyncio.wait_for(told.get(), 10)

    signal.signal(signal.SIGHUP, signal.SIG_IGN)

    assert asyncio.run(scene()) == signal.SIGTERM
