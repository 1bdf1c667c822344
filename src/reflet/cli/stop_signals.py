"""Being told to stop: Ctrl-C, a service manager, a terminal that is closed."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable
from typing import Final

# Windows has no terminal that hangs up.
STOP_SIGNALS: Final[tuple[signal.Signals, ...]] = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)


def when_told_to_stop(act: Callable[[signal.Signals], object]) -> None:
    """Have the running loop call *act*, with the signal, whenever the process is told to stop."""
    loop = asyncio.get_running_loop()
    for number in STOP_SIGNALS:
        # Whoever wrote nohup before the command wants it to outlive the terminal.
        if number.name != "SIGHUP" or signal.getsignal(number) != signal.SIG_IGN:
            loop.add_signal_handler(number, act, number)
