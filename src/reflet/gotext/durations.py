"""Durations: as Go writes and reads them, and as the columns of ``kubectl get`` show them.

People search logs and alert on messages that the kubelet made well known, so ours read the same.

Upstream: time/time.go, Duration.String and ParseDuration;
apimachinery/pkg/util/duration/duration.go, HumanDuration
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Final

from reflet.gotext.times import MalformedTime, read_time

NANOSECONDS: Final = 1_000_000_000
LONGEST_DURATION: Final = 100  # characters; more are no duration that anybody means
_SMALL_UNITS: Final = ((1_000_000, "ms"), (1_000, "µs"), (1, "ns"))
_PART: Final = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h)")
_UNIT_SECONDS: Final[Mapping[str, float]] = MappingProxyType(
    {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
)
UNKNOWN: Final = "<unknown>"
INVALID: Final = "<invalid>"
_MINUTE: Final = 60
_HOUR: Final = 60 * _MINUTE
_DAY: Final = 24 * _HOUR
_YEAR: Final = 365 * _DAY


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


def parse_duration(text: str) -> float:
    """Return the seconds of ``10s`` or ``1h30m``; ValueError for what is no duration.

    Without Go's signs: nobody here waits for a time that is past.
    """
    parts = list(_PART.finditer(text[:LONGEST_DURATION]))
    if not parts or "".join(part.group() for part in parts) != text:
        raise ValueError("not a duration")
    return sum(float(part[1]) * _UNIT_SECONDS[part[2]] for part in parts)


def _decimal(amount: int, size: int) -> str:
    """Return amount / size without a needless digit; sizes are powers of ten."""
    whole, part = divmod(amount, size)
    digits = f"{part:0{len(str(size)) - 1}d}".rstrip("0") if part else ""
    return f"{whole}.{digits}" if digits else str(whole)


def human_duration(seconds: float) -> str:
    """Write a duration with two units while it is short and with one when it is long."""
    if seconds <= -2:
        return INVALID
    whole = max(0, int(seconds))
    if whole < 2 * _MINUTE:
        return f"{whole}s"
    if whole < 10 * _MINUTE:
        return _two(whole, _MINUTE, "m", 1, "s")
    if whole < 3 * _HOUR:
        return f"{whole // _MINUTE}m"
    if whole < 8 * _HOUR:
        return _two(whole, _HOUR, "h", _MINUTE, "m")
    if whole < 2 * _DAY:
        return f"{whole // _HOUR}h"
    if whole < 8 * _DAY:
        return _two(whole, _DAY, "d", _HOUR, "h")
    if whole < 2 * _YEAR:
        return f"{whole // _DAY}d"
    if whole < 8 * _YEAR:
        return _two(whole, _YEAR, "y", _DAY, "d")
    return f"{whole // _YEAR}y"


def _two(whole: int, large: int, large_name: str, small: int, small_name: str) -> str:
    rest = whole % large // small
    return f"{whole // large}{large_name}" + (f"{rest}{small_name}" if rest else "")


def moment_of(text: object) -> datetime | None:
    """Read a time of an object, or None when there is none."""
    if not isinstance(text, str) or not text:
        return None
    try:
        seconds = read_time(text)
    except MalformedTime:
        return None
    return datetime.strptime(seconds, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)


def age(text: object, now: datetime) -> str:
    """Say how long ago a time of an object was."""
    moment = moment_of(text)
    return UNKNOWN if moment is None else human_duration((now - moment).total_seconds())
