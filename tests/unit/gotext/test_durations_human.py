"""How long ago, in words."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from reflet.gotext.durations import age, human_duration

MINUTE, HOUR, DAY, YEAR = 60, 3600, 86400, 365 * 86400


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-5, "<invalid>"),
        (-1, "0s"),
        (0, "0s"),
        (119, "119s"),
        (120, "2m"),
        (125, "2m5s"),
        (10 * MINUTE, "10m"),
        (3 * HOUR - 1, "179m"),
        (3 * HOUR, "3h"),
        (3 * HOUR + 5 * MINUTE, "3h5m"),
        (8 * HOUR, "8h"),
        (2 * DAY, "2d"),
        (5 * DAY + 3 * HOUR, "5d3h"),
        (8 * DAY + 3 * HOUR, "8d"),
        (2 * YEAR, "2y"),
        (2 * YEAR + 5 * DAY, "2y5d"),
        (9 * YEAR + 5 * DAY, "9y"),
    ],
)
def test_two_units_while_short_and_one_when_long(seconds: int, text: str) -> None:
    assert human_duration(seconds) == text


@pytest.mark.parametrize("moment", [None, "", "yesterday", 5])
def test_what_has_no_time_has_no_age(moment: object) -> None:
    assert age(moment, datetime(2026, 1, 1, tzinfo=UTC)) == "<unknown>"


def test_a_fraction_of_a_second_does_not_count() -> None:
    now = datetime(2026, 1, 1, 0, 0, 5, tzinfo=UTC)

    assert age("2026-01-01T00:00:00.900000Z", now) == "5s"
