from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from reflet.gotext.times import (
    MalformedTime,
    micro_time_text,
    read_micro_time,
    read_time,
    time_text,
)


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("2020-01-02T03:04:05Z", "2020-01-02T03:04:05Z"),
        ("2020-01-02T03:04:05.999Z", "2020-01-02T03:04:05Z"),
        ("2020-01-02T03:04:05+02:00", "2020-01-02T01:04:05Z"),
        ("2020-01-02T03:04:05-00:30", "2020-01-02T03:34:05Z"),
    ],
)
def test_a_time_becomes_its_one_canonical_text(text: str, canonical: str) -> None:
    assert read_time(text) == canonical


def test_a_micro_time_keeps_six_digits() -> None:
    assert read_micro_time("2020-01-02T03:04:05.123456Z") == "2020-01-02T03:04:05.123456Z"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("yesterday", 'cannot parse "yesterday" as "2006"'),
        ("2020-1-02", 'cannot parse "1-02" as "01"'),
        ("2020/01/02", 'cannot parse "/01/02" as "-"'),
        ("2020-01-02T03:04:05", 'cannot parse "" as "Z07:00"'),
    ],
)
def test_a_malformed_time_is_named_with_the_part_that_does_not_fit(text: str, message: str) -> None:
    with pytest.raises(MalformedTime) as caught:
        read_time(text)

    assert str(caught.value) == f'parsing time "{text}" as "2006-01-02T15:04:05Z07:00": {message}'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("2020-13-02T03:04:05Z", "month out of range"),
        ("2020-02-30T03:04:05Z", "day out of range"),
        ("2020-01-02T25:04:05Z", "hour out of range"),
        ("2020-01-02T03:04:05Zx", 'extra text: "x"'),
    ],
)
def test_a_time_that_cannot_be_is_named(text: str, message: str) -> None:
    with pytest.raises(MalformedTime) as caught:
        read_time(text)

    assert str(caught.value) == f'parsing time "{text}": {message}'


def test_a_micro_time_must_have_its_six_digits() -> None:
    with pytest.raises(MalformedTime, match=r'cannot parse "Z" as "\.000000"'):
        read_micro_time("2020-01-02T03:04:05Z")


def test_moments_are_written_in_universal_time() -> None:
    moment = datetime(2020, 1, 2, 3, 4, 5, 6, tzinfo=timezone(timedelta(hours=1)))

    assert time_text(moment) == "2020-01-02T02:04:05Z"
    assert micro_time_text(moment.astimezone(UTC)) == "2020-01-02T02:04:05.000006Z"
