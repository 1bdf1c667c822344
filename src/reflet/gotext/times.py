"""Reads and writes the two forms of times in objects, with Go's words for what is no time.

Upstream: time/format.go, Parse; apimachinery/pkg/apis/meta/v1/time.go and micro_time.go
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

from reflet.gotext.lazy_patterns import lazy_pattern

SECONDS_LAYOUT: Final = "2006-01-02T15:04:05Z07:00"
MICROSECONDS_LAYOUT: Final = "2006-01-02T15:04:05.000000Z07:00"

_FRACTION: Final = lazy_pattern(r"[.,][0-9]+")
_ZONE: Final = lazy_pattern(r"Z|[+-][0-9]{2}:[0-9]{2}")
_ELEMENTS: Final = (
    ("2006", 4),
    ("-", 0),
    ("01", 2),
    ("-", 0),
    ("02", 2),
    ("T", 0),
    ("15", 2),
    (":", 0),
    ("04", 2),
    (":", 0),
    ("05", 2),
)
_RANGES: Final = (
    ("month", range(1, 13)),
    ("day", range(1, 32)),
    ("hour", range(24)),
    ("minute", range(60)),
    ("second", range(60)),
)


class MalformedTime(ValueError):
    """The text is no time; the message is the real server's."""


def read_time(text: str) -> str:
    """Read a time with second precision and give its canonical text, in UTC."""
    moment = _parse(text, SECONDS_LAYOUT)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def read_micro_time(text: str) -> str:
    """Read a time with exactly six digits of a second and give its canonical text, in UTC."""
    moment = _parse(text, MICROSECONDS_LAYOUT)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def time_text(moment: datetime) -> str:
    """Write a moment as a time with second precision."""
    return f"{moment.astimezone(UTC).isoformat()[:19]}Z"


def micro_time_text(moment: datetime) -> str:
    """Write a moment as a time with six digits of a second."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _parse(text: str, layout: str) -> datetime:
    rest = text
    numbers: list[int] = []
    for element, digits in _ELEMENTS:
        found = rest[:digits] if digits else rest[:1]
        fits = found.isascii() and found.isdecimal() if digits else found == element
        if not fits or len(found) < digits:
            raise MalformedTime(
                f'parsing time "{text}" as "{layout}": cannot parse "{rest}" as "{element}"'
            )
        if digits:
            numbers.append(int(found))
            _check_range(text, numbers)
        rest = rest[len(found) :]
    micro, rest = _fraction(text, rest, layout)
    zone = _ZONE.match(rest)
    if zone is None:
        raise MalformedTime(
            f'parsing time "{text}" as "{layout}": cannot parse "{rest}" as "Z07:00"'
        )
    if zone.end() < len(rest):
        raise MalformedTime(f'parsing time "{text}": extra text: "{rest[zone.end() :]}"')
    year, month, day, hour, minute, second = numbers
    try:
        moment = datetime(year, month, day, hour, minute, second, micro, UTC)
        return moment - _offset(zone.group())
    except (ValueError, OverflowError):
        raise MalformedTime(f'parsing time "{text}": day out of range') from None


def _check_range(text: str, numbers: list[int]) -> None:
    if len(numbers) > 1:
        name, allowed = _RANGES[len(numbers) - 2]
        if numbers[-1] not in allowed:
            raise MalformedTime(f'parsing time "{text}": {name} out of range')


def _fraction(text: str, rest: str, layout: str) -> tuple[int, str]:
    found = _FRACTION.match(rest)
    if layout == MICROSECONDS_LAYOUT and (found is None or found.end() != 7):
        raise MalformedTime(
            f'parsing time "{text}" as "{layout}": cannot parse "{rest}" as ".000000"'
        )
    if found is None:
        return 0, rest
    return int(found.group()[1:7].ljust(6, "0")), rest[found.end() :]


def _offset(zone: str) -> timedelta:
    if zone == "Z":
        return timedelta()
    offset = timedelta(hours=int(zone[1:3]), minutes=int(zone[4:6]))
    return -offset if zone[0] == "-" else offset
