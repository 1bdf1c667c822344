from __future__ import annotations

import pytest

from reflet.apirules.validation.batch.schedules import check_time_zone, wrong_schedule
from reflet.apirules.validation.field_errors import FieldErrors


@pytest.mark.parametrize(
    "schedule",
    [
        *("*/5 * * * *", "@hourly", "@every 1h30m", "0 3 1-15/2 JAN-jun,9 MON", "? 1/3 * * 0,6"),
        "TZ=UTC 0 0 * * *",
    ],
)
def test_usual_schedules_are_fine(schedule: str) -> None:
    assert wrong_schedule(schedule) == []


@pytest.mark.parametrize(
    ("schedule", "wrong"),
    [
        ("* *", "expected exactly 5 fields, found 2: [* *]"),
        ("60 * * * *", "end of range (60) above maximum (59): 60"),
        ("* * 0 * *", "beginning of range (0) below minimum (1): 0"),
        ("5-1 * * * *", "beginning of range (5) beyond end of range (1): 5-1"),
        ("*/0 * * * *", "step of range should be a positive number: */0"),
        ("1-2-3 * * * *", "too many hyphens: 1-2-3"),
        ("1/2/3 * * * *", "too many slashes: 1/2/3"),
        ("+-1 * * * *", 'failed to parse int from +: strconv.Atoi: parsing "+": invalid syntax'),
        ("@now", "unrecognized descriptor: @now"),
        ("@every now", "failed to parse duration @every now: not a duration"),
        ("TZ=Nowhere/City * * * * *", "provided bad location Nowhere/City: unknown time zone"),
    ],
)
def test_what_is_wrong_is_said(schedule: str, wrong: str) -> None:
    assert wrong_schedule(schedule)[0].startswith(wrong)


@pytest.mark.parametrize(
    ("zone", "wrong"),
    [
        ("Etc/UTC", False),
        ("UTC", False),
        ("", True),
        ("Local", True),
        ("../UTC", True),
        ("Nowhere/City", True),
    ],
)
def test_zones_are_those_that_are_known(zone: str, wrong: bool) -> None:
    errors = FieldErrors()

    check_time_zone(zone, "z", errors)

    assert bool(errors) is wrong
