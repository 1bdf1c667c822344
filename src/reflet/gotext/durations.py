"""Durations as Go writes them.

Owns: the text.  People search logs and alert on messages that the kubelet made well known, so
ours read the same.  Must not know what took so long.
"""

from __future__ import annotations

from typing import Final

NANOSECONDS: Final = 1_000_000_000
_SMALL_UNITS: Final = ((1_000_000, "ms"), (1_000, "µs"), (1, "ns"))


def go_duration(seconds: float) -> str:
    """Return the text of a duration: ``3m0s``, ``1h0m2.5s``, ``15ms``, ``0s``."""
    total = round(seconds * NANOSECONDS)
    sign = "-" if total < 0 else ""
    total = abs(total)
    if total == 0:
        return "0s"
    if total < NANOSECONDS:
        size, unit = next(each for each in _SMALL_UNITS if total >= each[0])
        return f"{sign}{_decimal(total, size)}{unit}"
    minutes, rest = divmod(total, 60 * NANOSECONDS)
    hours, minutes_left = divmod(minutes, 60)
    large = (f"{hours}h" if hours else "") + (f"{minutes_left}m" if minutes else "")
    return f"{sign}{large}{_decimal(rest, NANOSECONDS)}s"


def _decimal(amount: int, size: int) -> str:
    """Return amount / size without a needless digit; sizes are powers of ten."""
    whole, part = divmod(amount, size)
    digits = f"{part:0{len(str(size)) - 1}d}".rstrip("0") if part else ""
    return f"{whole}.{digits}" if digits else str(whole)
