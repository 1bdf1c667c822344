"""The rules of times at which jobs run: crontab lines, words for them, time zones.

Upstream: github.com/robfig/cron/v3, parser.go; pkg/apis/batch/validation/validation.go,
validateTimeZone
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from reflet.apirules.validation.field_errors import FieldErrors
from reflet.gotext.durations import parse_duration
from reflet.gotext.lazy_patterns import lazy_pattern
from reflet.gotext.quoting import quoted

WORDS: Final = frozenset(
    {
        *("@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"),
    }
)
_MONTHS: Final = (
    *("jan", "feb", "mar", "apr", "may", "jun"),
    *("jul", "aug", "sep", "oct", "nov", "dec"),
)
_DAYS: Final = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
_INTEGER: Final = lazy_pattern("[+-]?[0-9]+")
_ZONE_PART: Final = lazy_pattern("[A-Za-z.\\-_0-9+]{1,14}")
_HIGHEST: Final = 2**63 - 1


@dataclass(frozen=True, slots=True)
class _Bounds:
    lowest: int
    highest: int
    words: Mapping[str, int] = field(default_factory=dict)


_FIELDS: Final = (
    _Bounds(0, 59),
    _Bounds(0, 23),
    _Bounds(1, 31),
    _Bounds(1, 12, {word: number for number, word in enumerate(_MONTHS, 1)}),
    _Bounds(0, 6, {word: number for number, word in enumerate(_DAYS)}),
)


def wrong_schedule(schedule: str) -> list[str]:
    """Say what is wrong with a schedule; the first thing is enough."""
    if schedule.startswith(("TZ=", "CRON_TZ=")):
        zone, space, rest = schedule.partition(" ")
        name = zone.partition("=")[2]
        if not space:
            return [f"runtime error: slice bounds out of range [:{-1}]"]
        if not _is_zone(name):
            return [f"provided bad location {name}: unknown time zone {name}"]
        schedule = rest.strip()
    if schedule.startswith("@"):
        return _wrong_word(schedule)
    fields = schedule.split()
    if len(fields) != len(_FIELDS):
        return [f"expected exactly 5 fields, found {len(fields)}: [{' '.join(fields)}]"]
    try:
        for text, bounds in zip(fields, _FIELDS, strict=True):
            for part in filter(None, text.split(",")):
                _check_range(part, bounds)
    except ValueError as wrong:
        return [str(wrong)]
    return []


def _wrong_word(word: str) -> list[str]:
    if word in WORDS:
        return []
    if word.startswith("@every "):
        try:
            parse_duration(word.removeprefix("@every "))
        except ValueError as wrong:
            return [f"failed to parse duration {word}: {wrong}"]
        return []
    return [f"unrecognized descriptor: {word}"]


def _check_range(text: str, bounds: _Bounds) -> None:
    span, *steps = text.split("/")
    low, *highs = span.split("-")
    if low in {"*", "?"}:
        start, end = bounds.lowest, bounds.highest
    else:
        start = _number(low, bounds.words)
        if len(highs) > 1:
            raise ValueError(f"too many hyphens: {text}")
        end = _number(highs[0], bounds.words) if highs else start
    if len(steps) > 1:
        raise ValueError(f"too many slashes: {text}")
    step = _number(steps[0], {}) if steps else 1
    if steps and not highs:
        end = bounds.highest
    if start < bounds.lowest:
        raise ValueError(f"beginning of range ({start}) below minimum ({bounds.lowest}): {text}")
    if end > bounds.highest:
        raise ValueError(f"end of range ({end}) above maximum ({bounds.highest}): {text}")
    if start > end:
        raise ValueError(f"beginning of range ({start}) beyond end of range ({end}): {text}")
    if not step:
        raise ValueError(f"step of range should be a positive number: {text}")


def _number(text: str, words: Mapping[str, int]) -> int:
    if text.lower() in words:
        return words[text.lower()]
    said = f"failed to parse int from {text}: strconv.Atoi: parsing {quoted(text)}"
    if not _INTEGER.fullmatch(text):
        raise ValueError(f"{said}: invalid syntax")
    digits = text.lstrip("+-").lstrip("0")
    if len(digits) > 19 or int(digits or "0") > _HIGHEST:
        raise ValueError(f"{said}: value out of range")
    number = int(text)
    if number < 0:
        raise ValueError(f"negative number ({number}) not allowed: {text}")
    return number


def check_time_zone(zone: str, path: str, errors: FieldErrors) -> None:
    """Check the name of a time zone; where no zones are known, any name is good."""
    parts = zone.split("/")
    if not zone:
        errors.invalid(path, zone, "timeZone must be nil or non-empty string")
        return
    if not all(map(_may_be_of_zone, parts)):
        errors.invalid(path, zone, f"unknown time zone {zone}")
        return
    if zone.lower() == "local":
        said = (
            "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones"
        )
        errors.invalid(path, zone, said)
    if zone != "Local" and not _is_zone(zone):
        errors.invalid(path, zone, f"unknown time zone {zone}")


def _may_be_of_zone(part: str) -> bool:
    fits = _ZONE_PART.fullmatch(part) is not None
    return fits and part not in {".", ".."} and not part.startswith("-")


def _is_zone(name: str) -> bool:
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError  # noqa: PLC0415 - few need it

    if name in {"", "UTC", "Local"}:
        return True
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        try:
            ZoneInfo("Etc/UTC")
        except ZoneInfoNotFoundError:
            return True
        return False
    return True
