"""Functions of moments and durations.

Upstream: cel-go/common/types/timestamp.go and duration.go; time/format.go, ParseDuration
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import Final
from zoneinfo import ZoneInfo

from reflet.apirules.cel.operators import conversion_error
from reflet.apirules.cel.signatures import declare, signature
from reflet.apirules.cel.values import HIGHEST_INT, Duration, EvaluationError, Timestamp
from reflet.gotext.times import MalformedTime, read_time

SECOND: Final = 10**9
_UNITS: Final = {
    "ns": 1,
    "us": 10**3,
    "µs": 10**3,
    "μs": 10**3,
    "ms": 10**6,
    "s": SECOND,
    "m": 60 * SECOND,
    "h": 3600 * SECOND,
}
_PART: Final = re.compile(r"([0-9]*)(?:\.([0-9]*))?(ns|us|µs|μs|ms|s|m|h)")
_FRACTION: Final = re.compile(r"T[0-9:]{8}[.,]([0-9]{1,9})")
_OFFSET: Final = re.compile(r"([+-]?)([0-9]{1,2}):([0-9]{2})")
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_LONGEST: Final = 200


def read_timestamp(text: str) -> Timestamp:
    """Read a moment.  Raises MalformedTime."""
    seconds = datetime.strptime(read_time(text), "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
    whole = (seconds - _EPOCH) // timedelta(seconds=1)
    fraction = _FRACTION.search(text)
    return Timestamp(whole * SECOND + (int(fraction[1].ljust(9, "0")) if fraction else 0))


def read_duration(text: str) -> Duration:
    """Read a duration as Go does.  Raises ValueError."""
    sign = -1 if text[:1] == "-" else 1
    rest = text[1:] if text[:1] in {"-", "+"} else text
    if rest == "0":
        return Duration(0)
    total, at = 0, 0
    while at < len(rest) and len(text) < _LONGEST:
        part = _PART.match(rest, at)
        if part is None or not (part[1] or part[2]):
            break
        unit, fraction = _UNITS[part[3]], part[2] or ""
        total += int(part[1] or 0) * unit + int(fraction or 0) * unit // 10 ** len(fraction)
        at = part.end()
    if not rest or at < len(rest) or total > HIGHEST_INT:
        raise ValueError(f'time: invalid duration "{text}"')
    return Duration(sign * total)


@signature("timestamp(string) timestamp")
def _timestamp(text: str) -> Timestamp:
    try:
        return read_timestamp(text)
    except MalformedTime:
        raise conversion_error("string", "google.protobuf.Timestamp") from None


@signature("timestamp(int) timestamp")
def _timestamp_of_seconds(seconds: int) -> Timestamp:
    return Timestamp(seconds * SECOND)


@signature("duration(string) duration")
def _duration(text: str) -> Duration:
    try:
        return read_duration(text)
    except ValueError:
        raise conversion_error("string", "google.protobuf.Duration") from None


@signature("duration(int) duration")
def _duration_of_nanoseconds(nanoseconds: int) -> Duration:
    return Duration(nanoseconds)


@signature("string(timestamp) string")
def timestamp_text(moment: Timestamp) -> str:
    """Write a moment, without needless digits."""
    seconds, rest = divmod(moment.nanoseconds, SECOND)
    fraction = f".{rest:09d}".rstrip("0") if rest else ""
    return f"{_moment(seconds):%Y-%m-%dT%H:%M:%S}{fraction}Z"


@signature("string(duration) string")
def duration_text(duration: Duration) -> str:
    """Write a duration in seconds."""
    sign = "-" if duration.nanoseconds < 0 else ""
    seconds, rest = divmod(abs(duration.nanoseconds), SECOND)
    fraction = f".{rest:09d}".rstrip("0") if rest else ""
    return f"{sign}{seconds}{fraction}s"


def _moment(seconds: int) -> datetime:
    try:
        return _EPOCH + timedelta(seconds=seconds)
    except OverflowError:
        raise EvaluationError("timestamp overflow") from None


def _zone(name: str) -> tzinfo:
    offset = _OFFSET.fullmatch(name)
    if offset is not None:
        distance = timedelta(hours=int(offset[2]), minutes=int(offset[3]))
        return timezone(-distance if offset[1] == "-" else distance)
    try:
        return ZoneInfo(name or "UTC")
    except (OSError, ValueError, KeyError):
        raise EvaluationError(f"unknown time zone {name}") from None


def _part(read: Callable[[datetime], int]) -> Callable[..., int]:
    def run(moment: Timestamp, zone: str = "UTC") -> int:
        return read(_moment(moment.nanoseconds // SECOND).astimezone(_zone(zone)))

    return run


_PARTS: Final[dict[str, Callable[[datetime], int]]] = {
    "getFullYear": lambda moment: moment.year,
    "getMonth": lambda moment: moment.month - 1,
    "getDate": lambda moment: moment.day,
    "getDayOfMonth": lambda moment: moment.day - 1,
    "getDayOfWeek": lambda moment: moment.isoweekday() % 7,
    "getDayOfYear": lambda moment: moment.timetuple().tm_yday - 1,
    "getHours": lambda moment: moment.hour,
    "getMinutes": lambda moment: moment.minute,
    "getSeconds": lambda moment: moment.second,
}


def _milliseconds(moment: Timestamp, zone: str = "UTC") -> int:
    _zone(zone)
    return moment.nanoseconds % SECOND // 10**6


def _amount(unit: int) -> Callable[[Duration], int]:
    def run(duration: Duration) -> int:
        whole = abs(duration.nanoseconds) // unit
        return whole if duration.nanoseconds >= 0 else -whole

    return run


def _declare_parts() -> None:
    parts = {name: _part(read) for name, read in _PARTS.items()}
    for name, run in (*parts.items(), ("getMilliseconds", _milliseconds)):
        declare(f"timestamp::{name}() int", run)
        declare(f"timestamp::{name}(string) int", run)
    for name, unit in (("Hours", 3600), ("Minutes", 60), ("Seconds", 1)):
        declare(f"duration::get{name}() int", _amount(unit * SECOND))
    declare("duration::getMilliseconds() int", _amount(10**6))


_declare_parts()
