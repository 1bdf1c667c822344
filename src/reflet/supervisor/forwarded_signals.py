"""The signals that are sent to us and meant for the process.

Owns: which ones these are, and hearing them for as long as there is something to clean up.  Must
not know what is done about them.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

FORWARDED: Final = (
    signal.SIGINT,
    signal.SIGTERM,
    signal.SIGQUIT,
    signal.SIGHUP,
    signal.SIGUSR1,
    signal.SIGUSR2,
    signal.SIGWINCH,
    signal.SIGTSTP,
    signal.SIGCONT,
)

ENDING: Final = frozenset({signal.SIGINT, signal.SIGTERM, signal.SIGQUIT})
"""After one of these the end of the process is the end of all: nothing is started again."""


@contextmanager
def forwarded_signals(heard: Callable[[int], None]) -> Iterator[None]:
    """Call *heard* with every signal to forward while the block lasts.

    What was ignored when we started stays ignored, for the process as well: ``nohup`` works.
    """
    loop = asyncio.get_running_loop()
    numbers = [number for number in FORWARDED if signal.getsignal(number) != signal.SIG_IGN]
    for number in numbers:
        loop.add_signal_handler(number, heard, number)
    try:
        yield
    finally:
        for number in numbers:
            loop.remove_signal_handler(number)
