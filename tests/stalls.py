"""Event loops that stand still now and then, as on a machine that is busy with something else.

``REFLET_STALLS=0.05`` stalls one turn in twenty of every loop of the test process, for up to
LONGEST seconds.  A test that looks once after a moment, or that counts on two things to happen
one right after the other, fails within minutes and without any load.  Virtual time has no stalls.
"""

from __future__ import annotations

import os
import random
import selectors
import sys
import time
from typing import Final


def asked_for(text: str) -> float:
    """The part of all turns that stall; none for an empty text."""
    try:
        chance = float(text or 0)
    except ValueError:
        chance = -1.0
    if not 0 <= chance <= 1:
        sys.exit(f"REFLET_STALLS={text}: say a part of all turns, from 0 to 1")
    return chance


CHANCE: Final = asked_for(os.environ.get("REFLET_STALLS", ""))
LONGEST: Final = 0.5  # seconds
# Its own: hypothesis and tests begin the others' again, and would find other examples with stalls.
DICE: Final = random.Random()


class StallingSelector(selectors.DefaultSelector):
    """Tells late, one time out of many, what has happened."""

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        happened = super().select(timeout)
        if DICE.random() < CHANCE:
            time.sleep(DICE.random() * LONGEST)
        return happened


def stall_loops() -> None:
    """Give every loop that is made from now on such a selector, if stalls were asked for."""
    if CHANCE:
        selectors.DefaultSelector = StallingSelector  # type: ignore[misc] # asyncio asks for this name
